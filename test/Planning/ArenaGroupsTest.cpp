//===- ArenaGroupsTest.cpp - groups and memory spaces --------------------===//
#include "zero/Planning/Arena.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::arena;

namespace {

Buffer buffer(int64_t id, int64_t lower, int64_t upper, int64_t size, int64_t alignment = 1) {
  Buffer result;
  result.id = id;
  result.lower = lower;
  result.upper = upper;
  result.sizeBytes = size;
  result.alignmentBytes = alignment;
  return result;
}

Plan planned(const Problem &problem) {
  EXPECT_EQ(check(problem), std::nullopt);
  Plan result = plan(problem);
  EXPECT_EQ(verify(problem, result), std::nullopt);
  return result;
}

/// A bucket of 10, 20 and 6 bytes, alive in turns, with the last two at multiples of 4: at 0, 12
/// and 32, so 38 bytes, which round up to 40 as the unit is 4. Another buffer of 8 meets it.
Problem bucket() {
  Problem problem = {{buffer(0, 0, 2, 10, 4), buffer(1, 2, 4, 20, 4), buffer(2, 4, 6, 6, 4),
                      buffer(3, 1, 3, 8, 4)},
                     {}};
  problem.buffers[1].adjacentTo = 0;
  problem.buffers[2].adjacentTo = 1;
  return problem;
}

TEST(ArenaGroups, MembersOfABucketLieSideBySide) {
  Problem problem = bucket();
  EXPECT_EQ(lowerBound(problem), 48);
  Plan plan = planned(problem);
  EXPECT_EQ(plan.heightBytes, 48);
  EXPECT_EQ(plan.status, Status::Optimal);
  EXPECT_EQ(plan.offsets[1] - plan.offsets[0], 12);
  EXPECT_EQ(plan.offsets[2] - plan.offsets[1], 20);
}

TEST(ArenaGroups, SharersLieAtOneOffset) {
  // 10 and 30 on the same bytes, alive from 0 to 9; 5 more at time 8 go beside: 35.
  Problem problem = {{buffer(0, 0, 4, 10), buffer(1, 3, 9, 30), buffer(2, 8, 9, 5)}, {}};
  problem.buffers[1].sharesWith = 0;
  Plan plan = planned(problem);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.heightBytes, 35);
}

/// 1 lies behind the 4 bytes of 0, at a multiple of 2, and 2 on its bytes, at a multiple of 3: both
/// at 6, and end at 8 and 11. The block, alone here, goes by multiples of 6: 12 bytes.
TEST(ArenaGroups, SharersLieWhereAllTheirAlignmentsAllow) {
  Problem problem = {{buffer(0, 0, 2, 4, 2), buffer(1, 1, 3, 2, 2), buffer(2, 1, 5, 5, 3)}, {}};
  problem.buffers[1].adjacentTo = 0;
  problem.buffers[2].sharesWith = 1;
  Plan plan = planned(problem);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 6, 6}));
  EXPECT_EQ(plan.heightBytes, 12);
  plan.offsets = {0, 4, 4};
  EXPECT_EQ(verify(problem, plan).value_or("accepted"),
            "buffer 2: expects an offset that is a multiple of 3, got 4");
  // 2^40 and 3^30 have a common multiple beyond all sizes, in one place as in one block.
  problem.buffers[1].alignmentBytes = int64_t(1) << 40;
  problem.buffers[2].alignmentBytes = 205891132094649;
  EXPECT_NE(check(problem).value_or("accepted").find("expects all buffers to take at most"),
            std::string::npos);
}

