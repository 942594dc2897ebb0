//===- CheckpointChainTest.cpp - chains against two other programmes --------===//
//
// Small chains against a brute force over all states, and longer ones against the
// textbook recursion over bytes.
//
//===----------------------------------------------------------------------===//
#include "CheckpointChain.h"

#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>

using namespace zero::planning::checkpoint;

namespace {

enum class Reads : uint8_t { Input, Output, Both, Mixed };

/// F0 … F(n−1), each from the one before; B(n−1) … B0, each from the gradient before it and from
/// its stage's input, output or both.
Problem chain(std::mt19937 &random, int64_t stages, Reads reads, int64_t mostBytes) {
  Problem problem;
  auto draw = [&](int64_t most) { return int64_t(random() % uint64_t(most)) + 1; };
  for (int64_t i = 0; i < stages; ++i)
    problem.nodes.push_back({i, draw(9), draw(mostBytes), false, {}});
  for (int64_t i = 1; i < stages; ++i)
    problem.nodes[i].inputs = {i - 1};
  for (int64_t i = stages - 1; i >= 0; --i) {
    int64_t id = int64_t(problem.nodes.size());
    Node node{id, draw(9), draw(mostBytes), true, {}};
    Reads here = reads == Reads::Mixed ? Reads(random() % 3) : reads;
    if (i > 0 && here != Reads::Output)
      node.inputs.push_back(i - 1);
    if (here != Reads::Input || i == stages - 1)
      node.inputs.push_back(i);
    if (i < stages - 1)
      node.inputs.push_back(id - 1);
    problem.nodes.push_back(node);
  }
  return problem;
}

/// The cheapest cost over all states (nodes computed once, values live), by Bellman and Ford; -1
/// where the last is never reached. Where `persistent`, no gradient is computed twice, and a value
/// that lay idle while a step of backward ran is dropped only when no later step reads it.
int64_t bruteForce(const Problem &problem, bool persistent) {
  auto size = int64_t(problem.nodes.size());
  std::vector<uint32_t> reads(size, 0), readLater(size + 1, 0); // by the steps from this one on
  for (int64_t node = size - 1; node >= 0; --node) {
    for (int64_t input : problem.nodes[node].inputs)
      reads[node] |= 1u << input;
    readLater[node] = readLater[node + 1] | (problem.nodes[node].backward ? reads[node] : 0);
  }
  using State = std::tuple<int64_t, uint32_t, uint32_t>; // computed once, live, kept
  std::map<State, int64_t> cost = {{{0, 0, 0}, 0}};
  std::vector<State> changed = {{0, 0, 0}};
  while (!changed.empty()) {
    State state = changed.back();
    auto [done, live, kept] = state;
    changed.pop_back();
    int64_t sum = cost[state];
    auto offer = [&](int64_t d, uint32_t l, uint32_t k, int64_t c) {
      auto [place, isNew] = cost.try_emplace({d, l, k}, c);
      if (isNew || c < place->second) {
        place->second = c;
        changed.push_back({d, l, k});
      }
    };
    for (int64_t node = 0; node < std::min(done + 1, size); ++node) {
      uint32_t with = live | 1u << node;
      int64_t bytes = 0;
      for (int64_t value = 0; value < size; ++value)
        bytes += with >> value & 1 ? problem.nodes[value].bytes : 0;
      bool isStep = problem.nodes[node].backward;
      if (bytes > problem.budgetBytes || with == live || (reads[node] & ~live) != 0 ||
          (persistent && isStep && node < done))
        continue;
      offer(done + (node == done), with, kept | (persistent && isStep ? live & ~reads[node] : 0),
            sum + problem.nodes[node].cost);
    }
    for (int64_t value = 0; value < size; ++value)
      if (uint32_t bit = 1u << value; (live & bit) && !(kept & bit & readLater[done]))
        offer(done, live & ~bit, kept & ~bit, sum);
  }
  int64_t best = -1;
  for (auto [state, sum] : cost)
    if (std::get<0>(state) == size && (best < 0 || sum < best))
      best = sum;
  return best;
}

constexpr int64_t kNone = int64_t(1) << 40;

/// The recursion of Beaumont et al. over bytes, for chains whose backward reads the stage's input
/// alone. What is left of `room` is what the value before stage `first`, the gradient behind stage
/// `last` and all that is kept elsewhere leave over.
class Textbook {
public:
  explicit Textbook(const Problem &problem) : problem(problem) {
    stages = int64_t(problem.nodes.size()) / 2;
  }
  int64_t cost() { return best(0, stages - 1, problem.budgetBytes); }

private:
  int64_t forward(int64_t i) const { return i < 0 ? 0 : problem.nodes[i].bytes; }
  int64_t gradient(int64_t i) const { // that of the value behind stage i
    return i + 1 >= stages ? 0 : problem.nodes[2 * stages - 2 - i].bytes;
  }

