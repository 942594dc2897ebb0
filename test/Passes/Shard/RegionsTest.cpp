//===- RegionsTest.cpp - how long a gathered bucket stays (C1) ----------------===//

#include "Regions.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace zero {
namespace {

using Numbers = std::vector<std::vector<int64_t>>;

constexpr int64_t kAll = -1;

/// Readers of one bucket each.
std::vector<BucketReader> readersOf(std::initializer_list<int64_t> buckets) {
  std::vector<BucketReader> readers;
  for (int64_t bucket : buckets)
    readers.push_back({{bucket}, false, 0});
  return readers;
}

std::vector<BucketReader> repeating(std::vector<BucketReader> readers,
                                    std::initializer_list<size_t> places) {
  for (size_t place : places)
    readers[place].repeats = true;
  return readers;
}

size_t countOf(const Numbers &numbers) {
  std::set<int64_t> known;
  for (const auto &reader : numbers)
    known.insert(reader.begin(), reader.end());
  return known.size();
}

// Without repetitions, a run that reads a bucket ends where another one is read and not this one.
TEST(Regions, RunsOfReaders) {
  int64_t bytes[] = {8, 8};
  EXPECT_EQ(regionsOf(readersOf({0, 0, 1, 0}), bytes, kAll), (Numbers{{0}, {0}, {1}, {2}}));
  std::vector<BucketReader> both = readersOf({0, 0, 1});
  both[1].buckets = {1, 0};
  EXPECT_EQ(regionsOf(both, bytes, kAll), (Numbers{{0}, {1, 0}, {1}}));
}

// Forward reads 0 and 1, backward 1 and 0, and repeats a reader of 0 and one of 1 before: 0's waits
// for backward's own, and 1 has been there since forward. Three gathers, as without repetitions.
TEST(Regions, C1_RepetitionsReadBackwardsGathers) {
  int64_t bytes[] = {8, 8};
  auto readers = readersOf({0, 1, 1, 0, 1, 0});
  EXPECT_EQ(countOf(regionsOf(readers, bytes, kAll)), 5u); // 0, 1, 0, 1, 0 where none repeats
  readers = repeating(readers, {3, 4});                    // 0 1 | 1 0' 1' 0
  EXPECT_EQ(regionsOf(readers, bytes, kAll), (Numbers{{0}, {1}, {1}, {2}, {3}, {2}}));
}

// What backward itself does not read is gathered for the repetition, once a run.
TEST(Regions, RepetitionsThatBackwardDoesNotNeed) {
  int64_t bytes[] = {8, 8};
  auto readers = repeating(readersOf({0, 1, 0, 0, 1}), {2, 3});
  EXPECT_EQ(regionsOf(readers, bytes, kAll), (Numbers{{0}, {1}, {2}, {2}, {1}}));
}

// Two buckets of 8 bytes wait while a third is read: at 16 bytes both stay, at 15 the one goes that
// is read last, 0, and at 7 the other one too. Activations count where something is held.
TEST(Regions, BoundsWhatIsHeld) {
  int64_t bytes[] = {8, 8, 8};
  auto readers = repeating(readersOf({0, 1, 2, 1, 0}), {0, 1});
  EXPECT_EQ(countOf(regionsOf(readers, bytes, kAll)), 3u);
  EXPECT_EQ(countOf(regionsOf(readers, bytes, 16)), 3u);
  Numbers one = regionsOf(readers, bytes, 15), none = regionsOf(readers, bytes, 7);
  EXPECT_EQ(one[1], one[3]);
  EXPECT_NE(one[0], one[4]);
  EXPECT_NE(none[1], none[3]);
  EXPECT_NE(none[0], none[4]);
  readers[2].liveBytes = 3;
  EXPECT_EQ(regionsOf(readers, bytes, 18), one);
  EXPECT_EQ(countOf(regionsOf(readers, bytes, 19)), 3u);
}

/// Bytes that wait while a reader runs: of regions with readers before and behind that it does not
/// read.
int64_t heldAt(const std::vector<BucketReader> &readers, const Numbers &numbers,
               const std::vector<int64_t> &bytes, size_t at) {
  std::set<std::pair<int64_t, int64_t>> before, held; // region and bucket
  for (size_t i = 0; i < readers.size(); ++i)
    for (size_t k = 0; k < numbers[i].size(); ++k) {
      std::pair<int64_t, int64_t> read(numbers[i][k], readers[i].buckets[k]);
      if (i < at)
        before.insert(read);
      if (i > at && before.count(read))
        held.insert(read);
    }
  for (size_t k = 0; k < numbers[at].size(); ++k)
    held.erase({numbers[at][k], readers[at].buckets[k]});
  int64_t sum = 0;
  for (auto [region, bucket] : held)
    sum += bytes[bucket];
  return sum;
}

std::vector<BucketReader> withoutRepetitions(std::vector<BucketReader> readers) {
  std::erase_if(readers, [](const BucketReader &reader) { return reader.repeats; });
  return readers;
}

/// The rule of runs over all readers alike, in as many words.
Numbers runsOf(const std::vector<BucketReader> &readers) {
  Numbers numbers(readers.size());
  int64_t count = 0;
  for (size_t i = 0; i < readers.size(); ++i)
    for (int64_t bucket : readers[i].buckets) {
      int64_t number = -1;
      for (size_t k = 0; i > 0 && k < readers[i - 1].buckets.size(); ++k)
        if (readers[i - 1].buckets[k] == bucket)
          number = numbers[i - 1][k];
      numbers[i].push_back(number < 0 ? count++ : number);
    }
  return numbers;
}

// Random readers: one bucket a region; with any bound, what is held obeys it; with none, gathers
// are those without repetitions and one more at most for a repetition that nothing of backward
// follows; at 0, the plain runs, and nothing waits.
TEST(Regions, C1_RandomReaders) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> bytes(1 + random() % 5);
    for (int64_t &size : bytes)
      size = 1 + static_cast<int64_t>(random() % 9);
    std::vector<BucketReader> readers(1 + random() % 14);
    for (BucketReader &reader : readers) {
      for (int64_t bucket = 0; bucket < static_cast<int64_t>(bytes.size()); ++bucket)
        if (random() % 3 == 0)
          reader.buckets.push_back(bucket);
      if (reader.buckets.empty())
        reader.buckets.push_back(static_cast<int64_t>(random() % bytes.size()));
      std::shuffle(reader.buckets.begin(), reader.buckets.end(), random);
      reader.repeats = random() % 3 == 0;
      reader.liveBytes = static_cast<int64_t>(random() % 9);
    }
    size_t alone = 0; // reads of a repetition whose bucket no later launch of backward reads
    for (size_t i = 0; i < readers.size(); ++i)
      for (int64_t bucket : readers[i].buckets) {
        bool isNeeded = !readers[i].repeats;
        for (size_t k = i + 1; k < readers.size() && !isNeeded; ++k)
          isNeeded = !readers[k].repeats &&
                     std::count(readers[k].buckets.begin(), readers[k].buckets.end(), bucket);
        alone += !isNeeded;
      }
    Numbers all = regionsOf(readers, bytes, kAll);
    EXPECT_LE(countOf(all), countOf(runsOf(withoutRepetitions(readers))) + alone);
    for (int64_t most : {int64_t(0), int64_t(4), int64_t(12), kAll}) {
      Numbers numbers = regionsOf(readers, bytes, most);
      EXPECT_GE(countOf(numbers), countOf(all));
      std::map<int64_t, int64_t> buckets; // by region
      for (size_t i = 0; i < readers.size(); ++i) {
        ASSERT_EQ(numbers[i].size(), readers[i].buckets.size());
        for (size_t k = 0; k < numbers[i].size(); ++k)
          EXPECT_EQ(buckets.emplace(numbers[i][k], readers[i].buckets[k]).first->second,
                    readers[i].buckets[k]);
        int64_t held = heldAt(readers, numbers, bytes, i);
        EXPECT_TRUE(most < 0 || held == 0 || held + readers[i].liveBytes <= most) << round;
      }
    }
    std::vector<BucketReader> idle = readers;
    for (BucketReader &reader : idle)
      reader.liveBytes = 0;
    EXPECT_EQ(countOf(regionsOf(idle, bytes, 0)), countOf(runsOf(readers)));
  }
}

} // namespace
} // namespace zero
