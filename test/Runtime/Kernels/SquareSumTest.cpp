// The exact sum of squares: right to the last bit, and the same at every cut (N4).
#include "TestSupport.h"

#include <algorithm>
#include <map>

using namespace zrt;
using namespace zrt::test;

namespace {

bool same(const SquareSum &a, const SquareSum &b) {
  return std::memcmp(a.limbs, b.limbs, sizeof(a.limbs)) == 0 && a.nonFinite == b.nonFinite;
}

TEST(SquareSum, N4_HandComputed) {
  SquareSum sum;
  EXPECT_EQ(sum.sum(), 0.0);
  // 9 + 16 = 25
  float two[] = {3.0f, -4.0f};
  sum.add(two, ElementType::f32, 2);
  EXPECT_EQ(sum.sum(), 25.0);
  // The least denormal squared is 2^-298, unit of limb 0.
  SquareSum least;
  float denormal[] = {0x1p-149f};
  least.add(denormal, ElementType::f32, 1);
  EXPECT_EQ(least.limbs[0], 1u);
  EXPECT_EQ(least.sum(), 0x1p-298);
  // The greatest float, (2 − 2^-23)·2^127: its square has 48 bits, exact in f64.
  SquareSum greatest;
  float most[] = {std::numeric_limits<float>::max()};
  greatest.add(most, ElementType::f32, 1);
  EXPECT_EQ(greatest.sum(), double(most[0]) * double(most[0]));
}

TEST(SquareSum, N4_RoundsOnceTiesToEven) {
  // 1 + 2^-53 = (2^-26.5)² isn't a square of floats, but 1 + 2·2^-54 is 1 + 2^-53: a tie, to 1.
  SquareSum tie;
  float values[] = {1.0f, 0x1p-27f, 0x1p-27f};
  tie.add(values, ElementType::f32, 3);
  EXPECT_EQ(tie.sum(), 1.0);
  // Anything more goes up to 1 + 2^-52, however small.
  float speck[] = {0x1p-149f};
  tie.add(speck, ElementType::f32, 1);
  EXPECT_EQ(tie.sum(), 1.0 + 0x1p-52);
  // (1 + 2^-52) + 2^-53 is a tie whose even neighbour is above: 1 + 2^-51.
  SquareSum odd;
  float up[] = {1.0f, 0x1p-26f, 0x1p-27f, 0x1p-27f};
  odd.add(up, ElementType::f32, 4);
  EXPECT_EQ(odd.sum(), 1.0 + 0x1p-51);
}

TEST(SquareSum, N4_TenMillionWithOneLarge) {
  std::vector<float> values(10000000, 1e-4f);
  values[1234567] = 1.0f;
  SquareSum sum;
  sum.add(values.data(), ElementType::f32, int64_t(values.size()));
  // float(1e-4)² has 48 bits; times 9,999,999 (24 bits) and plus 1 it fits 113 bits.
  __float128 small = __float128(1e-4f) * 1e-4f;
  EXPECT_EQ(sum.sum(), double(small * 9999999 + 1));
  // Any cut gives the same limbs.
  for (int64_t cut : {1, 65535, 65537, 4999999}) {
    SquareSum head, tail;
    tail.add(values.data() + cut, ElementType::f32, int64_t(values.size()) - cut);
    head.add(values.data(), ElementType::f32, cut);
    head.merge(tail);
    EXPECT_TRUE(same(head, sum)) << cut;
  }
}

TEST(SquareSum, N4_WideSpreadInAnyOrder) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(-30.0, 30.0);
  std::vector<float> values(200001);
  for (float &x : values)
    x = float(std::pow(10.0, exponent(random)) * (random() % 2 ? 1 : -1));
  SquareSum sum;
  sum.add(values.data(), ElementType::f32, int64_t(values.size()));
  // Sorted from small to large, 113 bits of __float128 lose nothing that f64 could show.
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end(),
            [](float a, float b) { return std::abs(a) < std::abs(b); });
  __float128 truth = 0;
  for (float x : sorted)
    truth += __float128(x) * x;
  EXPECT_EQ(sum.sum(), double(truth));
  SquareSum other;
  other.add(sorted.data(), ElementType::f32, int64_t(sorted.size()));
  EXPECT_TRUE(same(sum, other));
  SquareSum pieces;
  for (int64_t at = 0; at < int64_t(values.size());) {
    int64_t count = std::min<int64_t>(int64_t(random() % 5000), int64_t(values.size()) - at);
    SquareSum piece;
    piece.add(values.data() + at, ElementType::f32, count);
    pieces.merge(piece);
    at += count;
  }
  EXPECT_TRUE(same(sum, pieces));
}

