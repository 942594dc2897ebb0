//===- RunListsTest.cpp - sorted runs in one block of memory -------------===//
#include "RunLists.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace zero::planning::arena;

namespace {

TEST(RunLists, AWordOf48BitsHoldsWhatItWasGiven) {
  for (int64_t value : {int64_t(0), int64_t(1), int64_t(0xffff), int64_t(0x10000),
                        int64_t(0x123456789abc), (int64_t(1) << 48) - 1})
    EXPECT_EQ(int64_t(Word48(value)), value);
  EXPECT_EQ(sizeof(zero::planning::arena::Run<Word48>), 12u);
}

/// Lists that grow and shrink in any order hold what vectors hold.
template <typename Word> void holdWhatVectorsHold() {
  constexpr size_t kCount = 3000;
  std::mt19937 random(5);
  RunLists<Word> lists;
  lists.resize(kCount);
  for (size_t list = 0; list < kCount; list += 2)
    lists.open(list);
  std::vector<std::vector<std::pair<int64_t, int64_t>>> expected(kCount);
  for (int again = 0; again < 2; ++again) {
    for (int step = 0; step < 150'000; ++step) {
      // Half of them stay short, a few grow to hundreds: rooms of all sizes are left behind.
      size_t list = random() % kCount / (1 + random() % 40) / 2 * 2;
      if (random() % 8 == 0) {
        size_t runs = random() % (std::min<size_t>(expected[list].size(), 8) + 1);
        lists.shorten(list, runs);
        expected[list].resize(expected[list].size() - runs);
        continue;
      }
      int64_t begin = random() % 60000, end = begin + 1 + random() % 5000;
      lists.lengthen(list);
      *(lists.end(list) - 1) = {Word(begin), Word(end)};
      expected[list].emplace_back(begin, end);
    }
    size_t held = 0;
    for (size_t list = 0; list < kCount; ++list) {
      ASSERT_EQ(lists.isOpen(list), list % 2 == 0);
      ASSERT_EQ(lists.size(list), expected[list].size());
      for (size_t i = 0; i < expected[list].size(); ++i) {
        ASSERT_EQ(int64_t(lists.begin(list)[i].begin), expected[list][i].first) << list;
        ASSERT_EQ(int64_t(lists.begin(list)[i].end), expected[list][i].second) << list;
      }
      held += expected[list].size();
      expected[list].clear();
    }
    EXPECT_GT(held, 30'000u);
    lists.clear();
    for (size_t list = 0; list < kCount; ++list)
      ASSERT_EQ(lists.size(list), 0u);
  }
}

TEST(RunLists, ListsHoldWhatVectorsHold) {
  holdWhatVectorsHold<uint16_t>();
  holdWhatVectorsHold<uint32_t>();
  holdWhatVectorsHold<Word48>();
  holdWhatVectorsHold<int64_t>();
}

TEST(RunLists, TheBlockIsLittleMoreThanItsRuns) {
  // 20,000 lists grow together to 30 runs, which is a room of 32, through rooms for 2 to 8, 10, 12,
  // 14, 16, 20, 24 and 28. Kept where they were left these would be 191 runs a list and not 32;
  // more than a sixteenth, and 4096, is never vacant before a room is claimed.
  constexpr size_t kCount = 20'000;
  RunLists<uint32_t> lists;
  lists.resize(kCount);
  for (size_t list = 0; list < kCount; ++list)
    lists.open(list);
  for (uint32_t run = 0; run < 30; ++run)
    for (size_t list = 0; list < kCount; ++list) {
      lists.lengthen(list);
      *(lists.end(list) - 1) = {run, run + 1};
    }
  EXPECT_GE(lists.runsOfBlock(), kCount * 32);
  EXPECT_LE(lists.runsOfBlock(), kCount * 32 * 16 / 15 + 2 * 4096);
  // A cleared block of this size is given back.
  lists.clear();
  EXPECT_EQ(lists.runsOfBlock(), 0u);
}

} // namespace
