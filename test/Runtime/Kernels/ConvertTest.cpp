// Values of 16 bits as all kernels load and store them: every one of them, and the bits of
// HalfFloat.h on each instruction set.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

uint16_t narrowed(ElementType type, float x) {
  return type == ElementType::bf16 ? floatToBf16(x) : floatToF16(x);
}

std::vector<uint16_t> narrowedBy(InstructionSet set, ElementType type,
                                 const std::vector<float> &values) {
  std::vector<uint16_t> result(values.size());
  tableOf(set).fromFloats(type, values.data(), result.data(), int64_t(values.size()));
  return result;
}

TEST(Convert, TiesAndLimitsByHand) {
  const float inf = std::numeric_limits<float>::infinity();
  struct Case {
    ElementType type;
    float value;
    uint16_t bits;
  };
  const Case cases[] = {
      // bf16 has 7 bits behind the point: at 1 the step is 2^-7, so 1 + 2^-8 and 1 + 3·2^-8 are
      // ties, which go to the even 1 and 1 + 2·2^-7.
      {ElementType::bf16, 1.0f + 0x1p-8f, 0x3f80},
      {ElementType::bf16, 1.0f + 0x3p-8f, 0x3f82},
      {ElementType::bf16, 1.0f + 0x1p-8f + 0x1p-23f, 0x3f81},
      // The greatest bf16 is 2^128 − 2^120; from its half step on, 2^128 − 2^119, all is inf.
      {ElementType::bf16, 0x1.fep127f, 0x7f7f},
      {ElementType::bf16, 0x1.fefffep127f, 0x7f7f},
      {ElementType::bf16, -0x1.ffp127f, 0xff80},
      // Denormal: 2^-133 is the least, half of it a tie to 0.
      {ElementType::bf16, 0x1p-133f, 0x0001},
      {ElementType::bf16, -0x1p-134f, 0x8000},
      {ElementType::bf16, 0x3p-134f, 0x0002},
      // f16 has 10 bits behind the point.
      {ElementType::f16, 1.0f + 0x1p-11f, 0x3c00},
      {ElementType::f16, 1.0f + 0x3p-11f, 0x3c02},
      // 65504 is the greatest; 65520, half a step of 32 above, is a tie to "65536", which is inf.
      {ElementType::f16, 65504.0f, 0x7bff},
      {ElementType::f16, 65519.996f, 0x7bff},
      {ElementType::f16, 65520.0f, 0x7c00},
      {ElementType::f16, -1e30f, 0xfc00},
      {ElementType::f16, inf, 0x7c00},
      // Denormals are steps of 2^-24 up to the least normal 2^-14.
      {ElementType::f16, 0x1p-24f, 0x0001},
      {ElementType::f16, 0x1p-25f, 0x0000},
      {ElementType::f16, -0x3p-25f, 0x8002},
      {ElementType::f16, 0x1.ffcp-15f, 0x0400},
      {ElementType::f16, 1e-30f, 0x0000},
      {ElementType::f16, -0.0f, 0x8000},
  };
  for (InstructionSet set : instructionSets())
    for (const Case &c : cases)
      // 17, so that both a whole vector and a tail are run.
      for (uint16_t bits : narrowedBy(set, c.type, std::vector<float>(17, c.value)))
        EXPECT_EQ(bits, c.bits) << c.value;
}

TEST(Convert, AllValuesOfSixteenBitsAndBack) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  for (ElementType type : {ElementType::bf16, ElementType::f16})
    for (InstructionSet set : instructionSets()) {
      std::vector<float> floats(all.size());
      tableOf(set).toFloats(type, all.data(), floats.data(), int64_t(all.size()));
      std::vector<uint16_t> back = narrowedBy(set, type, floats);
      for (size_t i = 0; i < all.size(); ++i) {
        float expected = type == ElementType::bf16 ? bf16ToFloat(all[i]) : f16ToFloat(all[i]);
        if (std::isnan(expected)) {
          // Quiet from now on, else the same.
          ASSERT_TRUE(std::isnan(floats[i]));
          ASSERT_EQ(back[i], all[i] | (type == ElementType::bf16 ? 0x40 : 0x200));
          continue;
        }
        ASSERT_EQ(std::memcmp(&floats[i], &expected, 4), 0) << i;
        ASSERT_EQ(back[i], all[i]);
      }
    }
}

TEST(Convert, N0_AllInstructionSetsRoundAlike) {
  // Every 1021st float, and each tie of 16 bits with its neighbours.
  std::vector<float> values;
  auto put = [&](uint64_t bits) { values.push_back(std::bit_cast<float>(uint32_t(bits))); };
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 1021)
    put(bits);
  for (uint64_t head = 0; head < 65536; ++head)
    for (uint64_t tail : {0x7fff, 0x8000, 0x8001})
      put(head << 16 | tail);
  for (uint64_t head = 0x7000; head < 0x8f00; ++head) // f16's exponents, 13 bits cut off
    for (uint64_t tail : {0x0fff, 0x1000, 0x1001})
      put(head << 15 | tail);
  for (ElementType type : {ElementType::bf16, ElementType::f16})
    for (InstructionSet set : instructionSets()) {
      std::vector<uint16_t> got = narrowedBy(set, type, values);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(got[i], narrowed(type, values[i])) << values[i];
    }
}

TEST(Convert, TailsTouchNothingElse) {
  std::mt19937 random(51);
  for (ElementType type : kTypes)
    for (InstructionSet set : instructionSets())
      for (int64_t offset : kOffsets)
        for (size_t count = 0; count <= 33; ++count) {
          std::vector<float> values = rounded(type, randomFloats(count, random));
          Placed from(values, offset, type), floats(std::vector<float>(count), offset),
              to(std::vector<float>(count), offset, type);
          tableOf(set).toFloats(type, from.data(), floats.floats(), int64_t(count));
          EXPECT_TRUE(floats.guardsIntact());
          EXPECT_TRUE(sameBytes(floats.values(), values));
          tableOf(set).fromFloats(type, floats.floats(), to.data(), int64_t(count));
          EXPECT_TRUE(to.guardsIntact());
          EXPECT_TRUE(sameBytes(to.values(), values));
        }
}

} // namespace
