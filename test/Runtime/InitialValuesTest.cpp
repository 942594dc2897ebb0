//===- InitialValuesTest.cpp - initial weights from a seed ----------------===//

#include "zero/Runtime/InitialValues.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zrt;

namespace {

std::vector<float> values(const Slot &slot, uint64_t seed, int64_t begin, int64_t count) {
  std::vector<float> result(static_cast<size_t>(count));
  fillInitialValues(slot, seed, begin, count, result.data());
  return result;
}

TEST(InitialValues, PhiloxKnownAnswers) {
  // The three vectors for philox4x32 with 10 rounds in Random123's kat_vectors.
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(InitialValues, APieceHoldsTheBitsOfTheWhole) {
  for (InitKind kind : {InitKind::Normal, InitKind::Uniform}) {
    Slot slot{"h.0.attn", {37}, 0, 37, false, -1, kind, 0.02};
    std::vector<float> whole = values(slot, 7, 0, 37);
    for (int64_t begin = 0; begin < 37; ++begin)
      for (int64_t count : {int64_t(1), int64_t(3), 37 - begin}) {
        if (begin + count > 37)
          continue;
        std::vector<float> expected(whole.begin() + begin, whole.begin() + begin + count);
        EXPECT_EQ(values(slot, 7, begin, count), expected);
      }
  }
}

TEST(InitialValues, DependOnSeedAndName) {
  Slot first{"a", {8}, 0, 8, false, -1, InitKind::Normal, 1.0}, second = first;
  second.parameter = "b";
  EXPECT_NE(values(first, 0, 0, 8), values(second, 0, 0, 8));
  EXPECT_NE(values(first, 0, 0, 8), values(first, 1, 0, 8));
  EXPECT_NE(values(first, 0, 0, 8), values(first, uint64_t(1) << 32, 0, 8));
  second.beginElement = 64; // where it lies does not matter
  second.parameter = "a";
  EXPECT_EQ(values(first, 3, 0, 8), values(second, 3, 0, 8));
}

TEST(InitialValues, NormalAndUniformHaveTheirMoments) {
  // 40000 draws: the mean's deviation is σ/200, so 5 of them are 0.025 σ; the variance's is
  // σ²·√(2/40000) ≈ 0.007 σ² for the normal.
  constexpr int64_t kCount = 40000;
  auto moments = [&](InitKind kind) {
    Slot slot{"w", {kCount}, 0, kCount, false, -1, kind, 2.0};
    double sum = 0, squares = 0, largest = 0;
    for (float value : values(slot, 1, 0, kCount)) {
      sum += value;
      squares += double(value) * value;
      largest = std::max(largest, std::abs(double(value)));
    }
    return std::array<double, 3>{sum / kCount, squares / kCount, largest};
  };
  auto [normalMean, normalVariance, normalLargest] = moments(InitKind::Normal);
  EXPECT_NEAR(normalMean, 0.0, 0.05);
  EXPECT_NEAR(normalVariance, 4.0, 0.15);
  EXPECT_GT(normalLargest, 7.0); // beyond 3.5 σ once in 2150 draws
  auto [uniformMean, uniformVariance, uniformLargest] = moments(InitKind::Uniform);
  EXPECT_NEAR(uniformMean, 0.0, 0.03);
  EXPECT_NEAR(uniformVariance, 4.0 / 3.0, 0.05); // a²/3
  EXPECT_LT(uniformLargest, 2.0);
}

// Row 1 of [3, 4] is elements 4 to 7, however the parameter is cut; the others are as without it.
TEST(InitialValues, AZeroRow) {
  Slot slot{"w", {3, 4}, 0, 12, false, -1, InitKind::Normal, 1.0};
  std::vector<float> want = values(slot, 9, 0, 12);
  std::fill(want.begin() + 4, want.begin() + 8, 0.0f);
  slot.zeroRow = 1;
  EXPECT_EQ(values(slot, 9, 0, 12), want);
  for (int64_t begin : {0, 3, 5, 7, 8})
    for (int64_t count : {1, 4})
      EXPECT_EQ(values(slot, 9, begin, count),
                std::vector<float>(want.begin() + begin, want.begin() + begin + count))
          << "from " << begin << ", " << count;
}

TEST(InitialValues, ConstantKinds) {
  Slot slot{"w", {3}, 0, 3, false, -1, InitKind::Constant, 0.1};
  EXPECT_EQ(values(slot, 9, 0, 3), std::vector<float>(3, 0.1f));
  slot.init = InitKind::Ones;
  EXPECT_EQ(values(slot, 9, 0, 3), std::vector<float>(3, 1.0f));
  slot.init = InitKind::Zeros;
  EXPECT_EQ(values(slot, 9, 0, 3), std::vector<float>(3, 0.0f));
}

} // namespace
