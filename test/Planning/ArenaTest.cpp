//===- ArenaTest.cpp - where each buffer lies ----------------------------===//
#include "zero/Planning/Arena.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace zero::planning::arena;

namespace {

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

bool meet(const Buffer &a, const Buffer &b) { return a.lower < b.upper && b.lower < a.upper; }

/// The lowest height of all plans, by trying every order: in the order of an
/// optimal plan's offsets, each buffer on top of those that it meets is never
/// above its place there. One alignment for all.
int64_t bruteForce(const std::vector<Buffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> top(buffers.size(), 0);
    int64_t height = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Buffer &buffer = buffers[order[i]];
      for (size_t j = 0; j < i; ++j)
        if (meet(buffer, buffers[order[j]]))
          top[order[i]] = std::max(top[order[i]], top[order[j]]);
      top[order[i]] += roundUp(buffer.sizeBytes, buffer.alignmentBytes);
      height = std::max(height, top[order[i]]);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// Best fit by size as a newcomer would write it: all pairs, all holes.
std::vector<int64_t> naiveBestFit(const std::vector<Buffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Buffer &x = buffers[a], &y = buffers[b];
    return std::tuple(-x.sizeBytes, x.lower, x.id) < std::tuple(-y.sizeBytes, y.lower, y.id);
  });
  std::vector<int64_t> offsets(buffers.size(), -1);
  for (size_t i : order) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < buffers.size(); ++j)
      if (offsets[j] >= 0 && meet(buffers[i], buffers[j]))
        taken.emplace_back(offsets[j], offsets[j] + buffers[j].sizeBytes);
    std::sort(taken.begin(), taken.end());
    int64_t position = 0, hole = INT64_MAX;
    for (auto [begin, end] : taken) {
      if (begin - position >= buffers[i].sizeBytes && begin - position < hole) {
        hole = begin - position;
        offsets[i] = position;
      }
      position = std::max(position, end);
    }
    if (offsets[i] < 0)
      offsets[i] = position;
  }
  return offsets;
}

std::vector<Buffer> randomBuffers(std::mt19937 &random, int count, int times, int sizes,
                                  int64_t alignment) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    int64_t lower = random() % times;
    buffers.push_back({i, lower, lower + 1 + int64_t(random() % times),
                       1 + int64_t(random() % sizes), alignment});
  }
  return buffers;
}

Plan planned(const Problem &problem, const Options &options = {}) {
  EXPECT_EQ(check(problem), std::nullopt);
  Plan result = plan(problem, options);
  EXPECT_EQ(verify(problem, result), std::nullopt);
  return result;
}

/// The stage-3 micro-step of the tied model, [first, last] launch; everything is
/// rounded up to 64.
std::vector<Buffer> walkthrough() {
  struct Row {
    const char *name;
    int64_t bytes, first, last;
  };
  Row rows[] = {
      {"tokens", 24, 0, 18}, {"labels", 24, 0, 7},   {"x", 96, 1, 17},      {"y", 96, 2, 15},
      {"u", 144, 3, 13},     {"a", 144, 4, 11},      {"h", 96, 5, 8},       {"l dl", 120, 6, 9},
      {"dh", 96, 9, 17},     {"da du", 144, 12, 16}, {"dy dx", 96, 16, 18}, {"F0", 84, 0, 1},
      {"F1", 24, 1, 2},      {"Ff", 24, 1, 2},       {"F2", 96, 2, 3},      {"F3", 24, 2, 3},
      {"F4", 96, 3, 5},      {"F5", 24, 3, 5},       {"F0b", 84, 5, 9},     {"F4b", 96, 6, 12},
      {"F2b", 96, 12, 16},   {"F1b", 24, 16, 17},    {"G5", 24, 10, 13},    {"G4", 96, 11, 14},
      {"G3", 24, 14, 16},    {"G2", 96, 15, 17},     {"G1", 24, 17, 18},    {"G0", 84, 8, 18}};
  std::vector<Buffer> buffers;
  for (const Row &row : rows)
    buffers.push_back(
        {int64_t(buffers.size()), row.first, row.last + 1, row.bytes, 64, std::nullopt, row.name});
  return buffers;
}

