//===- HalfFloat.h - bf16 and f16 as f32, and back ------------------------===//
//
// Scalar conversions in integer arithmetic: the same bits on every processor,
// and of a shape that compilers vectorise. Widening is exact. Narrowing rounds
// once to nearest, ties to even; denormal values are kept, f16 overflows to
// infinity, and NaN stays NaN: quiet, with the leading bits of its payload.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_HALFFLOAT_H
#define ZERO_RUNTIME_HALFFLOAT_H

#include <bit>
#include <cstdint>

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

} // namespace zrt

#endif // ZERO_RUNTIME_HALFFLOAT_H