/// 0 takes [0, 4), and 1 behind it [4, 8).
TEST(ArenaGroups, OnlySharersLieOnTheSameBytes) {
  Problem problem = {{buffer(0, 0, 2, 4), buffer(1, 0, 2, 4), buffer(2, 0, 2, 5)}, {}};
  problem.buffers[1].adjacentTo = 0;
  problem.buffers[2].sharesWith = 0; // on [0, 5)
  EXPECT_EQ(check(problem).value_or("accepted"),
            "buffer 1: expects bytes of its own or to share in its group, got [4, 8) where buffer "
            "2 takes [0, 5)");
  problem.buffers[2].sizeBytes = 4;
  EXPECT_EQ(planned(problem).heightBytes, 8);
  // 3 lies behind 2, whose bytes are 0's: on [4, 10).
  problem.buffers.push_back(buffer(3, 0, 2, 6));
  problem.buffers[3].adjacentTo = 2;
  EXPECT_EQ(check(problem).value_or("accepted"),
            "buffer 3: expects bytes of its own or to share in its group, got [4, 10) where buffer "
            "1 takes [4, 8)");
}

/// Links at random, of which many are refused; of what is accepted every pair is looked at, without
/// blocks: bytes that two take at one time are the same offset of sharers.
TEST(ArenaGroups, PlansOfRandomLinksHoldPairByPair) {
  std::mt19937 random(7);
  auto upTo = [&](int64_t most) { return int64_t(random() % uint64_t(most + 1)); };
  const int64_t kAlignments[] = {1, 2, 3, 4};
  int64_t accepted = 0, linked = 0;
  for (int64_t round = 0; round < 3000; ++round) {
    Problem problem;
    int64_t count = 2 + upTo(5);
    for (int64_t id = 0; id < count; ++id) {
      int64_t lower = upTo(6);
      problem.buffers.push_back(
          buffer(id, lower, lower + 1 + upTo(3), 1 + upTo(6), kAlignments[upTo(3)]));
      if (int64_t kind = upTo(4), other = upTo(count - 1); kind < 2 && other != id)
        (kind ? problem.buffers[id].adjacentTo : problem.buffers[id].sharesWith) = other;
    }
    if (check(problem))
      continue;
    ++accepted;
    Plan plan = planned(problem);
    auto place = [&](int64_t id) {
      while (problem.buffers[id].sharesWith)
        id = *problem.buffers[id].sharesWith;
      return id;
    };
    for (int64_t i = 0; i < count; ++i) {
      const Buffer &b = problem.buffers[i];
      linked += b.adjacentTo || b.sharesWith;
      EXPECT_EQ(plan.offsets[i] % b.alignmentBytes, 0) << round << ": " << i;
      if (b.adjacentTo) {
        EXPECT_GE(plan.offsets[i],
                  plan.offsets[*b.adjacentTo] + problem.buffers[*b.adjacentTo].sizeBytes)
            << round << ": " << i;
      }
      for (int64_t j = 0; j < i; ++j) {
        const Buffer &c = problem.buffers[j];
        bool meet = b.lower < c.upper && c.lower < b.upper &&
                    plan.offsets[i] < plan.offsets[j] + c.sizeBytes &&
                    plan.offsets[j] < plan.offsets[i] + b.sizeBytes;
        if (place(i) == place(j))
          EXPECT_EQ(plan.offsets[i], plan.offsets[j]) << round << ": " << i << ", " << j;
        else
          EXPECT_FALSE(meet) << round << ": " << i << ", " << j;
      }
    }
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(linked, 500);
}

TEST(ArenaGroups, SpacesArePlannedApart) {
  // 7 and 5 meet in space 0: 12. 9 and a fixed one at 2 are in space 3: 9 lies above 2 + 4 = 6.
  Problem problem = {
      {buffer(0, 0, 2, 7), buffer(1, 0, 2, 9), buffer(2, 1, 3, 5), buffer(3, 0, 2, 4)}, {}};
  problem.buffers[1].space = problem.buffers[3].space = 3;
  problem.buffers[3].fixedOffset = 2;
  Plan plan = planned(problem);
  ASSERT_EQ(plan.spaces.size(), 2u);
  EXPECT_EQ(plan.spaces[0].space, 0);
  EXPECT_EQ(plan.spaces[0].heightBytes, 12);
  EXPECT_EQ(plan.spaces[1].space, 3);
  EXPECT_EQ(plan.spaces[1].heightBytes, 15);
  EXPECT_EQ(plan.heightBytes, 27);
  EXPECT_EQ(plan.offsets[1], 6);
  EXPECT_EQ(plan.status, Status::Optimal); // 15 is proved: nothing lies lower in space 3
  problem.capacityBytes = 14;              // of each space
  EXPECT_EQ(planned(problem).status, Status::Infeasible);
  problem.capacityBytes = 15; // is enough, and ends the search before there is a proof
  EXPECT_EQ(planned(problem).status, Status::Feasible);
}

TEST(ArenaGroups, VerifyRejectsWhatComesApart) {
  Problem problem = bucket();
  Plan right = planned(problem);
  auto message = [&](auto mutate) {
    Plan plan = right;
    mutate(plan);
    return verify(problem, plan).value_or("accepted");
  };
  for (size_t i = 0; i < 3; ++i)
    for (int64_t shift : {-4, 4, 48})
      EXPECT_NE(message([&](Plan &plan) { plan.offsets[i] += shift; }).find("in its group"),
                std::string::npos)
          << i << " by " << shift;
  EXPECT_NE(message([](Plan &plan) { std::swap(plan.offsets[0], plan.offsets[1]); }), "accepted");
  EXPECT_NE(message([](Plan &plan) { plan.heightBytes += 4; }), "accepted");
  EXPECT_NE(message([](Plan &plan) { plan.offsets[3] = plan.offsets[0]; }).find("overlap"),
            std::string::npos);
  // A member that lives on after planning meets what shares its bytes with nobody now.
  Problem apart = {{buffer(0, 0, 2, 8), buffer(1, 0, 2, 8), buffer(2, 2, 4, 16)}, {}};
  apart.buffers[1].adjacentTo = 0;
  right = planned(apart);
  EXPECT_EQ(right.heightBytes, 16);
  apart.buffers[1].upper = 3;
  EXPECT_NE(verify(apart, right).value_or("accepted").find("overlap"), std::string::npos);
}

TEST(ArenaGroups, CheckNamesTheOffender) {
  auto message = [](auto change) {
    Problem problem = bucket();
    change(problem.buffers);
    return check(problem).value_or("accepted");
  };
  using Buffers = std::vector<Buffer>;
  EXPECT_EQ(message([](Buffers &b) { b[1].sharesWith = 0; }),
            "buffer 1: expects to be adjacent to a buffer or to share with one, got both");
  EXPECT_EQ(message([](Buffers &b) { b[1].adjacentTo = 9; }),
            "buffer 1: expects the id of a buffer to lie by, got 9");
  EXPECT_EQ(message([](Buffers &b) { b[1].space = 1; }),
            "buffer 1: expects a group in its own space, got buffer 0");
  EXPECT_EQ(message([](Buffers &b) { b[0].adjacentTo = 2; }),
            "buffer 0: expects a group with a first member, got a circle");
  EXPECT_EQ(message([](Buffers &b) { b[3].sharesWith = 3; }),
            "buffer 3: expects a group with a first member, got a circle");
  EXPECT_EQ(message([](Buffers &b) { b[3].adjacentTo = 0; }),
            "buffer 3: expects to be alone behind buffer 0, got buffer 1 there");
  EXPECT_EQ(
      message([](Buffers &b) { b[2].fixedOffset = 8; }),
      "buffer 2: expects only the first of a group to have a fixed offset, got one of its own");
  EXPECT_EQ(message([](Buffers &b) { b[0].gaps = {{0, 1}}; }),
            "buffer 0: expects a group without gaps, got 1");
  EXPECT_EQ(message([](Buffers &b) { b[2].id = 3; }),
            "buffer 3: expects an id of its own, and another buffer has it too");
  EXPECT_EQ(message([](Buffers &b) { b[2].sizeBytes = 0; }),
            "buffer 2: expects a size of at least 1, got 0");
}

} // namespace