  /// Stages first … last with `room` bytes, the value before them among these.
  int64_t best(int64_t first, int64_t last, int64_t room) {
    auto key = std::make_tuple(first, last, room);
    if (auto known = table.find(key); known != table.end())
      return known->second;
    int64_t least = kNone, behind = gradient(last), before = forward(first - 1);
    const Node &step = problem.nodes[2 * stages - 1 - first];
    bool isLast = last == stages - 1; // its value is computed in any case, and read by B(last)
    if (first == last) {
      int64_t peak = before + behind + step.bytes + (isLast ? forward(last) : 0);
      if (isLast)
        peak = std::max(peak, before + forward(last));
      if (peak <= room)
        least = step.cost + (isLast ? problem.nodes[last].cost : 0);
    }
    int64_t cost = 0, peak = 0;
    for (int64_t next = first + 1; next <= last; ++next) { // keep the value before `next`
      int64_t passing = next - 2 >= first ? forward(next - 2) : 0;
      peak = std::max(peak, before + passing + forward(next - 1) + behind);
      cost += problem.nodes[next - 1].cost;
      if (peak > room)
        break;
      int64_t right = best(next, last, room - before);
      if (right < kNone)
        least = std::min(least, cost + right + best(first, next - 1, room));
    }
    return table[key] = std::min(least, kNone);
  }