TEST(Arena, ANumberOrNone) {
  OptionalNumber none, alsoNone = std::nullopt, zero = 0, least = INT64_MIN + 1;
  EXPECT_FALSE(none.has_value());
  EXPECT_EQ(none, alsoNone);
  EXPECT_NE(none, zero);
  EXPECT_TRUE(zero.has_value() && least.has_value());
  EXPECT_EQ(*least, INT64_MIN + 1);
  EXPECT_EQ(none.value_or(7), 7);
  EXPECT_EQ(zero.value_or(7), 0);
  EXPECT_EQ(std::optional<int64_t>(zero), std::optional<int64_t>(0));
  EXPECT_EQ(std::optional<int64_t>(none), std::nullopt);
  zero.reset();
  EXPECT_EQ(zero, std::nullopt);
  EXPECT_EQ(sizeof(OptionalNumber), sizeof(int64_t));
}

TEST(Arena, ThreeBuffersByHand) {
  // At time 2 the second and third are alive: 64 + 128 = 192. Of these the second lives longer
  // and lies at 0; the third meets it and goes on top, to 64; the first meets only the second.
  Problem problem = {{{0, 0, 2, 64}, {1, 1, 3, 64}, {2, 2, 4, 128}}, {}};
  EXPECT_EQ(lowerBound(problem), 192);
  Plan plan = planned(problem);
  EXPECT_EQ(plan.heightBytes, 192);
  EXPECT_EQ(plan.status, Status::Optimal);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{64, 0, 64}));
}

TEST(Arena, LifetimesAreHalfOpen) {
  // One ends where the next begins: they share their bytes.
  Plan plan = planned({{{0, 0, 5, 100}, {1, 5, 9, 100}}, {}});
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(plan.heightBytes, 100);
}

TEST(Arena, NothingTakesNothing) {
  Plan plan = planned({});
  EXPECT_EQ(plan.heightBytes, 0);
  EXPECT_EQ(plan.status, Status::Optimal);
}

TEST(Arena, WalkthroughReachesItsBound) {
  // Launch 12 holds tokens 64, x 128, y 128, u 192, dh 128, da 192, F4b 128,
  // F2b 128, G5 64, G4 128, G0 128 = 1408.
  Plan plan = planned({walkthrough(), {}});
  EXPECT_EQ(plan.lowerBoundBytes, 1408);
  EXPECT_EQ(plan.heightBytes, 1408);
}

TEST(Arena, WalkthroughWithItsStatesTakes2048) {
  // param 33 elements, the others 29 f32 each, control 56 bytes: persistent, at
  // the bottom in the order given, though they come last here.
  std::vector<Buffer> buffers = walkthrough();
  int64_t bytes[] = {132, 116, 116, 116, 56};
  for (int64_t size : bytes)
    buffers.push_back({int64_t(buffers.size()), kTimeBegin, kTimeEnd, size, 64});
  Plan plan = planned({buffers, {}});
  std::vector<int64_t> states(plan.offsets.end() - 5, plan.offsets.end());
  EXPECT_EQ(states, (std::vector<int64_t>{0, 192, 320, 448, 576}));
  EXPECT_EQ(plan.heightBytes, 2048); // 640 + 1408
  EXPECT_EQ(plan.status, Status::Optimal);
}

TEST(Arena, MixedAlignmentsRoundToTheirUnit) {
  // Offsets are multiples of 4 at least, so 5 bytes take 8; the one of 64 lies
  // at 0, and the others behind it, at 12 (10 rounded up) and 20.
  Problem problem = {{{0, 0, 2, 10, 64}, {1, 0, 2, 5, 4}, {2, 0, 2, 5, 4}}, {}};
  EXPECT_EQ(lowerBound(problem), 28);
  Plan plan = planned(problem);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 12, 20}));
  EXPECT_EQ(plan.heightBytes, 28);
}

TEST(Arena, FixedOffsetsAreKeptAndFlowedAround) {
  // Fixed at [64, 96) over [0, 4): the 64 bytes fit below, the 80 do not, and go
  // on top. The bound knows the fixed top: 64 + 80 + 32 = 176 alive, top 96.
  Problem problem = {{{0, 0, 4, 32, 1, 64}, {1, 1, 3, 64}, {2, 1, 3, 80}}, {}};
  Plan plan = planned(problem);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{64, 0, 96}));
  EXPECT_EQ(plan.heightBytes, 176);
  EXPECT_EQ(lowerBound({{{0, 0, 4, 32, 1, 640}}, {}}), 672);
}

