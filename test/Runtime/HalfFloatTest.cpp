//===- HalfFloatTest.cpp - bf16 and f16 as f32, and back ------------------===//

#include "zero/Runtime/HalfFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace zrt;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float fromBits(uint32_t bits) { return std::bit_cast<float>(bits); }

TEST(HalfFloat, KnownValues) {
  // bf16: 8 bits of exponent, 7 of fraction; f16: 5 and 10.
  EXPECT_EQ(bf16ToFloat(0x3f80), 1.0f);
  EXPECT_EQ(bf16ToFloat(0x4049), 3.140625f); // 0x40490000, the upper half of π
  EXPECT_EQ(bf16ToFloat(0xff80), -kInf);
  EXPECT_EQ(f16ToFloat(0x3c00), 1.0f);
  EXPECT_EQ(f16ToFloat(0xc000), -2.0f);
  EXPECT_EQ(f16ToFloat(0x7bff), 65504.0f);            // (2 − 2^-10)·2^15
  EXPECT_EQ(f16ToFloat(0x0400), 0x1p-14f);            // least normal
  EXPECT_EQ(f16ToFloat(0x03ff), 0x1p-14f - 0x1p-24f); // greatest denormal
  EXPECT_EQ(f16ToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(f16ToFloat(0xfc00), -kInf);
  EXPECT_TRUE(std::signbit(f16ToFloat(0x8000)));
}

TEST(HalfFloat, EveryValueOf16BitsComesBack) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float asBf16 = bf16ToFloat(uint16_t(bits)), asF16 = f16ToFloat(uint16_t(bits));
    if (std::isnan(asBf16)) {
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(asBf16)))) << bits;
    } else {
      EXPECT_EQ(floatToBf16(asBf16), bits);
    }
    if (std::isnan(asF16)) {
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(asF16)))) << bits;
    } else {
      EXPECT_EQ(floatToF16(asF16), bits);
    }
  }
}

TEST(HalfFloat, RoundsToNearestTiesToEven) {
  // Around 1: bf16 steps by 2^-7, f16 by 2^-10. Halves go to the even neighbour.
  EXPECT_EQ(floatToBf16(1.0f + 0x1p-8f), 0x3f80);            // tie between 1 and 1 + 2^-7
  EXPECT_EQ(floatToBf16(1.0f + 3 * 0x1p-8f), 0x3f82);        // tie, up
  EXPECT_EQ(floatToBf16(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81); // beyond the tie
  EXPECT_EQ(floatToF16(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(floatToF16(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(floatToF16(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);
  // Denormals of f16 step by 2^-24.
  EXPECT_EQ(floatToF16(0x1p-25f), 0x0000);
  EXPECT_EQ(floatToF16(3 * 0x1p-25f), 0x0002);
  EXPECT_EQ(floatToF16(-0x1p-25f - 0x1p-40f), 0x8001);
  EXPECT_EQ(floatToF16(0x1p-14f - 0x1p-26f), 0x0400); // up into the normal range
}

TEST(HalfFloat, OverflowIsInfinityAndNaNStays) {
  EXPECT_EQ(floatToF16(65519.0f), 0x7bff); // below the midpoint 65520
  EXPECT_EQ(floatToF16(65520.0f), 0x7c00);
  EXPECT_EQ(floatToF16(-1e30f), 0xfc00);
  EXPECT_EQ(floatToBf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(floatToBf16(-kInf), 0xff80);
  // A NaN whose payload lies in the bits that are cut off must not become an infinity.
  EXPECT_EQ(floatToBf16(fromBits(0x7f800001)), 0x7fc0);
  EXPECT_EQ(floatToF16(fromBits(0xff800001)), 0xfe00);
  EXPECT_EQ(floatToBf16(fromBits(0x7fffffff)), 0x7fff);
}

TEST(HalfFloat, RoundingPicksTheNearerNeighbour) {
  // Against the definition, for floats between all pairs of f16 neighbours.
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    double a = f16ToFloat(low), b = f16ToFloat(uint16_t(low + 1));
    for (double part : {0.25, 0.5, 0.75}) {
      uint16_t expected = part < 0.5 || (part == 0.5 && low % 2 == 0) ? low : uint16_t(low + 1);
      EXPECT_EQ(floatToF16(float(a + part * (b - a))), expected) << low << " + " << part;
    }
  }
}

} // namespace