  const Problem &problem;
  int64_t stages;
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> table;
};

int64_t budgetBetween(std::mt19937 &random, const Problem &problem) {
  int64_t floor = floorOf(problem).bytes, peak = basePeakBytes(problem);
  return floor + int64_t(random() % uint64_t(peak - floor + 1));
}

TEST(CheckpointChain, ByHand) {
  // F0 F1 F2 of 4 bytes and B2 B1 B0 of 1; B2 reads values 1 and 2, B1 reads 0, B0 none. Base peak
  // 12 at F2: values 0, 1, 2. With 9 value 0 cannot stay, and is computed again for B1.
  Problem problem;
  problem.nodes = {{0, 3, 4, false, {}},    {1, 5, 4, false, {0}},   {2, 7, 4, false, {1}},
                   {3, 1, 1, true, {1, 2}}, {4, 1, 1, true, {0, 3}}, {5, 1, 1, true, {4}}};
  problem.budgetBytes = 9;
  Found found = chainPlan(Graph(problem));
  EXPECT_EQ(found.computations, (std::vector<int32_t>{0, 1, 2, 3, 0, 4, 5}));
  EXPECT_EQ(found.cost, 3 + 5 + 7 + 1 + 3 + 1 + 1);
  problem.budgetBytes = 8; // B2 takes 9
  EXPECT_TRUE(chainPlan(Graph(problem)).computations.empty());
}

TEST(CheckpointChain, RecognisesChains) {
  std::mt19937 random(1);
  for (Reads reads : {Reads::Input, Reads::Output, Reads::Both, Reads::Mixed}) {
    Problem problem = chain(random, 6, reads, 5);
    std::optional<Chain> found = chainOf(Graph(problem));
    ASSERT_TRUE(found.has_value());
    EXPECT_GE(found->forwards, 6); // B5 may pass for a forward
    EXPECT_EQ(found->forwards + int64_t(found->steps.size()), 13);
  }
  Problem problem = chain(random, 6, Reads::Both, 5);
  auto isChain = [](const Problem &p) { return chainOf(Graph(p)).has_value(); };
  ASSERT_TRUE(isChain(problem));
  Problem other = problem;
  other.nodes[4].inputs = {2, 3}; // a branch in forward: node 4 is a step then, and 5 misses it
  EXPECT_FALSE(isChain(other));
  other = problem;
  other.nodes[9].inputs = {1, 2, 7, 8}; // an older gradient too
  EXPECT_FALSE(isChain(other));
  other = problem;
  other.nodes[9].inputs = {4, 5, 8}; // values 4 and 5 after step 8 read 2 and 3
  EXPECT_FALSE(isChain(other));
  other = problem;
  other.nodes[9].inputs = {0, 1, 2, 8}; // three values
  EXPECT_FALSE(isChain(other));
}

TEST(CheckpointChain, SmallChainsEqualBruteForce) {
  std::mt19937 random(2);
  int64_t recomputed = 0, infeasible = 0, persistence = 0;
  for (int64_t round = 0; round < 400; ++round) {
    Problem problem = chain(random, 2 + int64_t(random() % 3), Reads(round % 4), 8);
    problem.budgetBytes = budgetBetween(random, problem);
    Found found = chainPlan(Graph(problem));
    int64_t best = bruteForce(problem, true), bestOfAll = bruteForce(problem, false);
    ASSERT_EQ(found.computations.empty(), best < 0) << round;
    // Whether persistent or not, the planner has the cheapest of all: these are small.
    Plan planned = plan(problem);
    ASSERT_EQ(planned.computations.empty(), bestOfAll < 0);
    persistence += best != bestOfAll;
    if (best < 0) {
      ++infeasible;
      continue;
    }
    EXPECT_EQ(found.cost, best) << round;
    EXPECT_EQ(planned.cost, bestOfAll) << round;
    std::vector<int64_t> computations(found.computations.begin(), found.computations.end());
    std::vector<int64_t> live = liveBytes(problem, computations);
    EXPECT_LE(*std::max_element(live.begin(), live.end()), problem.budgetBytes);
    recomputed += best > baseCost(problem);
  }
  EXPECT_GT(recomputed, 100); // none of this is vacuous
  EXPECT_GT(infeasible, 4);
  EXPECT_GT(persistence, 2);
}

TEST(CheckpointChain, TheTextbookRecursionGivesTheSame) {
  std::mt19937 random(3);
  int64_t recomputed = 0;
  for (int64_t round = 0; round < 300; ++round) {
    Problem problem = chain(random, 2 + int64_t(random() % 11), Reads::Input, 6);
    problem.budgetBytes = budgetBetween(random, problem);
    Found found = chainPlan(Graph(problem));
    int64_t cost = Textbook(problem).cost();
    ASSERT_EQ(found.computations.empty(), cost >= kNone) << round;
    if (!found.computations.empty())
      ASSERT_EQ(found.cost, cost) << round;
    recomputed += found.cost > baseCost(problem);
  }
  EXPECT_GT(recomputed, 100);
}

TEST(CheckpointChain, ThePlannerIsNeverDearer) {
  std::mt19937 random(4);
  Options options;
  options.moves = 5'000;
  options.branches = 200;
  int64_t recomputed = 0;
  for (int64_t round = 0; round < 60; ++round) {
    Problem problem = chain(random, 6 + int64_t(random() % 15), Reads::Input, 1000);
    problem.budgetBytes = budgetBetween(random, problem);
    Plan found = plan(problem, options);
    ASSERT_EQ(verify(problem, found), std::nullopt);
    int64_t cost = Textbook(problem).cost();
    if (cost >= kNone)
      continue;
    ASSERT_FALSE(found.computations.empty()) << round;
    EXPECT_LE(found.cost, cost) << round;
    recomputed += cost > baseCost(problem);
  }
  EXPECT_GT(recomputed, 20);
}

/// Of a chain of 20 stages whose bytes are all different: with few corners dearer, never above the
/// budget; and one curve serves every budget.
TEST(CheckpointChain, ThinnedCurvesAreStillPlans) {
  std::mt19937 random(5);
  Problem problem = chain(random, 20, Reads::Both, 100'000);
  problem.budgetBytes = basePeakBytes(problem);
  Graph graph(problem);
  std::optional<Chain> found = chainOf(graph);
  ASSERT_TRUE(found.has_value());
  ChainCurve full(graph, *found, 100'000, kMaxTotal), thin(graph, *found, 5, kMaxTotal);
  ASSERT_GT(full.points().size(), 20u);
  ASSERT_LE(thin.points().size(), 6u);
  for (const ChainCurve *curve : {&full, &thin})
    for (const ChainCurve::Point &point : curve->points()) {
      Found plan = curve->within(point.peak);
      EXPECT_EQ(plan.cost, point.cost);
      std::vector<int64_t> computations(plan.computations.begin(), plan.computations.end());
      std::vector<int64_t> live = liveBytes(problem, computations);
      EXPECT_LE(*std::max_element(live.begin(), live.end()), point.peak * graph.unit);
    }
  for (const ChainCurve::Point &point : thin.points())
    EXPECT_GE(point.cost, full.within(point.peak).cost);
  EXPECT_EQ(full.within(full.points().front().peak - 1).computations.size(), 0u);
}

} // namespace
