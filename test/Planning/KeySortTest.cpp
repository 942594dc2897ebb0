//===- KeySortTest.cpp - whole keys against the library's sort -----------===//
#include "KeySort.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace zero::planning::arena;

namespace {

template <typename Key> void compare(std::vector<Key> keys) {
  std::vector<Keyed<Key>> entries, spare;
  for (size_t i = 0; i < keys.size(); ++i)
    entries.push_back({keys[i], uint32_t(i)});
  std::vector<Keyed<Key>> expected = entries;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Keyed<Key> &a, const Keyed<Key> &b) { return a.key < b.key; });
  sortByKey(entries, spare);
  ASSERT_EQ(entries.size(), expected.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(entries[i].key, expected[i].key) << i;
    ASSERT_EQ(entries[i].value, expected[i].value) << i; // equal keys stay in their order
  }
}

template <typename Key> void compareAll() {
  std::mt19937_64 random(1);
  for (size_t count : {0, 1, 40, 511, 512, 3000}) {
    // Keys that differ in all bytes, in a few of them, in the highest one, or in none.
    for (Key mask : {Key(~Key(0)), Key(0xff00f0), Key(Key(3) << (8 * sizeof(Key) - 2)), Key(0)}) {
      std::vector<Key> keys(count);
      for (Key &key : keys)
        key = Key(random()) & mask;
      compare(keys);
      std::sort(keys.begin(), keys.end());
      compare(keys);
      std::reverse(keys.begin(), keys.end());
      compare(keys);
    }
  }
}

TEST(KeySort, SortsLikeAStableSort) {
  compareAll<uint32_t>();
  compareAll<uint64_t>();
}

TEST(KeySort, RisingKeysRiseWithTheirNumbers) {
  const int64_t numbers[] = {INT64_MIN, -5, -1, 0, 1, 7, INT64_MAX};
  for (size_t i = 1; i < std::size(numbers); ++i)
    EXPECT_LT(risingKey(numbers[i - 1]), risingKey(numbers[i]));
}

} // namespace