TEST(SquareSum, N4_ManyEqualMantissasDoNotOverflowABin) {
  // 2^24 − 1 squared is the largest bin entry; 300,000 of them pass 2^64 in one bin.
  std::vector<float> values(300000, 16777215.0f);
  SquareSum sum;
  sum.add(values.data(), ElementType::f32, int64_t(values.size()));
  __float128 truth = __float128(16777215.0f) * 16777215.0f * 300000;
  EXPECT_EQ(sum.sum(), double(truth));
}

TEST(SquareSum, N4_SixteenBitsAreExact) {
  // bf16 3 and −2^-133, the least: 9 + 2^-266, which f64 can't hold but the limbs do.
  const uint16_t bf16[] = {0x4040, 0x8001};
  SquareSum sum;
  sum.add(bf16, ElementType::bf16, 2);
  float same3[] = {3.0f, -0x1p-133f};
  SquareSum floats;
  floats.add(same3, ElementType::f32, 2);
  EXPECT_TRUE(same(sum, floats));
  EXPECT_EQ(sum.sum(), 9.0);
  // f16: 2^-24, the least, has the square 2^-48; 65504² = 4290774016.
  const uint16_t f16[] = {0x0001, 0xfbff};
  SquareSum halves;
  halves.add(f16, ElementType::f16, 2);
  EXPECT_EQ(halves.sum(), 4290774016.0);
  SquareSum least;
  least.add(f16, ElementType::f16, 1);
  EXPECT_EQ(least.sum(), 0x1p-48);
  // inf and NaN of either type.
  const uint16_t strange[] = {0x7c00, 0xfe00, 0x7f80, 0xffc0};
  SquareSum infinite;
  infinite.add(strange, ElementType::f16, 2);
  infinite.add(strange + 2, ElementType::bf16, 2);
  EXPECT_EQ(infinite.nonFinite, 4);
}

TEST(SquareSum, N4_AllValuesOfSixteenBits) {
  for (ElementType type : {ElementType::bf16, ElementType::f16}) {
    std::vector<uint16_t> all(65536);
    std::vector<float> floats(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = uint16_t(i);
      floats[i] = type == ElementType::bf16 ? bf16ToFloat(all[i]) : f16ToFloat(all[i]);
    }
    SquareSum expected, sum;
    expected.add(floats.data(), ElementType::f32, 65536);
    sum.add(all.data(), type, 30001);
    sum.add(all.data() + 30001, type, 65536 - 30001);
    EXPECT_TRUE(same(sum, expected));
  }
}

TEST(SquareSum, NonFiniteIsCounted) {
  std::vector<float> values(100, 1.0f);
  values[3] = std::numeric_limits<float>::infinity();
  values[97] = std::nanf("");
  SquareSum sum;
  sum.add(values.data(), ElementType::f32, 50);
  sum.add(values.data() + 50, ElementType::f32, 50);
  EXPECT_EQ(sum.nonFinite, 2);
  EXPECT_FALSE(sum.finite());
  EXPECT_FALSE(std::isfinite(sum.sum()));
  sum.clear();
  EXPECT_TRUE(sum.finite());
}

} // namespace