TEST(Arena, GapsAreOthersBytes) {
  // The second lives inside the first one's gap, and shares its bytes.
  Buffer holed{0, 0, 10, 100};
  holed.gaps = {{7, 8}, {2, 5}};
  Plan plan = planned({{holed, {1, 3, 5, 100}, {2, 7, 8, 100}}, {}});
  EXPECT_EQ(plan.heightBytes, 100);
  // One tick longer, and it meets the part after the gap.
  plan = planned({{holed, {1, 3, 6, 100}}, {}});
  EXPECT_EQ(plan.heightBytes, 200);
}

TEST(Arena, CapacityGivesAStatus) {
  std::vector<Buffer> buffers = walkthrough();
  EXPECT_EQ(planned({buffers, 1408}).status, Status::Optimal);
  EXPECT_LE(planned({buffers, 4096}).heightBytes, 4096);
  // The bound itself is the proof that nothing fits below it.
  EXPECT_EQ(planned({buffers, 1407}).status, Status::Infeasible);
  // 2 bytes fixed at 2, and 3 more: alive 5, but the 3 fit above only, up to 7.
  buffers = {{0, 0, 1, 2, 1, 2}, {1, 0, 1, 3}};
  EXPECT_EQ(planned({buffers, 4}).status, Status::Infeasible);
  Plan plan = planned({buffers, 6});
  EXPECT_EQ(plan.status, Status::Infeasible); // shown by the exact search
  EXPECT_EQ(plan.provedBytes, 7);
  EXPECT_EQ(plan.heightBytes, 7); // the lowest that was found
  plan = zero::planning::arena::plan({buffers, 6}, {/*iterations=*/0});
  EXPECT_EQ(plan.status, Status::Unknown); // without it
  EXPECT_EQ(planned({buffers, 7}).status, Status::Feasible);
  EXPECT_EQ(planned({buffers, {}}).status, Status::Optimal); // 7, with 6 ruled out
}

TEST(Arena, SmallRandomProblemsAgreeWithBruteForce) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    int64_t alignment = round % 2 ? 1 : 4;
    Problem problem = {randomBuffers(random, 1 + random() % 6, 8, 12, alignment), {}};
    int64_t best = bruteForce(problem.buffers);
    Plan plan = planned(problem);
    EXPECT_LE(lowerBound(problem), best);
    EXPECT_EQ(plan.heightBytes, best) << "round " << round;
    EXPECT_EQ(plan.provedBytes, best) << "round " << round;
    EXPECT_EQ(plan.status, Status::Optimal) << "round " << round;
  }
}

TEST(Arena, NothingIsAboveBestFitBySize) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    Problem problem = {randomBuffers(random, 80, 40, 1000, 1), {}};
    std::vector<int64_t> naive = naiveBestFit(problem.buffers);
    int64_t height = 0;
    for (size_t i = 0; i < naive.size(); ++i)
      height = std::max(height, naive[i] + problem.buffers[i].sizeBytes);
    Plan first = planned(problem, {/*iterations=*/0, /*work=*/0});
    EXPECT_LE(first.heightBytes, height);
    Plan plan = planned(problem, {200, 2'000'000});
    EXPECT_LE(plan.heightBytes, first.heightBytes);
  }
}

// Windows find no plan here and orders do, which the default's work reaches. Eight times the work
// gets there as soon, and does not look about in windows for most of it first. Steps are told by
// how often the search asks whether to stop.
TEST(Arena, MoreWorkFindsWhatFitsACapacityAsSoon) {
  std::mt19937 random(8);
  Problem problem;
  for (int64_t id = 0; id < 5000; ++id) {
    int64_t draw = random(), most = random() % 10 < 6 ? 83 : 8, length = 1 + draw % most;
    int64_t lower = random() % 166, upper = std::min<int64_t>(166, lower + length);
    problem.buffers.push_back({id, lower, upper, 1 + int64_t(random() % 100)});
  }
  Options options;
  Plan lowest = planned(problem, options);
  problem.capacityBytes = lowest.heightBytes;
  int64_t asked = 0;
  options.stop = [&] { return ++asked, false; };
  EXPECT_EQ(planned(problem, options).status, Status::Feasible);
  int64_t most = asked + asked / 10;
  asked = 0;
  options.work *= 8;
  EXPECT_EQ(planned(problem, options).status, Status::Feasible);
  EXPECT_LE(asked, most);
}

