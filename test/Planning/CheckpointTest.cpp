//===- CheckpointTest.cpp - plans within a budget, and their judge ---------===//
#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace zero::planning::checkpoint;

namespace {

/// a 1 byte; b 4 bytes from a; c 1 byte from b; d 1 byte from a and c.
Problem header() {
  Problem problem;
  problem.nodes = {{10, 1, 1, false, {}},
                   {11, 2, 4, false, {0}},
                   {12, 3, 1, false, {1}},
                   {13, 4, 1, true, {0, 2}}};
  return problem;
}

/// a, b and c in forward, 4 bytes each; then 9 bytes, read by none of them; then what reads a, b,
/// c.
///   a b c x d(c) e(b, d) f(a, e), with x reading c: peak 4 + 4 + 4 + 9 = 21 at x.
Problem valley() {
  Problem problem;
  problem.nodes = {{0, 1, 4, false, {}},   {1, 2, 4, false, {0}},   {2, 3, 4, false, {1}},
                   {3, 1, 9, false, {2}},  {4, 1, 1, true, {2, 3}}, {5, 1, 1, true, {1, 4}},
                   {6, 1, 1, true, {0, 5}}};
  return problem;
}

Problem randomProblem(std::mt19937 &random, int64_t size) {
  Problem problem;
  for (int64_t i = 0; i < size; ++i) {
    Node node{i, int64_t(random() % 6), int64_t(random() % 6), 2 * i >= size, {}};
    for (int64_t input = 0; input < i; ++input)
      if (random() % 3 == 0 || (input == i - 1 && random() % 2))
        node.inputs.push_back(input);
    problem.nodes.push_back(node);
  }
  return problem;
}

/// The cheapest cost by relaxing every state (nodes done, values live) until nothing changes; -1
/// where the last is never reached.
int64_t bruteForce(const Problem &problem) {
  int64_t size = int64_t(problem.nodes.size());
  std::map<std::pair<int64_t, uint32_t>, int64_t> cost = {{{0, 0}, 0}};
  for (bool changed = true; changed;) {
    changed = false;
    auto states = cost;
    for (auto [state, sum] : states) {
      auto [done, live] = state;
      auto offer = [&](int64_t d, uint32_t l, int64_t c) {
        auto [place, isNew] = cost.try_emplace({d, l}, c);
        if (isNew || c < place->second) {
          place->second = c;
          changed = true;
        }
      };
      for (int64_t node = 0; node < std::min(done + 1, size); ++node) {
        uint32_t with = live | 1u << node;
        int64_t bytes = 0;
        for (int64_t value = 0; value < size; ++value)
          bytes += with >> value & 1 ? problem.nodes[value].bytes : 0;
        bool fits = bytes <= problem.budgetBytes && !(live >> node & 1);
        for (int64_t input : problem.nodes[node].inputs)
          fits &= live >> input & 1;
        if (fits)
          offer(done + (node == done), with, sum + problem.nodes[node].cost);
      }
      for (int64_t value = 0; value < size; ++value)
        if (live >> value & 1)
          offer(done, live & ~(1u << value), sum);
    }
  }
  int64_t best = -1;
  for (auto [state, sum] : cost)
    if (state.first == size && (best < 0 || sum < best))
      best = sum;
  return best;
}

TEST(Checkpoint, CountsBytesByTheRules) {
  // a; a b; a b c (a is read by d, b by c); a c d.
  EXPECT_EQ(liveBytes(header(), {0, 1, 2, 3}), (std::vector<int64_t>{1, 5, 6, 3}));
  // a again after c: the first a ends at b. 1, 1 + 4, 4 + 1, 1 + 1, 1 + 1 + 1.
  EXPECT_EQ(liveBytes(header(), {0, 1, 2, 0, 3}), (std::vector<int64_t>{1, 5, 5, 2, 3}));
  EXPECT_EQ(basePeakBytes(header()), 6);
  // b with a takes 5, c with b 5, d with a and c 3: the first of the two is b.
  EXPECT_EQ(floorOf(header()).bytes, 5);
  EXPECT_EQ(floorOf(header()).node, 1);
}

TEST(Checkpoint, ComputesAgainWhatLiesIdle) {
  Problem problem = header();
  problem.budgetBytes = 5;
  Plan found = plan(problem);
  EXPECT_EQ(found.computations, (std::vector<int64_t>{0, 1, 2, 0, 3}));
  EXPECT_EQ(found.cost, 1 + 2 + 3 + 1 + 4);
  EXPECT_EQ(found.status, Status::Optimal);
  EXPECT_EQ(verify(problem, found), std::nullopt);
}

TEST(Checkpoint, BelowTheFloorNamesTheNode) {
  Problem problem = header();
  problem.budgetBytes = 4;
  Plan found = plan(problem);
  EXPECT_EQ(found.status, Status::Infeasible);
  EXPECT_EQ(found.floorNode, 1);
  EXPECT_EQ(verify(problem, found), std::nullopt);
}

TEST(Checkpoint, SmallProblemsAreSolvedExactly) {
  std::mt19937 random(1);
  int64_t recomputed = 0, infeasible = 0;
  for (int64_t round = 0; round < 1500; ++round) {
    Problem problem = randomProblem(random, 3 + int64_t(random() % 4));
    int64_t floor = floorOf(problem).bytes, peak = basePeakBytes(problem);
    problem.budgetBytes = floor + int64_t(random() % uint64_t(peak - floor + 1));
    Plan found = plan(problem);
    ASSERT_EQ(verify(problem, found), std::nullopt);
    int64_t best = bruteForce(problem);
    ASSERT_EQ(found.status, best < 0 ? Status::Infeasible : Status::Optimal);
    if (best >= 0)
      ASSERT_EQ(found.cost, best);
    recomputed += best > baseCost(problem);
    infeasible += best < 0;
  }
  EXPECT_GT(recomputed, 50); // neither is vacuous
  EXPECT_GT(infeasible, 5);
}

/// Forward and backward of a row of layers: too large for the exact search.
Problem layers(int64_t count) {
  Problem problem;
  auto &nodes = problem.nodes;
  for (int64_t i = 0; i < count; ++i)
    nodes.push_back({i, 10 + i % 3, 8 + i % 5, false, {}});
  for (int64_t i = 1; i < count; ++i)
    nodes[i].inputs = {i - 1};
  for (int64_t i = count; i < 2 * count; ++i)
    nodes.push_back({i, 20, 8, true, {2 * count - 1 - i, i - 1}});
  nodes[count].inputs = {count - 1};
  return problem;
}

TEST(Checkpoint, CostNeverRisesWithTheBudgetAndPeakNeverPassesIt) {
  Problem problem = layers(12);
  Options options;
  options.moves = 20'000;
  int64_t floor = floorOf(problem).bytes, peak = basePeakBytes(problem), last = INT64_MAX;
  for (int64_t k = 0; k < 20; ++k) {
    problem.budgetBytes = floor + (peak - floor) * k / 19;
    Plan found = plan(problem, options);
    ASSERT_EQ(verify(problem, found), std::nullopt);
    if (found.computations.empty())
      continue;
    EXPECT_LE(found.peakBytes, problem.budgetBytes);
    EXPECT_LE(found.cost, last) << k;
    EXPECT_LE(found.lowerBoundCost, found.cost);
    last = found.cost;
  }
  EXPECT_EQ(last, baseCost(problem));
}

TEST(Checkpoint, SameProblemSamePlan) {
  Problem problem = layers(10);
  problem.budgetBytes = basePeakBytes(problem) * 6 / 10;
  Options options;
  options.moves = 20'000;
  EXPECT_EQ(plan(problem, options).computations, plan(problem, options).computations);
}

TEST(Checkpoint, ManyEqualLayersFit) {
  Problem problem = layers(1000);
  problem.budgetBytes = basePeakBytes(problem) / 2;
  Options options;
  options.moves = 3'000;
  Plan found = plan(problem, options);
  EXPECT_EQ(verify(problem, found), std::nullopt);
  EXPECT_FALSE(found.computations.empty());
}

TEST(CheckpointVerify, RejectsMutatedPlans) {
  Problem problem = valley();
  problem.budgetBytes = 18; // 4 bytes less than 21 at x, and one value is computed again
  Plan good = plan(problem);
  ASSERT_EQ(verify(problem, good), std::nullopt);
  ASSERT_GT(good.computations.size(), problem.nodes.size());

  int64_t mutants = 0;
  auto rejects = [&](auto change) {
    Plan bad = good;
    change(bad);
    EXPECT_NE(verify(problem, bad), std::nullopt) << ++mutants;
  };
  rejects([](Plan &p) { ++p.cost; });
  rejects([](Plan &p) { --p.peakBytes; });
  rejects([](Plan &p) { p.lowerBoundCost = p.cost + 1; });
  rejects([](Plan &p) { p.status = Status::Feasible; });
  rejects([](Plan &p) { p.status = Status::Infeasible; });
  rejects([](Plan &p) { p.status = Status::Unknown; });
  rejects([](Plan &p) { p.floorNode = 0; });
  rejects([](Plan &p) { p.computations.push_back(99); });
  for (size_t i = 0; i < good.computations.size(); ++i)
    rejects([&](Plan &p) { p.computations.erase(p.computations.begin() + i); }); // dropped
  for (size_t i = 0; i + 1 < good.computations.size(); ++i) {
    int64_t a = good.computations[i], b = good.computations[i + 1];
    std::vector<int64_t> first(problem.nodes.size(), -1);
    bool bothFirst = true;
    for (size_t k = 0; k < i; ++k)
      bothFirst &= good.computations[k] != a && good.computations[k] != b;
    if (bothFirst && a != b) // swapped: the order of first computations is broken
      rejects([&](Plan &p) { std::swap(p.computations[i], p.computations[i + 1]); });
  }
  problem.budgetBytes = good.peakBytes - 1;
  EXPECT_NE(verify(problem, good), std::nullopt);
}

TEST(CheckpointCheck, NamesTheNode) {
  auto with = [](auto change) {
    Problem problem = header();
    change(problem);
    return check(problem).value_or("");
  };
  EXPECT_EQ(with([](Problem &) {}), "");
  EXPECT_EQ(with([](Problem &p) { p.nodes.clear(); }), "expects at least one node");
  EXPECT_NE(with([](Problem &p) { p.nodes[1].id = 10; }).find("node 10"), std::string::npos);
  EXPECT_NE(with([](Problem &p) { p.nodes[2].cost = -1; }).find("got -1"), std::string::npos);
  EXPECT_NE(with([](Problem &p) { p.nodes[1].inputs = {1}; }).find("come before"),
            std::string::npos);
  EXPECT_NE(with([](Problem &p) { p.nodes[3].inputs = {2, 2}; }).find("twice"), std::string::npos);
  EXPECT_NE(with([](Problem &p) { p.nodes[0].bytes = kMaxTotal; }).find("together"),
            std::string::npos);
}

} // namespace
