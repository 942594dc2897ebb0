//===- ArenaWindowTest.cpp - the peak's surroundings first ---------------===//
#include "ArenaWindow.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::arena;

namespace {

constexpr int64_t kWork = 8'000'000;

bool never() { return false; }

struct Searched {
  Incumbent orders; // what peak-first orders and best fit found
  Incumbent best;   // after the windows
  int64_t bound = 0, goal = 0;
};

/// The goal is the lower bound, or so many eighths of the way from there to the orders' height.
Searched search(const Problem &problem, int64_t eighths = 0) {
  EXPECT_EQ(check(problem), std::nullopt);
  Timeline timeline(problem);
  Portfolio portfolio(problem, timeline, 1);
  Searched result;
  portfolio.runFirst(result.orders, 0, kWork, never);
  result.bound = timeline.peakLoad;
  result.goal = result.bound + (result.orders.height - result.bound) * eighths / 8;
  result.best = result.orders;
  WindowSearch windows(problem, timeline, portfolio, result.orders);
  EXPECT_TRUE(windows.applies());
  windows.run(result.best, result.goal, portfolio.steps() + kWork, never);
  return result;
}

/// True where the windows lowered the height, and then to the goal.
bool isSolved(const Problem &problem, const Searched &searched) {
  if (searched.best.height == searched.orders.height)
    return false;
  Plan plan;
  plan.offsets = searched.best.offsets;
  plan.heightBytes = searched.best.height;
  plan.lowerBoundBytes = plan.provedBytes = searched.bound;
  plan.status = plan.heightBytes == searched.bound ? Status::Optimal : Status::Feasible;
  EXPECT_LE(plan.heightBytes, searched.goal);
  EXPECT_EQ(verify(problem, plan), std::nullopt);
  return true;
}

/// A rectangle of 16 moments and 64 bytes, cut at random into 20 pieces.
std::vector<Buffer> cutUp(std::mt19937 &random) {
  std::vector<Buffer> pieces = {{0, 0, 16, 64}};
  while (pieces.size() < 20) {
    Buffer &piece = pieces[random() % pieces.size()];
    Buffer other = piece;
    other.id = int64_t(pieces.size());
    if (random() % 2 && piece.upper - piece.lower > 1)
      piece.upper = other.lower =
          piece.lower + 1 + int64_t(random() % uint64_t(piece.upper - piece.lower - 1));
    else if (piece.sizeBytes > 1)
      other.sizeBytes -= piece.sizeBytes = 1 + int64_t(random() % uint64_t(piece.sizeBytes - 1));
    else
      continue;
    pieces.push_back(other);
  }
  return pieces;
}

TEST(ArenaWindow, RectanglesCutUpArePackedAsAWhole) {
  // Each moment is as full as the others, so the first window holds them all, and its packing is
  // the problem's. The pieces are few enough for the exact search to find what was cut.
  std::mt19937 random(5);
  int below = 0;
  for (int round = 0; round < 200; ++round) {
    Problem problem = {cutUp(random), {}};
    Searched searched = search(problem);
    ASSERT_EQ(searched.bound, 64);
    EXPECT_EQ(searched.best.height, 64);
    below += isSolved(problem, searched);
  }
  EXPECT_GT(below, 10) << "the orders alone solve nearly all of these";
}

TEST(ArenaWindow, WhatFindsNoRoomGetsAWindowOfItsOwn) {
  // The same twice, the second one a moment after the first: two windows, and the packing of each
  // is found as before, as no life is in both.
  std::mt19937 random(5);
  int below = 0;
  for (int round = 0; round < 200; ++round) {
    Problem problem = {cutUp(random), {}};
    for (size_t i = 0; i < 20; ++i) {
      Buffer buffer = problem.buffers[i];
      buffer.id += 20;
      buffer.lower += 17;
      buffer.upper += 17;
      problem.buffers.push_back(buffer);
    }
    // Something is alive in between, or time would have no section there.
    problem.buffers.push_back({40, 16, 17, 1});
    Searched searched = search(problem);
    EXPECT_EQ(searched.best.height, 64) << round;
    below += isSolved(problem, searched);
  }
  EXPECT_GT(below, 10);
}

TEST(ArenaWindow, TheRestFlowsAroundTheWindow) {
  // Long lives that begin and end about one peak, and short ones everywhere: alone, above
  // persistent buffers, and with alignments, which cost bytes that the bound does not know.
  std::mt19937 random(7);
  int aligned = 0, persisted = 0, plain = 0;
  for (int round = 0; round < 45; ++round) {
    const int64_t alignments = round % 3 == 0 ? 4 : 1, persistent = round % 3 == 1 ? 3 : 0;
    Problem problem;
    for (int64_t i = 0; i < 600; ++i) {
      Buffer buffer;
      buffer.id = i;
      bool isLong = random() % 3 == 0;
      buffer.lower = isLong ? int64_t(random() % 200) : int64_t(random() % 395);
      buffer.upper =
          isLong ? 201 + int64_t(random() % 200) : buffer.lower + 1 + int64_t(random() % 4);
      buffer.sizeBytes = 1 + int64_t(random() % (isLong ? 64 : 400));
      if (i < persistent)
        buffer.lower = kTimeBegin, buffer.upper = kTimeEnd;
      buffer.alignmentBytes = int64_t(1) << (random() % alignments);
      problem.buffers.push_back(buffer);
    }
    if (isSolved(problem, search(problem, alignments > 1 ? 4 : 0)))
      ++(alignments > 1 ? aligned : persistent > 0 ? persisted : plain);
  }
  EXPECT_GT(aligned, 0);
  EXPECT_GT(persisted, 0);
  EXPECT_GT(plain, 0);
}

/// Random buffers of at most 8 bytes in all at each of 8 moments, which they nearly fill.
Problem nearlyFull(std::mt19937 &random) {
  Problem problem;
  int64_t load[8] = {};
  for (int tries = 0; tries < 200 && problem.buffers.size() < 12; ++tries) {
    int64_t lower = random() % 8, upper = lower + 1 + int64_t(random() % std::min(8 - lower, 4L));
    int64_t room = 8 - *std::max_element(load + lower, load + upper);
    if (room == 0)
      continue;
    int64_t size = 1 + int64_t(random() % std::min(room, 5L));
    for (int64_t time = lower; time < upper; ++time)
      load[time] += size;
    problem.buffers.push_back({int64_t(problem.buffers.size()), lower, upper, size});
  }
  return problem;
}

TEST(ArenaWindow, WhatNoWindowHoldsNoArenaHolds) {
  // A dozen buffers that the exact search, which brute force is held against elsewhere, packs above
  // their bound; and thousands of small ones later on. The first are a window, and what is proved
  // of it holds for the whole.
  std::mt19937 random(1);
  int above = 0;
  for (int round = 0; round < 3000 && above < 4; ++round) {
    Problem problem = nearlyFull(random);
    Plan alone = plan(problem);
    ASSERT_EQ(alone.status, Status::Optimal);
    const int64_t best = alone.heightBytes, bound = alone.lowerBoundBytes;
    if (best == bound)
      continue;
    ++above;
    for (int64_t i = 20; i < 2500; ++i)
      problem.buffers.push_back({i, i, i + 2, 1 + i % 3});
    for (int64_t capacity : {bound, best}) {
      problem.capacityBytes = capacity;
      Plan result = plan(problem);
      EXPECT_EQ(verify(problem, result), std::nullopt);
      EXPECT_EQ(result.status, capacity == best ? Status::Feasible : Status::Infeasible);
    }
    problem.capacityBytes.reset();
    Plan result = plan(problem);
    EXPECT_GT(result.provedBytes, bound);
    EXPECT_LE(result.provedBytes, best);
  }
  EXPECT_EQ(above, 4);
}

TEST(ArenaWindow, GapsAndFixedOffsetsAreOthers) {
  auto applies = [](const Problem &problem) {
    Timeline timeline(problem);
    Portfolio portfolio(problem, timeline, 1);
    Incumbent best;
    portfolio.runFirst(best, 0, kWork, never);
    return WindowSearch(problem, timeline, portfolio, best).applies();
  };
  Problem problem = {{{0, 0, 9, 8}, {1, 3, 6, 8}}, {}};
  EXPECT_TRUE(applies(problem));
  problem.buffers[0].gaps = {{2, 4}};
  EXPECT_FALSE(applies(problem));
  problem.buffers[0].gaps = {};
  problem.buffers[1].fixedOffset = 16;
  EXPECT_FALSE(applies(problem));
}

TEST(ArenaWindow, PlansTakeWindowsWhereProblemsAreLarge) {
  // Of these each is above its bound after the orders, and at it after the windows.
  std::mt19937 random(11);
  int solved = 0;
  for (int round = 0; round < 10; ++round) {
    Problem problem;
    for (int64_t i = 0; i < 2500; ++i) {
      int64_t lower = int64_t(random() % 800), length = 1 + int64_t(random() % 8);
      if (random() % 10 == 0)
        length = 1 + int64_t(random() % 600);
      problem.buffers.push_back({i, lower, lower + length, 1 + int64_t(random() % 5000)});
    }
    Searched searched = search(problem);
    if (!isSolved(problem, searched))
      continue;
    ++solved;
    EXPECT_EQ(plan(problem, {.iterations = 0}).heightBytes, searched.goal);
  }
  EXPECT_GT(solved, 2);
}

} // namespace
