//===- CheckpointTest.cpp - plans within a budget, and their judge ---------===//
#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <gtest/gtest.h>
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

/// A network of `count` convolutions whose values shrink on the way as VGG16's do; backward reads
/// each one's input and output.
Problem shrinkingChain(int64_t count) {
  Problem problem;
  auto &nodes = problem.nodes;
  for (int64_t i = 0; i < count; ++i)
    nodes.push_back({i, 100 + 37 * (i % 5), int64_t(4096) >> (i / 3), false, {}});
  for (int64_t i = 1; i < count; ++i)
    nodes[i].inputs = {i - 1};
  for (int64_t i = count; i < 2 * count; ++i) {
    int64_t of = 2 * count - 1 - i;
    nodes.push_back({i, 2 * nodes[of].cost, nodes[of].bytes, true, {of}});
    if (of > 0)
      nodes.back().inputs.push_back(of - 1);
    if (i > count)
      nodes.back().inputs.push_back(i - 1);
  }
  return problem;
}

/// Blocks of an attention and a feed-forward part around a residual stream, forward and backward;
/// every backward node reads the forward values that its gradient needs.
Problem smallTransformer(int64_t blocks) {
  Problem problem;
  auto &nodes = problem.nodes;
  auto add = [&](int64_t cost, int64_t bytes, bool backward, std::vector<int64_t> inputs) {
    nodes.push_back({int64_t(nodes.size()), cost, bytes, backward, std::move(inputs)});
    return int64_t(nodes.size()) - 1;
  };
  struct Block {
    int64_t in, norm, qkv, mixed, middle, wide;
  };
  std::vector<Block> kept;
  int64_t stream = add(1, 8, false, {});
  for (int64_t k = 0; k < blocks; ++k) {
    Block block{stream, 0, 0, 0, 0, 0};
    block.norm = add(1, 8, false, {stream});
    block.qkv = add(24, 24, false, {block.norm});
    block.mixed = add(16, 8, false, {block.qkv});
    block.middle = add(9, 8, false, {stream, block.mixed});
    block.wide = add(33, 32, false, {block.middle});
    stream = add(33, 8, false, {block.middle, block.wide});
    kept.push_back(block);
  }
  int64_t gradient = add(1, 8, true, {stream});
  for (int64_t k = blocks - 1; k >= 0; --k) {
    const Block &block = kept[k];
    int64_t wide = add(66, 32, true, {gradient, block.wide});
    int64_t middle = add(66, 8, true, {gradient, wide, block.middle});
    int64_t qkv = add(40, 24, true, {middle, block.qkv, block.mixed});
    gradient = add(50, 8, true, {middle, qkv, block.norm, block.in});
  }
  return problem;
}

