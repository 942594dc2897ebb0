//===- CheckpointAnnealTest.cpp - what holds of the search, found or not ---===//
//
// Laws that no luck of the search can break: it returns a plan, never a dearer one
// than it was given, the same each time; more moves go on where fewer ended; and any
// mixture of two plans is one.
//
//===----------------------------------------------------------------------===//
#include "CheckpointAnneal.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace zero::planning::checkpoint;

namespace {

/// Layers of `width` nodes, each of which reads two or three of the layer before and now and then
/// one further up.
Problem layered(uint32_t seed, int64_t size, int64_t width) {
  std::mt19937 random(seed);
  Problem problem;
  for (int64_t i = 0; i < size; ++i) {
    Node node{i, int64_t(random() % 100), int64_t(1 + random() % 50), false, {}};
    int64_t layer = i / width * width;
    for (int64_t input = 0; input < layer; ++input)
      if (input >= layer - width ? random() % 3 == 0 : random() % size == 0)
        node.inputs.push_back(input);
    problem.nodes.push_back(node);
  }
  problem.budgetBytes = basePeakBytes(problem) * 90 / 100;
  return problem;
}

std::vector<int32_t> everyNodeOnce(const Problem &problem) {
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

AnnealOptions withMoves(int64_t moves, uint64_t seed = 1) {
  AnnealOptions options;
  options.moves = moves;
  options.seed = seed;
  return options;
}

/// `found` as a plan that claims no bound, for the judge.
std::optional<std::string> judge(const Problem &problem, const Found &found) {
  Plan plan;
  plan.computations.assign(found.computations.begin(), found.computations.end());
  plan.cost = found.cost;
  std::vector<int64_t> live = liveBytes(problem, plan.computations);
  plan.peakBytes = *std::max_element(live.begin(), live.end());
  plan.lowerBoundCost = baseCost(problem);
  plan.status = plan.cost == plan.lowerBoundCost ? Status::Optimal : Status::Feasible;
  return verify(problem, plan);
}

/// The crossing between every two first computations of two plans: nodes below `from` and from `to`
/// on are first computed by the one, those between by the other, so that each finds its inputs. Its
/// peak may pass the budget, which is for the search to mend.
TEST(CheckpointAnneal, CrossingTwoPlansGivesAPlan) {
  Problem problem = layered(1, 60, 6);
  Graph graph(problem);
  Found one = anneal(graph, everyNodeOnce(problem), withMoves(20'000, 1));
  Found other = anneal(graph, everyNodeOnce(problem), withMoves(20'000, 2));
  ASSERT_EQ(judge(problem, one), std::nullopt);
  ASSERT_EQ(judge(problem, other), std::nullopt);
  ASSERT_NE(one.computations, other.computations);
  Problem unbounded = problem;
  unbounded.budgetBytes = kMaxTotal;
  int64_t mixtures = 0;
  for (int32_t from = 0; from < graph.size; ++from)
    for (int32_t to = from; to < graph.size; ++to) {
      Found child;
      child.computations = crossed(one.computations, other.computations, from, to);
      child.cost = 0;
      for (int32_t node : child.computations)
        child.cost += graph.cost[node];
      ASSERT_EQ(judge(unbounded, child), std::nullopt) << from << " to " << to;
      if (from == to)
        EXPECT_EQ(child.computations, one.computations);
      mixtures +=
          child.computations != one.computations && child.computations != other.computations;
    }
  EXPECT_GT(mixtures, 100);
}

/// A stretch worked by hand: of nodes 0 to 3, 0 is computed again before 2 in the one, 1 before 3
/// in the other.
TEST(CheckpointAnneal, CrossingTakesTheStretchBetweenFirstComputations) {
  std::vector<int32_t> one{0, 1, 0, 2, 3}, other{0, 1, 2, 1, 3};
  // Up to the first 2 the one, up to the first 3 the other, then the one.
  EXPECT_EQ(crossed(one, other, 2, 3), (std::vector<int32_t>{0, 1, 0, 2, 1, 3}));
  // The one up to the first 1, the other from there to the first 2: without the second 0.
  EXPECT_EQ(crossed(one, other, 1, 2), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(CheckpointAnneal, SameProblemSameComputations) {
  // A pool of coolings, short coolings, long ones.
  for (auto [size, moves] : {std::pair(60, 600'000), {60, 20'000}, {450, 200'000}}) {
    Problem problem = layered(2, size, 8);
    Graph graph(problem);
    Found first = anneal(graph, everyNodeOnce(problem), withMoves(moves));
    ASSERT_FALSE(first.computations.empty()) << size;
    EXPECT_EQ(judge(problem, first), std::nullopt);
    Found again = anneal(graph, everyNodeOnce(problem), withMoves(moves));
    EXPECT_EQ(again.computations, first.computations) << size;
  }
}

TEST(CheckpointAnneal, NeverDearerThanItsStart) {
  for (auto [size, moves] : {std::pair(60, 20'000), {450, 200'000}}) {
    Problem problem = layered(3, size, 8);
    Graph graph(problem);
    Found start = anneal(graph, everyNodeOnce(problem), withMoves(moves));
    ASSERT_FALSE(start.computations.empty());
    for (uint64_t seed : {2, 3, 4}) {
      Found found = anneal(graph, start.computations, withMoves(500, seed));
      EXPECT_LE(found.cost, start.cost);
      EXPECT_EQ(judge(problem, found), std::nullopt);
    }
  }
}

/// Graphs whose coolings have fixed lengths do with more moves first what they do with fewer.
TEST(CheckpointAnneal, MoreMovesNeverCostMore) {
  for (uint32_t seed : {4, 5, 6}) {
    Problem problem = layered(seed, 100, 8);
    Graph graph(problem);
    int64_t before = kMaxTotal;
    for (int64_t moves : {5'000, 50'000, 150'000}) {
      Found found = anneal(graph, everyNodeOnce(problem), withMoves(moves));
      EXPECT_LE(found.cost, before) << moves;
      before = found.cost;
    }
    EXPECT_LT(before, kMaxTotal);
    Found few = anneal(graph, everyNodeOnce(problem), withMoves(500'000));
    Found many = anneal(graph, everyNodeOnce(problem), withMoves(900'000));
    EXPECT_LE(many.cost, few.cost);
  }
}

/// Nodes that each cost more than all others together are out of reach of every move, however much
/// more: ten times as dear, the search takes the same steps.
TEST(CheckpointAnneal, WhatIsOutOfReachDoesNotSetTheHeat) {
  auto planWith = [](int64_t timesOthers) {
    Problem problem = layered(7, 80, 8);
    int64_t others = 0;
    for (const Node &node : problem.nodes)
      others += node.id % 3 ? node.cost : 0;
    for (Node &node : problem.nodes)
      if (node.id % 3 == 0)
        node.cost = timesOthers * others;
    Graph graph(problem);
    return anneal(graph, everyNodeOnce(problem), withMoves(50'000)).computations;
  };
  std::vector<int32_t> computations = planWith(4);
  EXPECT_GT(computations.size(), 80u);
  EXPECT_EQ(planWith(40), computations);
}

} // namespace
