//===- MinCut.cpp - what recomputation saves for nothing -------------------===//
#include "zero/Planning/MinCut.h"

#include "MinCutGraph.h"

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace zero::planning::checkpoint {

Network::Network(const Problem &problem, const std::vector<bool> &mayRecompute)
    : entry(problem.nodes.size(), 0), exit(problem.nodes.size(), 0),
      inside(problem.nodes.size(), 0) {
  struct Arc {
    uint32_t from, to;
    int64_t capacity;
  };
  std::vector<Arc> arcs;
  size_t count = problem.nodes.size();
  int64_t endless = 1;
  for (const Node &node : problem.nodes)
    endless += node.bytes;

  // Only what backward reads, and what that could be computed from again.
  std::vector<char> read(count, 0), matters(count, 0);
  for (size_t i = count; i-- > 0;) {
    const Node &node = problem.nodes[i];
    if (node.backward) {
      for (int64_t input : node.inputs)
        read[input] = matters[input] = !problem.nodes[input].backward;
    } else if (matters[i] && mayRecompute[i]) {
      for (int64_t input : node.inputs)
        matters[input] = 1;
    }
  }
  uint32_t vertices = 2;
  std::vector<size_t> insideArc(count, 0);
  for (size_t i = 0; i < count; ++i) {
    const Node &node = problem.nodes[i];
    if (node.backward || !matters[i])
      continue;
    exit[i] = vertices++;
    entry[i] = mayRecompute[i] ? vertices++ : kSource;
    insideArc[i] = arcs.size();
    arcs.push_back({entry[i], exit[i], node.bytes});
    if (mayRecompute[i])
      for (int64_t input : node.inputs)
        arcs.push_back({exit[input], entry[i], endless});
    if (read[i])
      arcs.push_back({exit[i], kSink, endless});
  }

  // Sorted by the first end, forward and reverse arcs together.
  std::vector<uint32_t> begin(vertices + 1, 0), place(2 * arcs.size());
  for (const Arc &arc : arcs) {
    ++begin[arc.from + 1];
    ++begin[arc.to + 1];
  }
  for (uint32_t v = 0; v < vertices; ++v)
    begin[v + 1] += begin[v];
  std::vector<std::pair<uint32_t, uint32_t>> ends(2 * arcs.size());
  capacity.assign(2 * arcs.size(), 0);
  std::vector<uint32_t> twin(2 * arcs.size()), next(begin.begin(), begin.end() - 1);
  for (size_t k = 0; k < arcs.size(); ++k) {
    uint32_t forth = next[arcs[k].from]++, back = next[arcs[k].to]++;
    ends[forth] = {arcs[k].from, arcs[k].to};
    ends[back] = {arcs[k].to, arcs[k].from};
    capacity[forth] = arcs[k].capacity;
    twin[forth] = back;
    twin[back] = forth;
    place[k] = forth;
  }
  graph = Graph(boost::edges_are_sorted, ends.begin(), ends.end(), vertices);
  residual = capacity;
  for (size_t k = 0; k < ends.size(); ++k)
    reverse.push_back(Edge(ends[twin[k]].first, twin[k]));
  for (size_t i = 0; i < count; ++i)
    if (exit[i])
      inside[i] = place[insideArc[i]];
}

SavedValues leastSaved(const Problem &problem, const std::vector<bool> &mayRecompute) {
  Network network(problem, mayRecompute);
  size_t vertices = num_vertices(network.graph);
  auto edgeIndex = get(boost::edge_index, network.graph);
  auto vertexIndex = get(boost::vertex_index, network.graph);
  std::vector<Network::Edge> predecessors(vertices);
  std::vector<boost::default_color_type> colours(vertices);
  std::vector<uint32_t> distances(vertices);
  boost::boykov_kolmogorov_max_flow(
      network.graph, boost::make_iterator_property_map(network.capacity.begin(), edgeIndex),
      boost::make_iterator_property_map(network.residual.begin(), edgeIndex),
      boost::make_iterator_property_map(network.reverse.begin(), edgeIndex),
      boost::make_iterator_property_map(predecessors.begin(), vertexIndex),
      boost::make_iterator_property_map(colours.begin(), vertexIndex),
      boost::make_iterator_property_map(distances.begin(), vertexIndex), vertexIndex,
      Network::kSource, Network::kSink);

  // All from which the sink can still be reached lie behind the cut nearest to it.
  std::vector<char> behind(vertices, 0);
  std::vector<uint32_t> open = {Network::kSink};
  behind[Network::kSink] = 1;
  while (!open.empty()) {
    uint32_t vertex = open.back();
    open.pop_back();
    for (auto [edge, end] = out_edges(vertex, network.graph); edge != end; ++edge) {
      uint32_t other = target(*edge, network.graph);
      const Network::Edge &towards = network.reverse[get(edgeIndex, *edge)];
      if (!behind[other] && network.residual[get(edgeIndex, towards)] > 0) {
        behind[other] = 1;
        open.push_back(other);
      }
    }
  }
  SavedValues saved;
  for (size_t i = 0; i < problem.nodes.size(); ++i)
    if (network.exit[i] && behind[network.exit[i]] && !behind[network.entry[i]]) {
      saved.nodes.push_back(int64_t(i));
      saved.bytes += problem.nodes[i].bytes;
    }
  return saved;
}

} // namespace zero::planning::checkpoint
