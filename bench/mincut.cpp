//===- mincut.cpp - the minimum cut of a joint graph -----------------------===//
//
// bench-mincut F.csv [ROUNDS] reads a graph as `zero-plan checkpoint` does and takes
// for cheap what needs at most 4 operations a byte of its result, as elementwise and
// row kernels do. Prints processor seconds of the whole of leastSaved, network
// included, the median of the rounds, beside those of push-relabel on the same
// network, and fails where the two cuts differ. bench/checkpoint.py runs it.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/MinCut.h"
#include "zero/Planning/CheckpointCsv.h"

#include "../lib/Planning/MinCutGraph.h"

#include <algorithm>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

using namespace zero::planning::checkpoint;

namespace {

double now() { return double(std::clock()) / CLOCKS_PER_SEC; }

int64_t pushRelabel(const Problem &problem, const std::vector<bool> &mayRecompute) {
  Network network(problem, mayRecompute);
  auto edges = get(boost::edge_index, network.graph);
  return boost::push_relabel_max_flow(
      network.graph, Network::kSource, Network::kSink,
      boost::make_iterator_property_map(network.capacity.begin(), edges),
      boost::make_iterator_property_map(network.residual.begin(), edges),
      boost::make_iterator_property_map(network.reverse.begin(), edges),
      get(boost::vertex_index, network.graph));
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench-mincut F.csv [ROUNDS]\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  CsvResult read = readCsv(text);
  if (!read) {
    std::fprintf(stderr, "%s:%s\n", argv[1], read.error->c_str());
    return 1;
  }
  const Problem &problem = read.problem;
  std::vector<bool> cheap;
  for (const Node &node : problem.nodes)
    cheap.push_back(!node.backward && !node.inputs.empty() && node.cost <= 4 * node.bytes);

  std::vector<double> seconds, seconds2;
  SavedValues saved;
  for (int round = std::max(1, argc > 2 ? std::atoi(argv[2]) : 5); round-- > 0;) {
    double begin = now();
    saved = leastSaved(problem, cheap);
    double middle = now();
    if (int64_t other = pushRelabel(problem, cheap); other != saved.bytes) {
      std::fprintf(stderr, "error: push-relabel cuts %lld bytes, and leastSaved %lld\n",
                   (long long)other, (long long)saved.bytes);
      return 1;
    }
    seconds.push_back(middle - begin);
    seconds2.push_back(now() - middle);
  }
  auto median = [](std::vector<double> &all) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    return all[all.size() / 2];
  };
  std::printf("nodes %zu\nsaved %zu\nbytes %lld\nseconds %.4f\npush-relabel %.4f\n",
              problem.nodes.size(), saved.nodes.size(), (long long)saved.bytes, median(seconds),
              median(seconds2));
}