TEST(Checkpoint, CostNeverRisesWithTheBudgetAndPeakNeverPassesIt) {
  std::mt19937 random(6);
  for (const Problem &base : {layers(12), shrinkingChain(12), smallTransformer(4),
                              randomProblem(random, 30), randomProblem(random, 45)}) {
    int64_t floor = floorOf(base).bytes, peak = basePeakBytes(base);
    std::vector<int64_t> budgets;
    for (int64_t k = 0; k < 20; ++k)
      budgets.push_back(floor + (peak - floor) * (k * 7 % 20) / 19); // in no order
    Options options;
    options.moves = 4'000; // so few that searches differ in luck
    options.branches = 50;
    options.reachSteps = 20'000;
    std::vector<Plan> plans = planOver(base, budgets, options);
    ASSERT_EQ(plans.size(), budgets.size());
    int64_t found = 0, recomputed = 0;
    for (size_t a = 0; a < plans.size(); ++a) {
      Problem problem = base;
      problem.budgetBytes = budgets[a];
      ASSERT_EQ(verify(problem, plans[a]), std::nullopt);
      if (!plans[a].computations.empty()) {
        ++found;
        recomputed += plans[a].cost > baseCost(base);
        EXPECT_LE(plans[a].peakBytes, budgets[a]);
      }
      for (size_t b = 0; b < plans.size(); ++b) {
        if (budgets[a] > budgets[b])
          continue;
        EXPECT_GE(plans[a].lowerBoundCost, plans[b].lowerBoundCost);
        if (plans[a].computations.empty())
          continue;
        EXPECT_FALSE(plans[b].computations.empty());
        EXPECT_GE(plans[a].cost, plans[b].cost);
      }
    }
    EXPECT_GE(found, 8);
    EXPECT_GE(recomputed, 4);
  }
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

/// 400 blocks are too many for the moves, so what is cheap there is the plan of a few, stretched:
/// of the same share as that of 40 blocks, which are planned as they are.
TEST(Checkpoint, ManyEqualBlocksAreAsCheapAsAFew) {
  double shares[2];
  for (int64_t few : {0, 1}) {
    Problem problem = smallTransformer(few ? 40 : 400);
    problem.budgetBytes = basePeakBytes(problem) / 2;
    Options options;
    options.moves = few ? 200'000 : 30'000;
    options.branches = 50;
    Plan found = plan(problem, options);
    ASSERT_EQ(verify(problem, found), std::nullopt);
    ASSERT_FALSE(found.computations.empty());
    shares[few] = double(found.cost) / double(baseCost(problem));
  }
  EXPECT_GT(shares[1], 1.05);
  EXPECT_LE(shares[0], shares[1] * 1.01);
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
  rejects([](Plan &p) { ++p.peakBytes; });
  rejects([](Plan &p) { --p.cost; });
  rejects([](Plan &p) { p.lowerBoundCost = 0; }); // below computing each node once
  problem.budgetBytes = good.peakBytes - 1;
  EXPECT_NE(verify(problem, good), std::nullopt);
  problem.budgetBytes = good.peakBytes;
  problem.nodes[1].id = problem.nodes[0].id;
  EXPECT_NE(verify(problem, good), std::nullopt);
}

/// Plan a b c a d of `header`: every computation doubled where it stands, which costs more than the
/// plan says, and every one moved to every other place. With 5 bytes the plan that a move leaves is
/// one only where nothing changes: first computations stay in order, and a must not live from b to
/// d.
TEST(CheckpointVerify, RejectsDoubledAndMovedComputations) {
  Problem problem = header();
  problem.budgetBytes = 5;
  const Plan good = plan(problem);
  ASSERT_EQ(good.computations, (std::vector<int64_t>{0, 1, 2, 0, 3}));
  for (size_t from = 0; from < good.computations.size(); ++from) {
    Plan bad = good;
    bad.computations.insert(bad.computations.begin() + from, good.computations[from]);
    EXPECT_NE(verify(problem, bad), std::nullopt) << "doubled " << from;
    for (size_t to = 0; to < good.computations.size(); ++to) {
      bad = good;
      int64_t node = good.computations[from];
      bad.computations.erase(bad.computations.begin() + from);
      bad.computations.insert(bad.computations.begin() + to, node);
      EXPECT_EQ(verify(problem, bad).has_value(), bad.computations != good.computations)
          << from << " to " << to;
    }
  }
}

/// Of each kind of mutation every place, on a plan with dozens of recomputations.
TEST(CheckpointVerify, RejectsEveryMutationOfALargerPlan) {
  Problem problem = smallTransformer(5);
  auto size = int64_t(problem.nodes.size());
  problem.budgetBytes = (2 * basePeakBytes(problem) + 3 * floorOf(problem).bytes) / 5;
  Options options;
  options.moves = 20'000;
  options.branches = 100;
  const Plan good = plan(problem, options);
  ASSERT_EQ(verify(problem, good), std::nullopt);
  auto length = int64_t(good.computations.size());
  ASSERT_GE(length, size + 8);

  // As a mutant of `computations` that claims its own cost and peak: only the rules are left.
  auto honest = [&](Plan bad) {
    std::vector<bool> there(size, false);
    bad.cost = 0;
    bool findsInputs = true;
    for (int64_t node : bad.computations) {
      for (int64_t input : problem.nodes[node].inputs)
        findsInputs &= there[input];
      there[node] = true;
      bad.cost += problem.nodes[node].cost;
    }
    if (findsInputs) {
      std::vector<int64_t> live = liveBytes(problem, bad.computations);
      bad.peakBytes = *std::max_element(live.begin(), live.end());
    }
    bad.lowerBoundCost = baseCost(problem);
    bad.status = bad.cost == bad.lowerBoundCost ? Status::Optimal : Status::Feasible;
    return bad;
  };
  EXPECT_EQ(verify(problem, honest(good)), std::nullopt);

  std::vector<bool> seen(size, false);
  int64_t dropped = 0, needed = 0, firsts = 0, swapped = 0;
  for (int64_t i = 0; i < length; ++i) {
    int64_t node = good.computations[i];
    Plan bad = good;
    bad.computations.erase(bad.computations.begin() + i);
    EXPECT_NE(verify(problem, bad), std::nullopt) << "dropped " << i;
    if (!seen[node]) {
      // The next recomputation, if any, is then the first, and late.
      EXPECT_NE(verify(problem, honest(bad)), std::nullopt) << "missing first " << i;
      ++firsts;
    } else {
      // A plan all the same where the value may stay instead, and never one beyond the budget.
      ++dropped;
      Plan other = honest(bad);
      EXPECT_EQ(verify(problem, other).has_value(), other.peakBytes > problem.budgetBytes) << i;
      needed += other.peakBytes > problem.budgetBytes;
    }
    if (i + 1 < length && !seen[node] && good.computations[i + 1] == node + 1) {
      bad = good;
      std::swap(bad.computations[i], bad.computations[i + 1]);
      EXPECT_NE(verify(problem, honest(bad)), std::nullopt) << "swapped " << i;
      ++swapped;
    }
    for (int64_t unknown : {int64_t(-1), size, INT64_MAX, INT64_MIN}) {
      bad = good;
      bad.computations[i] = unknown;
      EXPECT_NE(verify(problem, bad), std::nullopt) << "unknown " << i;
    }
    seen[node] = true;
  }
  EXPECT_EQ(firsts, size);
  EXPECT_EQ(dropped, length - size);
  EXPECT_GE(needed, 4);
  EXPECT_GE(swapped, size / 2);

  // A lifetime stretched: the last computation reads one more value, alive since it was last made.
  int64_t stretched = 0;
  for (int64_t value = 0; value + 1 < size; ++value) {
    Problem other = problem;
    std::vector<int64_t> &inputs = other.nodes.back().inputs;
    if (std::find(inputs.begin(), inputs.end(), value) != inputs.end())
      continue;
    inputs.push_back(value);
    std::vector<int64_t> live = liveBytes(other, good.computations);
    Plan bad = good;
    bad.peakBytes = *std::max_element(live.begin(), live.end());
    EXPECT_EQ(verify(other, bad).has_value(), bad.peakBytes > problem.budgetBytes) << value;
    stretched += bad.peakBytes > problem.budgetBytes;
  }
  EXPECT_GE(stretched, 2);
  problem.budgetBytes = good.peakBytes;
  EXPECT_EQ(verify(problem, good), std::nullopt);
  --problem.budgetBytes;
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
