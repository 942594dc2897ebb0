//===- MinCutTest.cpp - what recomputation saves for nothing ---------------===//
#include "zero/Planning/MinCut.h"

#include "../../lib/Planning/MinCutGraph.h"

#include <boost/graph/push_relabel_max_flow.hpp>
#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::checkpoint;

namespace {

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

/// Whether backward finds its inputs.
bool suffices(const Problem &problem, const std::vector<bool> &mayRecompute,
              const std::vector<bool> &saved) {
  std::vector<bool> there(problem.nodes.size());
  for (size_t i = 0; i < there.size(); ++i) {
    const Node &node = problem.nodes[i];
    bool inputs = true;
    for (int64_t input : node.inputs)
      inputs = inputs && (problem.nodes[input].backward || there[input]);
    if (node.backward && !inputs)
      return false;
    there[i] = !node.backward && (saved[i] || (mayRecompute[i] && inputs));
  }
  return true;
}

TEST(MinCut, TakesTheNarrowestPlace) {
  // a 4 fixed, b 4, c 1, d 4; backward reads b and d. d comes from b by way of c, so b alone will
  // do; so would a, as many bytes but further from backward.
  Problem problem;
  problem.nodes = {{0, 1, 4, false, {}},  {1, 1, 4, false, {0}}, {2, 1, 1, false, {1}},
                   {3, 1, 4, false, {2}}, {4, 1, 1, true, {3}},  {5, 1, 1, true, {1, 4}}};
  SavedValues saved = leastSaved(problem, {false, true, true, true, false, false});
  EXPECT_EQ(saved.nodes, (std::vector<int64_t>{1}));
  EXPECT_EQ(saved.bytes, 4);
  // With d fixed it is saved too: b 4 and d 4.
  saved = leastSaved(problem, {false, true, true, false, false, false});
  EXPECT_EQ(saved.nodes, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(saved.bytes, 8);
}

TEST(MinCut, EqualsPushRelabelAndEverySubset) {
  std::mt19937 random(3);
  for (int64_t round = 0; round < 300; ++round) {
    int64_t forward = 3 + int64_t(random() % 7), size = forward + 3;
    Problem problem;
    std::vector<bool> may;
    for (int64_t i = 0; i < size; ++i) {
      Node node{i, 1, 1 + int64_t(random() % 9), i >= forward, {}};
      for (int64_t input = 0; input < i; ++input)
        if (random() % 3 == 0)
          node.inputs.push_back(input);
      may.push_back(i < forward && random() % 3 != 0 && !node.inputs.empty());
      problem.nodes.push_back(node);
    }
    SavedValues saved = leastSaved(problem, may);
    ASSERT_EQ(saved.bytes, pushRelabel(problem, may));
    std::vector<bool> chosen(size, false);
    for (int64_t node : saved.nodes)
      chosen[node] = true;
    ASSERT_TRUE(suffices(problem, may, chosen));
    int64_t least = INT64_MAX;
    for (int64_t set = 0; set < int64_t(1) << forward; ++set) {
      int64_t bytes = 0;
      std::vector<bool> subset(size, false);
      for (int64_t i = 0; i < forward; ++i)
        if (set >> i & 1) {
          subset[i] = true;
          bytes += problem.nodes[i].bytes;
        }
      if (bytes < least && suffices(problem, may, subset))
        least = bytes;
    }
    ASSERT_EQ(saved.bytes, least);
  }
}

} // namespace