TEST(Arena, ThreadsDoNotChangeThePlan) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Problem problem = {randomBuffers(random, 200, 100, 1000, 1), {}};
    Plan one = planned(problem, {/*iterations=*/0, /*work=*/1'000'000, /*threads=*/1});
    Plan three = planned(problem, {/*iterations=*/0, /*work=*/1'000'000, /*threads=*/3});
    EXPECT_EQ(one.offsets, three.offsets);
  }
}

TEST(Arena, TheOrderOfBuffersDoesNotMatterWhereIdsAreKept) {
  std::mt19937 random(4);
  Problem problem = {randomBuffers(random, 50, 20, 100, 1), {}};
  Plan plan = planned(problem);
  Problem reversed = problem;
  std::reverse(reversed.buffers.begin(), reversed.buffers.end());
  Plan other = planned(reversed);
  std::reverse(other.offsets.begin(), other.offsets.end());
  EXPECT_EQ(plan.offsets, other.offsets);
}

TEST(Arena, GapsFixedAndAlignedAtRandomAlwaysVerify) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Problem problem = {randomBuffers(random, 30, 20, 50, 1), {}};
    for (Buffer &buffer : problem.buffers) {
      buffer.alignmentBytes = 1 << (random() % 4);
      if (buffer.upper - buffer.lower > 3 && random() % 2)
        buffer.gaps = {{buffer.lower + 1, buffer.upper - 1}};
    }
    problem.buffers[0].fixedOffset = 8 * (random() % 8);
    planned(problem, {50, 1'000'000});
  }
}

/// 48 divides sizes of 96, 64 does not, and in the unit of both, 32, neither is a whole number of
/// the other: each has to be looked at again when the unit falls.
TEST(Arena, AlignmentsThatDoNotDivideEachOther) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Problem problem;
    for (int64_t i = 0; i < 12; ++i) {
      int64_t lower = random() % 8, alignments[] = {16, 48, 64};
      problem.buffers.push_back({i, lower, lower + 1 + int64_t(random() % 5),
                                 96 * (1 + int64_t(random() % 3)), alignments[random() % 3]});
    }
    planned(problem, {50, 1'000'000});
  }
}

/// Hole trees have words of 16, 32 and 64 bits: bounds of some 2^16 units need one or the next, and
/// 2^17 and 2^40 times as much needs the wider ones. All give the same places.
TEST(Arena, OffsetsScaleWithTheSizes) {
  std::mt19937 random(12);
  for (int round = 0; round < 20; ++round) {
    std::vector<Buffer> buffers = randomBuffers(random, 60, 20, 3000 + 400 * round, 1);
    Plan small = planned({buffers, {}}, {/*iterations=*/0});
    for (int64_t scale : {int64_t(1) << 17, int64_t(1) << 40}) {
      std::vector<Buffer> scaled = buffers;
      for (Buffer &buffer : scaled)
        buffer.sizeBytes *= scale;
      // A buffer of one byte, alone in time, keeps the unit at one.
      scaled.push_back({1000, 1000, 1001, 1});
      Plan large = planned({scaled, {}}, {/*iterations=*/0});
      large.offsets.pop_back();
      for (int64_t &offset : large.offsets)
        offset /= scale;
      EXPECT_EQ(large.offsets, small.offsets) << "round " << round;
    }
  }
}

TEST(Arena, TwentyThousandBuffersWithinTheirWork) {
  // Not timed: the plan must exist, be valid and be at most 1.1 times the bound.
  std::mt19937 random(6);
  Problem problem;
  for (int64_t i = 0; i < 20000; ++i) {
    int64_t lower = random() % 20000;
    problem.buffers.push_back(
        {i, lower, lower + 1 + int64_t(random() % 100), 1 + int64_t(random() % (1 << 20))});
  }
  Plan plan = planned(problem);
  EXPECT_LE(plan.heightBytes, plan.lowerBoundBytes / 10 * 11);
}

