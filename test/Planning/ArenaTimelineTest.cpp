//===- ArenaTimelineTest.cpp - buffers in sections -----------------------===//
#include "ArenaTimeline.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::arena;

namespace {

TEST(ArenaTimeline, SectionsByHand) {
  // Alive: at 0 buffer 0; at 1 and 2 buffers 0 and 1; at 3 buffer 1; at 4 buffers 1 and 2. A begin
  // after an end begins a section, so there are two: {0, 1} up to time 3 and {1, 2} from 4 on.
  Buffer holed{3, 0, 6, 8};
  holed.gaps = {{1, 4}};
  Problem problem = {{{0, 0, 3, 10}, {1, 1, 5, 20}, {2, 4, 6, 40}}, {}};
  Timeline timeline(problem);
  EXPECT_EQ(timeline.sections, 2);
  EXPECT_EQ(timeline.load, (std::vector<int64_t>{30, 60}));
  EXPECT_EQ(timeline.peakLoad, 60);
  auto stretch = [&](int64_t item, size_t part = 0) {
    const Stretch &stretch = timeline.stretches(item)[part];
    return std::pair(stretch.first, stretch.last);
  };
  EXPECT_EQ(stretch(0), std::pair(0, 1));
  EXPECT_EQ(stretch(1), std::pair(0, 2));
  EXPECT_EQ(stretch(2), std::pair(1, 2));
  EXPECT_EQ(timeline.items[1].length, 2u);
  EXPECT_FALSE(timeline.items[0].atPeak);
  EXPECT_TRUE(timeline.items[1].atPeak && timeline.items[2].atPeak);
  // Of buffer 0 the fullest section holds 30, of the others 60.
  EXPECT_EQ(timeline.peakLoads(), (std::vector<int64_t>{30, 60, 60}));

  // In [0, 1) and [4, 6): 0 and the holed one, then 0 and 1, then 1, 2 and the holed one.
  problem.buffers.push_back(holed);
  Timeline other(problem);
  EXPECT_EQ(other.load, (std::vector<int64_t>{18, 30, 68}));
  ASSERT_EQ(other.stretches(3).size(), 2u);
  EXPECT_EQ(other.items[3].length, 2u);
  EXPECT_TRUE(other.items[3].atPeak);
  EXPECT_EQ(other.peakLoads(), (std::vector<int64_t>{30, 68, 68, 68}));
}

TEST(ArenaTimeline, LoadsAreThoseOfEachMoment) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Problem problem;
    for (int64_t i = 0; i < 1 + round * 20; ++i) {
      int64_t lower = int64_t(random() % 100) - 50;
      problem.buffers.push_back(
          {i, lower, lower + 1 + int64_t(random() % 30), 1 + int64_t(random() % 100)});
    }
    Timeline timeline(problem);
    std::vector<int64_t> load(200, 0); // from time -50 on
    for (const Buffer &buffer : problem.buffers)
      for (int64_t time = buffer.lower; time < buffer.upper; ++time)
        load[size_t(time + 50)] += buffer.sizeBytes;
    EXPECT_EQ(timeline.peakLoad, *std::max_element(load.begin(), load.end()));
    std::vector<int64_t> peaks = timeline.peakLoads();
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer &buffer = problem.buffers[i];
      EXPECT_EQ(peaks[i], *std::max_element(load.begin() + buffer.lower + 50,
                                            load.begin() + buffer.upper + 50));
    }
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Buffer &a = problem.buffers[i], &b = problem.buffers[j];
        const Stretch &x = timeline.stretches(int64_t(i))[0],
                      &y = timeline.stretches(int64_t(j))[0];
        ASSERT_EQ(a.lower < b.upper && b.lower < a.upper, x.first < y.last && y.first < x.last);
      }
  }
}

TEST(ArenaTimeline, OffsetsAreCountedInWhatAlignmentsAllow) {
  auto unit = [](int64_t bytes, std::vector<int64_t> alignments) {
    Problem problem;
    for (int64_t alignment : alignments)
      problem.buffers.push_back({int64_t(problem.buffers.size()), 0, 1, bytes, alignment});
    return placingUnit(problem, bytes);
  };
  EXPECT_EQ(unit(1024, {1, 64, 1024}), 1024); // each divides it
  EXPECT_EQ(unit(64, {1, 256, 64}), 64);      // or is a multiple
  EXPECT_EQ(unit(96, {64}), 32);
  // 48 divides 96, but is no multiple of the 32 that 64 leaves: 16.
  EXPECT_EQ(unit(96, {48, 64}), 16);
  EXPECT_EQ(unit(96, {64, 48}), 16);
  EXPECT_EQ(unit(12, {8, 3}), 1); // 4 is no multiple of 3, nor 3 of 4
}

} // namespace
