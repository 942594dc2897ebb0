//===- MinCutGraph.h - the network of a minimum cut ------------------------===//
#ifndef ZERO_LIB_PLANNING_MINCUTGRAPH_H
#define ZERO_LIB_PLANNING_MINCUTGRAPH_H

#include "zero/Planning/Checkpoint.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>

namespace zero::planning::checkpoint {

/// Each edge has one the other way, of capacity 0. Edges lie sorted by their first end in flat
/// arrays, which is what makes the flow fast.
struct Network {
  using Graph =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                         boost::no_property, uint32_t, uint32_t>;
  using Edge = boost::graph_traits<Graph>::edge_descriptor;

  Network(const Problem &problem, const std::vector<bool> &mayRecompute);

  static constexpr uint32_t kSource = 0, kSink = 1;
  Graph graph;
  std::vector<int64_t> capacity, residual; ///< by edge
  std::vector<Edge> reverse;               ///< by edge
  std::vector<uint32_t> entry, exit;       ///< of a node: vertices, 0 where it is left out
  std::vector<uint32_t> inside;            ///< of a node: the edge from entry to exit
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_MINCUTGRAPH_H
