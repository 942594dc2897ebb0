//===- SquareSum.cpp - an exact sum of squares (N4) -----------------------===//
//
// An f32 is mant·2^e; its square is a 48-bit integer that belongs to one of 255
// bins, by exponent. Bins are summed in 64 bits, several tables in turn so that
// equal exponents in a row don't wait for each other, and folded into one wide
// fixed-point number before they can overflow. No step rounds, so neither order
// nor cuts matter; after Demmel and Nguyen's reproducible sums (ReproBLAS), with
// the range of f32 short enough to keep everything.
//
//===----------------------------------------------------------------------===//
#include "zero/Runtime/HalfFloat.h"
#include "zero/Runtime/Kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace zrt {

static constexpr int kExponents = 256, kTables = 4;
/// 2^16 squares of at most 48 bits fit 64 bits; one table sees a quarter of a chunk.
static constexpr int64_t kChunk = int64_t(1) << 16;

static void addLimb(uint64_t *limbs, int at, uint64_t value) {
  for (; value != 0 && at < SquareSum::kLimbs; ++at) {
    limbs[at] += value;
    value = limbs[at] < value ? 1 : 0;
  }
}

static void addShifted(uint64_t *limbs, uint64_t value, int shift) {
  int at = shift / 64, bits = shift % 64;
  addLimb(limbs, at, value << bits);
  if (bits != 0)
    addLimb(limbs, at + 1, value >> (64 - bits));
}

void SquareSum::clear() {
  std::memset(limbs, 0, sizeof(limbs));
  nonFinite = 0;
}

/// Adds squares of value(i), a float, for i in [0, count) to the limbs; gives how many were inf or
/// NaN.
template <typename Value> static int64_t addSquares(uint64_t *limbs, int64_t count, Value value) {
  uint64_t bins[kTables][kExponents];
  int64_t nonFinite = 0;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t end = begin + kChunk < count ? begin + kChunk : count;
    std::memset(bins, 0, sizeof(bins));
    auto put = [&](int64_t i, int table) {
      uint32_t bits = std::bit_cast<uint32_t>(value(i));
      uint32_t exponent = (bits >> 23) & 255;
      uint64_t mantissa = (bits & 0x7fffff) | (exponent != 0 ? 0x800000u : 0u);
      bins[table][exponent] += mantissa * mantissa;
      nonFinite += exponent == kExponents - 1;
    };
    int64_t i = begin;
    for (; i + kTables <= end; i += kTables)
      for (int t = 0; t < kTables; ++t)
        put(i + t, t);
    for (; i < end; ++i)
      put(i, 0);
    for (int e = 0; e < kExponents - 1; ++e)
      for (int t = 0; t < kTables; ++t)
        if (bins[t][e] != 0)
          addShifted(limbs, bins[t][e], e == 0 ? 0 : 2 * (e - 1));
  }
  return nonFinite;
}

void SquareSum::add(const void *values, ElementType type, int64_t count) {
  auto *floats = static_cast<const float *>(values);
  auto *shorts = static_cast<const uint16_t *>(values);
  switch (type) {
  case ElementType::bf16:
    nonFinite += addSquares(limbs, count, [&](int64_t i) { return bf16ToFloat(shorts[i]); });
    break;
  case ElementType::f16:
    nonFinite += addSquares(limbs, count, [&](int64_t i) { return f16ToFloat(shorts[i]); });
    break;
  default:
    nonFinite += addSquares(limbs, count, [&](int64_t i) { return floats[i]; });
  }
}

void SquareSum::merge(const SquareSum &other) {
  for (int i = 0; i < kLimbs; ++i)
    addLimb(limbs, i, other.limbs[i]);
  nonFinite += other.nonFinite;
}

double SquareSum::sum() const {
  if (nonFinite != 0)
    return std::numeric_limits<double>::infinity();
  int top = kLimbs - 1;
  while (top > 0 && limbs[top] == 0)
    --top;
  if (limbs[top] == 0)
    return 0.0;
  // The 64 leading bits, then one bit for all that lies below: 11 bits are rounded away, so a
  // single conversion to f64 sees the exact tie or not.
  int lead = __builtin_clzll(limbs[top]);
  uint64_t high = limbs[top] << lead;
  bool rest = false;
  if (top > 0) {
    if (lead != 0) {
      high |= limbs[top - 1] >> (64 - lead);
      rest = (limbs[top - 1] << lead) != 0;
    } else {
      rest = limbs[top - 1] != 0;
    }
    for (int i = 0; i < top - 1; ++i)
      rest |= limbs[i] != 0;
  }
  return std::ldexp(double(high | (rest ? 1 : 0)), 64 * top - lead - 298);
}

} // namespace zrt