TEST(Arena, CheckNamesTheOffender) {
  auto message = [](std::vector<Buffer> buffers) {
    return check({buffers, {}}).value_or("accepted");
  };
  EXPECT_EQ(message({{7, 3, 3, 1}}), "buffer 7: expects lower below upper, got [3, 3)");
  EXPECT_EQ(message({{7, 0, 1, 0}}), "buffer 7: expects a size of at least 1, got 0");
  EXPECT_EQ(message({{7, 0, 1, 1, 0}}), "buffer 7: expects an alignment of at least 1, got 0");
  EXPECT_EQ(message({{7, 0, 1, 1, 8, 4}}),
            "buffer 7: expects a fixed offset that is a multiple of 8, got 4");
  EXPECT_EQ(message({{7, 0, 1, 1, 8, -8}}),
            "buffer 7: expects a fixed offset of at least 0, got -8");
  EXPECT_NE(message({{7, 0, 1, 1}, {7, 0, 1, 1}}).find("expects an id of its own"),
            std::string::npos);
  // The first that another has before it, and before what is wrong further on.
  EXPECT_EQ(message({{8, 0, 1, 1}, {7, 0, 1, 1}, {7, 0, 1, 1}, {8, 0, 1, 1}, {9, 0, 1, 0}}),
            "buffer 7: expects an id of its own, and another buffer has it too");
  EXPECT_EQ(message({{8, 0, 1, 1}, {9, 0, 1, 0}, {8, 0, 1, 1}}),
            "buffer 9: expects a size of at least 1, got 0");
  EXPECT_EQ(message({{1, 0, 3, 8, 1, 0, "x"}, {2, 2, 4, 8, 1, 4}}),
            "buffer 1 ('x') at [0, 8) and buffer 2 at [4, 12) overlap at time 2");
  EXPECT_NE(message({{7, 0, 1, int64_t(1) << 62}}).find("size and alignment"), std::string::npos);
  EXPECT_NE(
      message({{1, 0, 1, int64_t(1) << 59}, {2, 0, 1, int64_t(1) << 59}}).find("side by side"),
      std::string::npos);
  EXPECT_NE(message({{7, 0, 1, 1, 1, INT64_MAX}}).find("expects to end"), std::string::npos);
  Buffer holed{7, 0, 5, 1};
  holed.gaps = {{3, 6}};
  EXPECT_NE(message({holed}).find("expects gaps"), std::string::npos);
  holed.gaps = {{0, 5}};
  EXPECT_NE(message({holed}).find("expects a moment outside its gaps"), std::string::npos);
}

/// Each broken plan differs from the right one in one place.
TEST(Arena, VerifyRejectsMutatedPlans) {
  Problem problem = {walkthrough(), {}};
  problem.buffers[0].fixedOffset = 0;
  Plan right = planned(problem);
  auto message = [&](auto mutate) {
    Plan plan = right;
    mutate(plan);
    return verify(problem, plan).value_or("accepted");
  };
  // The bound is tight at launch 12, so every shift of a buffer alive there ends
  // in an overlap or a greater height, and so does any offset taken from another.
  for (size_t i = 1; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (buffer.lower <= 12 && buffer.upper > 12)
      for (int64_t shift : {-64, 64})
        EXPECT_NE(message([&](Plan &plan) { plan.offsets[i] += shift; }), "accepted")
            << *buffer.name;
    EXPECT_NE(message([&](Plan &plan) { plan.offsets[i] += 1; }).find("multiple of 64"),
              std::string::npos);
    EXPECT_NE(message([&](Plan &plan) { plan.offsets[i] = -64; }).find("at least 0"),
              std::string::npos);
    for (size_t j = 0; j < i; ++j)
      if (meet(buffer, problem.buffers[j]))
        EXPECT_NE(message([&](Plan &plan) { plan.offsets[i] = plan.offsets[j]; }).find("overlap"),
                  std::string::npos);
  }
  EXPECT_NE(message([](Plan &plan) { plan.offsets[0] = 64; }).find("fixed offset 0, got 64"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.offsets[1] = INT64_MAX - 63; }).find("below 2^63"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.offsets.pop_back(); }).find("offsets, got"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.heightBytes -= 64; }).find("height of 1408"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.lowerBoundBytes -= 64; }).find("bound of 1408"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.provedBytes += 64; }).find("proved bound between 1408"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.provedBytes -= 64; }).find("proved bound between 1408"),
            std::string::npos);
  EXPECT_NE(message([](Plan &plan) { plan.status = Status::Feasible; }).find("status optimal"),
            std::string::npos);
  // A lifetime stretched after planning: da and a share bytes; a now lives on.
  Problem stretched = problem;
  for (Buffer &buffer : stretched.buffers)
    buffer.upper = 19;
  EXPECT_NE(verify(stretched, right).value_or("accepted").find("overlap at time"),
            std::string::npos);
}

} // namespace
