//===- CheckpointMendTest.cpp - sequences above the budget become plans -----===//
//
// Where mending must keep and drop by hand, and on small graphs against the brute
// force: at the tightest budget that any sequence fits it gives a plan, within the
// budget, whatever it starts from; below that none.
//
//===----------------------------------------------------------------------===//
#include "CheckpointMend.h"

#include "CheckpointAnneal.h"
#include "CheckpointReach.h"
#include "CheckpointSmall.h"
#include "CheckpointTight.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace zero::planning::checkpoint;

namespace {

std::vector<int32_t> everyNodeOnce(const Problem &problem) {
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int64_t costOf(const Problem &problem, const std::vector<int32_t> &computations) {
  int64_t cost = 0;
  for (int32_t node : computations)
    cost += problem.nodes[node].cost;
  return cost;
}

/// `computations` as a plan that claims no bound, for the judge.
std::optional<std::string> judge(const Problem &problem, const std::vector<int32_t> &computations) {
  Plan plan;
  plan.computations.assign(computations.begin(), computations.end());
  plan.cost = costOf(problem, computations);
  std::vector<int64_t> live = liveBytes(problem, plan.computations);
  plan.peakBytes = *std::max_element(live.begin(), live.end());
  plan.lowerBoundCost = baseCost(problem);
  plan.status = plan.cost == plan.lowerBoundCost ? Status::Optimal : Status::Feasible;
  return verify(problem, plan);
}

/// a 2 bytes, b 2 bytes from a, c 1 byte, d 1 byte from c, e 1 byte from b and d, f 1 byte from a.
/// Once each, a, b and c are live at c: 5 bytes; a, b, c and d at d: 6; a, b, d and e at e: 6.
Problem sixNodes(int64_t budget) {
  Problem problem;
  problem.nodes = {{0, 1, 2, false, {}},  {1, 9, 2, false, {0}},    {2, 1, 1, false, {}},
                   {3, 1, 1, false, {2}}, {4, 1, 1, false, {1, 3}}, {5, 1, 1, false, {0}}};
  problem.budgetBytes = budget;
  return problem;
}

// At d one byte is missing: a costs 1 to compute again, for f, and b, whose input a would be live
// at e, 9. So a goes, and comes back for f.
TEST(CheckpointMend, DropsWhatIsCheapestToComputeAgainAndComputesItWhereItIsUsed) {
  Problem problem = sixNodes(5);
  std::vector<int32_t> mended = mend(Graph(problem), everyNodeOnce(problem));
  EXPECT_EQ(mended, (std::vector<int32_t>{0, 1, 2, 3, 4, 0, 5}));
}

// All fit in 6 bytes, and a is still there wherever the sequence computes it again.
TEST(CheckpointMend, LeavesOutWhatIsStillThere) {
  Problem problem = sixNodes(6);
  std::vector<int32_t> mended = mend(Graph(problem), {0, 1, 0, 2, 3, 4, 0, 5});
  EXPECT_EQ(mended, everyNodeOnce(problem));
}

TEST(CheckpointMend, FitsTheTightestBudgetOfSmallGraphsAndNoneBelow) {
  std::mt19937 random(7);
  int64_t dearer = 0, plans = 0;
  for (int32_t trial = 0; trial < 60; ++trial) {
    Problem problem = small::randomProblem(random, 7);
    std::vector<int64_t> cheapest = small::cheapestByBudget(problem);
    auto tightest = std::find_if(cheapest.begin(), cheapest.end(),
                                 [](int64_t cost) { return cost < small::kNone; });
    problem.budgetBytes = tightest - cheapest.begin();
    std::vector<int32_t> mended = mend(Graph(problem), everyNodeOnce(problem));
    ASSERT_EQ(judge(problem, mended), std::nullopt) << trial;
    EXPECT_GE(costOf(problem, mended), *tightest);
    ++plans;
    dearer += costOf(problem, mended) > *tightest;
    if (problem.budgetBytes-- > 0) {
      EXPECT_TRUE(mend(Graph(problem), everyNodeOnce(problem)).empty()) << trial;
    }
  }
  EXPECT_LE(dearer, plans / 4);
}

/// A node costs more than all others together: plans spare it where they can, and where each plan
/// computes it again they are found as well.
TEST(CheckpointTight, DearNodesAreSparedWherePlansCan) {
  std::mt19937 random(23);
  int32_t spared = 0, taken = 0;
  for (int32_t trial = 0; trial < 120; ++trial) {
    Problem problem = small::randomProblem(random, 8);
    int64_t dear = baseCost(problem) * 16 + 1;
    problem.nodes[random() % 6].cost = dear;
    std::vector<int64_t> cheapest = small::cheapestByBudget(problem);
    auto tightest = std::find_if(cheapest.begin(), cheapest.end(),
                                 [](int64_t cost) { return cost < small::kNone; });
    problem.budgetBytes = tightest - cheapest.begin();
    bool mustTake = *tightest >= 2 * dear;
    AnnealOptions options;
    options.moves = 50'000;
    options.stopAtCost = *tightest;
    Graph graph(problem);
    Found found = anneal(graph, everyNodeOnce(problem), options);
    if (found.computations.empty())
      found = tightPlan(graph, everyNodeOnce(problem), options, 100'000).found;
    ASSERT_EQ(judge(problem, found.computations), std::nullopt) << trial;
    EXPECT_EQ(found.cost >= 2 * dear, mustTake) << trial;
    ++(mustTake ? taken : spared);
  }
  EXPECT_GT(spared, 20);
  EXPECT_GT(taken, 5);
}

// From every node once, and from the plan of the search backwards.
TEST(CheckpointMend, CoolingsThatAreMendedAreNoDearerThanTheSearchBackwards) {
  std::mt19937 random(11);
  int32_t met = 0;
  for (int32_t trial = 0; trial < 30; ++trial) {
    Problem problem = small::randomProblem(random, 8);
    std::vector<int64_t> cheapest = small::cheapestByBudget(problem);
    auto tightest = std::find_if(cheapest.begin(), cheapest.end(),
                                 [](int64_t cost) { return cost < small::kNone; });
    problem.budgetBytes = tightest - cheapest.begin();
    Graph graph(problem);
    Reach reached = reach(graph, 100'000);
    ASSERT_EQ(reached.status, Status::Feasible);
    AnnealOptions options;
    options.moves = 20'000;
    options.mends = true;
    options.stopAtCost = *tightest;
    for (const std::vector<int32_t> &start : {everyNodeOnce(problem), reached.computations}) {
      Found found = anneal(graph, start, options);
      ASSERT_EQ(judge(problem, found.computations), std::nullopt) << trial;
      EXPECT_LE(found.cost, costOf(problem, reached.computations)) << trial;
      EXPECT_EQ(found.cost, costOf(problem, found.computations));
      met += found.cost == *tightest;
    }
  }
  EXPECT_GE(met, 57);
}

// Bytes times 40, so that there are budgets between.
TEST(CheckpointTight, FitsTheTightestBudgetOfSmallGraphsAlsoFromLooserOnesAndProvesTheNext) {
  std::mt19937 random(5);
  for (int32_t trial = 0; trial < 30; ++trial) {
    Problem problem = small::randomProblem(random, 7);
    std::vector<int64_t> cheapest = small::cheapestByBudget(problem);
    auto tightest = std::find_if(cheapest.begin(), cheapest.end(),
                                 [](int64_t cost) { return cost < small::kNone; });
    problem.budgetBytes = 40 * (tightest - cheapest.begin());
    for (Node &node : problem.nodes)
      node.bytes *= 40;
    problem.nodes.push_back({1000, 1, 1, true, {}}); // so that the unit is one byte
    problem.budgetBytes += 1;
    Graph graph(problem);
    AnnealOptions options;
    options.moves = 20'000;
    Tight tight = tightPlan(graph, everyNodeOnce(problem), options, 100'000);
    ASSERT_EQ(judge(problem, tight.found.computations), std::nullopt) << trial;
    Found found = fromLooserBudget(graph, everyNodeOnce(problem), options, 100'000);
    ASSERT_EQ(judge(problem, found.computations), std::nullopt) << trial;
    if (problem.budgetBytes > 1) {
      problem.budgetBytes -= 40;
      tight = tightPlan(Graph(problem), everyNodeOnce(problem), options, 100'000);
      EXPECT_TRUE(tight.infeasible) << trial;
      EXPECT_TRUE(tight.found.computations.empty()) << trial;
    }
  }
}

TEST(CheckpointMend, EndsEmptyWhereALimitIsMet) {
  std::mt19937 random(3);
  Problem problem = small::randomProblem(random, 8);
  problem.budgetBytes = basePeakBytes(problem);
  Graph graph(problem);
  EXPECT_EQ(mend(graph, everyNodeOnce(problem)), everyNodeOnce(problem));
  MendLimits limits;
  limits.sets = 0;
  EXPECT_TRUE(mend(graph, everyNodeOnce(problem), limits).empty());
}

} // namespace
