//===- HalfFloat.h - bf16 and f16 as f32, and back ------------------------===//
//
// Conversions in integer arithmetic: the same bits on every processor, and of a
// shape that compilers vectorise. Widening is exact. Narrowing rounds
// once to nearest, ties to even; denormal values are kept, f16 overflows to
// infinity, and NaN stays NaN: quiet, with the leading bits of its payload.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_HALFFLOAT_H
#define ZERO_RUNTIME_HALFFLOAT_H

#include "zero/Runtime/Program.h"

#include <bit>
#include <cstring>

namespace zrt {

/// bf16 is the upper half of an f32.
inline float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

inline uint16_t floatToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  return uint16_t(nan ? (bits >> 16) | 0x40u : rounded);
}

inline float f16ToFloat(uint16_t bits) {
  uint32_t magnitude = bits & 0x7fffu, sign = uint32_t(bits & 0x8000u) << 16;
  // Exponents are biased by 15 here and by 127 there; infinity and NaN take the largest of each.
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t special = (magnitude << 13) + (224u << 23);
  uint32_t denormal = std::bit_cast<uint32_t>(float(int32_t(magnitude)) * 0x1p-24f);
  uint32_t result = magnitude >= 0x7c00u ? special : magnitude < 0x0400u ? denormal : normal;
  return std::bit_cast<float>(result | sign);
}

inline uint16_t floatToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
  // From 2^-14 on: 13 bits of the significand are rounded off; a carry moves to the next exponent,
  // beyond the largest to infinity.
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
  // Below: in 0.5 + x the last bit of f32 is 2^-24, the unit of f16's denormals.
  float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  uint32_t denormal = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f);
  uint32_t finite = magnitude < (113u << 23) ? denormal : normal;
  uint32_t overflown = magnitude >= (143u << 23) ? 0x7c00u : finite;
  uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  return uint16_t((magnitude > 0x7f800000u ? nan : overflown) | sign);
}

/// Arrays; the type is f32, bf16 or f16. The result must not overlap the values.
inline void toFloats(ElementType type, const void *values, int64_t count, float *result) {
  auto *bits = static_cast<const uint16_t *>(values);
  if (type == ElementType::bf16)
    for (int64_t i = 0; i < count; ++i)
      result[i] = bf16ToFloat(bits[i]);
  else if (type == ElementType::f16)
    for (int64_t i = 0; i < count; ++i)
      result[i] = f16ToFloat(bits[i]);
  else
    std::memcpy(result, values, size_t(count) * sizeof(float));
}

inline void fromFloats(ElementType type, const float *values, int64_t count, void *result) {
  auto *bits = static_cast<uint16_t *>(result);
  if (type == ElementType::bf16)
    for (int64_t i = 0; i < count; ++i)
      bits[i] = floatToBf16(values[i]);
  else if (type == ElementType::f16)
    for (int64_t i = 0; i < count; ++i)
      bits[i] = floatToF16(values[i]);
  else
    std::memcpy(result, values, size_t(count) * sizeof(float));
}

} // namespace zrt

#endif // ZERO_RUNTIME_HALFFLOAT_H
