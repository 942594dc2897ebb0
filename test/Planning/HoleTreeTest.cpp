//===- HoleTreeTest.cpp - which bytes are taken, by time -----------------===//
#include "HoleTree.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace zero::planning::arena;

namespace {

using Fit = HoleTree::Fit;

struct Taken {
  Stretch stretch;
  int64_t begin, end;
};

/// The hole by looking at everything that was ever taken: all that meets `stretch`, sorted.
int64_t holeByHand(const std::vector<Taken> &all, const Stretch &stretch, int64_t size,
                   int64_t alignment, Fit fit) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const Taken &one : all)
    if (one.stretch.first < stretch.last && stretch.first < one.stretch.last)
      taken.emplace_back(one.begin, one.end);
  std::sort(taken.begin(), taken.end());
  int64_t position = 0, best = -1, bestHole = INT64_MAX;
  for (auto [begin, end] : taken) {
    int64_t aligned = (position + alignment - 1) / alignment * alignment;
    if (begin - aligned >= size) {
      if (fit == Fit::Lowest)
        return aligned;
      if (begin - position < bestHole) {
        bestHole = begin - position;
        best = aligned;
      }
    }
    position = std::max(position, end);
  }
  return best >= 0 ? best : (position + alignment - 1) / alignment * alignment;
}

TEST(HoleTree, HolesAreThoseFoundByHand) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const int32_t sections = 1 + int32_t(random() % 300);
    const int32_t longest = 1 + int32_t(random() % uint32_t(sections));
    // 120 buffers of at most 40 units, aligned to 4, end below 120 · 44 = 5280 of them: in words
    // of 16, 32, 48 and 64 bits. The highest sum is 5280 · 2^49 < 2^62.
    const int64_t scale = int64_t(1) << std::array{0, 17, 34, 49}[round % 4];
    const int64_t top = 5280 * scale;
    std::vector<Stretch> stretches;
    for (int i = 0; i < 120; ++i) {
      int32_t first = int32_t(random() % uint32_t(sections));
      int32_t last = std::min(sections, first + 1 + int32_t(random() % uint32_t(longest)));
      stretches.push_back({first, last});
    }
    std::unique_ptr<HoleTree> tree = makeHoleTree(sections, stretches, top);
    EXPECT_EQ(tree->top(),
              (std::array<int64_t, 4>{0xfffe, 0xfffffffe, 0xfffffffffffe, INT64_MAX}[round % 4]));
    for (int again = 0; again < 2; ++again) { // a cleared tree is as good as a new one
      tree->clear();
      std::vector<Taken> all;
      for (const Stretch &stretch : stretches) {
        int64_t size = scale * int64_t(1 + random() % 40), alignment = scale << (random() % 3);
        Fit fit = random() % 2 ? Fit::Lowest : Fit::Smallest;
        int64_t expected = holeByHand(all, stretch, size, alignment, fit);
        std::span<const Stretch> life(&stretch, 1);
        // One unit less than needed is not enough where the place is the only one.
        if (fit == Fit::Lowest)
          EXPECT_EQ(tree->find(life, size, alignment, expected + size - 1, fit), std::nullopt);
        ASSERT_EQ(tree->find(life, size, alignment, HoleTree::kAllHoles, fit), expected)
            << "round " << round << ", buffer " << all.size();
        tree->take(life, expected, expected + size);
        all.push_back({stretch, expected, expected + size});
      }
    }
  }
}

TEST(HoleTree, AStretchInTwoPartsNeedsBothFree) {
  // [0, 1) has 0–4 taken and [2, 3) has 4–8: 2 units in both lie at 8, and in [1, 2) at 0.
  std::vector<Stretch> stretches = {{0, 1}, {2, 3}, {1, 2}};
  std::unique_ptr<HoleTree> tree = makeHoleTree(3, stretches, /*top=*/100);
  std::span<const Stretch> all(stretches);
  tree->take(all.subspan(0, 1), 0, 4);
  tree->take(all.subspan(1, 1), 4, 8);
  EXPECT_EQ(tree->find(all.subspan(0, 2), 2, 1, 100, Fit::Lowest), 8);
  EXPECT_EQ(tree->find(all.subspan(0, 1), 2, 1, 100, Fit::Lowest), 4);
  EXPECT_EQ(tree->find(all.subspan(2, 1), 2, 1, 100, Fit::Lowest), 0);
  EXPECT_EQ(tree->find(all.subspan(0, 2), 2, 1, 9, Fit::Lowest), std::nullopt);
}

} // namespace
