#include "zero/Training/Permutation.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace zero::training {
namespace {

std::vector<uint64_t> images(uint64_t n, uint64_t key) {
  Permutation permutation(n, key);
  std::vector<uint64_t> result;
  for (uint64_t i = 0; i < n; ++i)
    result.push_back(permutation(i));
  return result;
}

// Sizes around powers of two and of four, where the walk is shortest and longest.
TEST(Permutation, HitsEachNumberOnce) {
  for (uint64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4096, 4097}) {
    std::vector<uint64_t> all = images(n, 7 * n);
    std::set<uint64_t> distinct(all.begin(), all.end());
    EXPECT_EQ(distinct.size(), n);
    EXPECT_EQ(*distinct.rbegin(), n - 1);
  }
}

TEST(Permutation, DependsOnTheKeyAlone) {
  EXPECT_EQ(images(1000, 1), images(1000, 1));
  EXPECT_NE(images(1000, 1), images(1000, 2));
}

// For a random permutation of 1000 numbers the mean distance |p(i) - i| is n/3 = 333, with a
// standard deviation of about 7.5; and one fixed point is expected, more than 8 in one of 100,000
// draws.
TEST(Permutation, Shuffles) {
  for (uint64_t key = 0; key < 20; ++key) {
    std::vector<uint64_t> all = images(1000, key);
    double distance = 0;
    int fixed = 0;
    for (uint64_t i = 0; i < all.size(); ++i) {
      distance += all[i] > i ? all[i] - i : i - all[i];
      fixed += all[i] == i;
    }
    EXPECT_NEAR(distance / 1000, 333, 40);
    EXPECT_LE(fixed, 8);
  }
}

TEST(Permutation, LargeDomain) {
  uint64_t n = (uint64_t(1) << 61) + 12345;
  Permutation permutation(n, 3);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 1000; ++i) {
    uint64_t image = permutation(i * (n / 1000));
    EXPECT_LT(image, n);
    seen.insert(image);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

} // namespace
} // namespace zero::training
