//===- CheckpointSmallTest.cpp - small problems, against brute force -------===//
//
// Thousands of random graphs, each at the budgets where something happens: where the
// cheapest cost changes, one byte less, at the floor and below it, and at the peak.
//
//===----------------------------------------------------------------------===//
#include "CheckpointSmall.h"

#include "CheckpointBound.h"
#include "CheckpointReach.h"

#include <gtest/gtest.h>

using namespace zero::planning::checkpoint;
using namespace zero::planning::checkpoint::small;

namespace {

std::vector<int64_t> interesting(const Problem &problem, const std::vector<int64_t> &best) {
  int64_t floor = floorOf(problem).bytes, peak = int64_t(best.size()) - 1;
  std::vector<int64_t> budgets = {floor, peak};
  for (int64_t budget = 1; budget <= peak; ++budget)
    if (best[budget] != best[budget - 1])
      budgets.insert(budgets.end(), {budget - 1, budget});
  if (floor > 0)
    budgets.push_back(floor - 1);
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

TEST(CheckpointSmall, BruteForceByHand) {
  Problem problem;
  // a b c d as in Checkpoint.h, costs 1, 2, 3, 4: 10 with 6 bytes, a once more with 5, none with 4.
  problem.nodes = {
      {0, 1, 1, false, {}}, {1, 2, 4, false, {0}}, {2, 3, 1, false, {1}}, {3, 4, 1, true, {0, 2}}};
  EXPECT_EQ(cheapestByBudget(problem),
            (std::vector<int64_t>{kNone, kNone, kNone, kNone, kNone, 11, 10}));
}

TEST(CheckpointSmall, PlansAreTheCheapest) {
  std::mt19937 random(1);
  int64_t asked = 0, recomputed = 0, infeasible = 0, belowFloor = 0;
  for (int64_t round = 0; round < 8000; ++round) {
    Problem problem = randomProblem(random, 3 + int64_t(random() % 6));
    std::vector<int64_t> best = cheapestByBudget(problem);
    int64_t floor = floorOf(problem).bytes;
    std::vector<int64_t> budgets = interesting(problem, best);
    // In other units of bytes nothing changes, nor a part of a unit above.
    int64_t unit = round % 2 ? 1 : int64_t(1) << 33, more = round % 2 ? 0 : 1 + round;
    for (Node &node : problem.nodes)
      node.bytes *= unit;
    for (int64_t budget : budgets) {
      problem.budgetBytes = budget * unit + more;
      Plan found = plan(problem);
      ASSERT_EQ(verify(problem, found), std::nullopt) << round << " at " << budget;
      bool isPossible = best[budget] < kNone;
      ASSERT_EQ(found.status, isPossible ? Status::Optimal : Status::Infeasible)
          << round << " at " << budget;
      if (isPossible)
        ASSERT_EQ(found.cost, best[budget]) << round << " at " << budget;
      ASSERT_EQ(found.floorNode >= 0, budget < floor);
      ++asked;
      recomputed += isPossible && best[budget] > baseCost(problem);
      infeasible += !isPossible && budget >= floor;
      belowFloor += budget < floor;
    }
  }
  EXPECT_GT(asked, 20'000);
  EXPECT_GT(recomputed, 2'000);
  EXPECT_GT(infeasible, 200);
  EXPECT_GT(belowFloor, 6'000);
}

/// What large problems rest on, where the exact search doesn't step in: the bound is never above
/// the cheapest cost, whatever is known, and the search backwards tells what is possible from what
/// isn't.
TEST(CheckpointSmall, BoundsAndProofsHold) {
  std::mt19937 random(2);
  int64_t met = 0, raised = 0, infeasible = 0;
  for (int64_t round = 0; round < 5000; ++round) {
    Problem problem = randomProblem(random, 4 + int64_t(random() % 6));
    std::vector<int64_t> best = cheapestByBudget(problem);
    int64_t floor = floorOf(problem).bytes;
    for (int64_t budget : interesting(problem, best)) {
      if (budget < floor)
        continue;
      problem.budgetBytes = budget;
      Graph graph(problem);
      bool isPossible = best[budget] < kNone;
      Bound bound = coveringBound(graph, 200, kMaxTotal);
      ASSERT_LE(bound.cost, best[budget]) << round << " at " << budget;
      ASSERT_GE(bound.cost, graph.baseCost);
      ASSERT_FALSE(bound.infeasible && isPossible) << round << " at " << budget;
      if (isPossible) { // nor where a plan is known, and no branch allowed
        ASSERT_LE(coveringBound(graph, 200, best[budget]).cost, best[budget]);
        ASSERT_LE(coveringBound(graph, 0, best[budget] + 1).cost, best[budget]);
      }
      Reach reached = reach(graph, 100'000);
      ASSERT_EQ(reached.status, isPossible ? Status::Feasible : Status::Infeasible)
          << round << " at " << budget;
      met += bound.cost == best[budget];
      raised += bound.cost > graph.baseCost;
      infeasible += !isPossible;
    }
  }
  EXPECT_GT(met, 8'600);
  EXPECT_GT(raised, 3'000);
  EXPECT_GT(infeasible, 100);
}

/// a b x y z: b reads a, y reads x, z reads b and y; 1 of cost each, 4 4 9 1 1 bytes. At y b, x and
/// y take 14 bytes. With 12 b is computed again for z, and so is a: kept it would take as much as
/// b.
TEST(CheckpointSmall, TheBoundCountsWhatAnEvictedValueIsComputedFrom) {
  Problem problem;
  problem.nodes = {{0, 1, 4, false, {}},
                   {1, 1, 4, false, {0}},
                   {2, 1, 9, false, {}},
                   {3, 1, 1, false, {2}},
                   {4, 1, 1, true, {1, 3}}};
  problem.budgetBytes = 12;
  EXPECT_EQ(cheapestByBudget(problem)[12], 7);
  EXPECT_EQ(coveringBound(Graph(problem), 200, kMaxTotal).cost, 7);
  // With 14 nothing is computed again.
  problem.budgetBytes = 14;
  EXPECT_EQ(coveringBound(Graph(problem), 200, kMaxTotal).cost, 5);
}

/// The same, with c of 2 bytes and cost 3, which reads nothing and is read by z, a of 7 bytes, and
/// x of cost 5: 12 in all. At y c, b, x and y take 16 bytes; with less b and a are computed again,
/// at 2, rather than c. While they are, y, c, a and b take 14: with 13 c must go as well, at 3
/// more.
TEST(CheckpointSmall, TheBoundCountsWhatMustGoForARecomputation) {
  Problem problem;
  problem.nodes = {{0, 3, 2, false, {}}, {1, 1, 7, false, {}},  {2, 1, 4, false, {1}},
                   {3, 5, 9, false, {}}, {4, 1, 1, false, {3}}, {5, 1, 1, true, {0, 2, 4}}};
  for (auto [budget, cost] : {std::pair<int64_t, int64_t>{13, 17}, {14, 14}, {16, 12}}) {
    problem.budgetBytes = budget;
    EXPECT_EQ(cheapestByBudget(problem)[budget], cost) << budget;
    EXPECT_EQ(coveringBound(Graph(problem), 200, kMaxTotal).cost, cost) << budget;
  }
}

} // namespace
