//===- Vector.h - sixteen lanes on every processor ------------------------===//
//
// One source serves all instruction sets: a vector has 16 f32 lanes everywhere
// and the compiler splits it where registers are shorter. The file is compiled
// once per instruction set, inside a namespace of that name (ZRT_ISA), and has
// no external linkage, so that the linker can never hand code for a newer
// processor to an older one.
//
// A product and sum is one rounding where the processor has FMA and two where
// it has not; which of the two is fixed per instruction set, never left to the
// optimiser. Tails run through the same instructions under a mask (N0).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_VECTOR_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_VECTOR_H

#include <cstdint>

#define ZRT_INLINE [[maybe_unused]] static inline __attribute__((always_inline))

namespace zrt::ZRT_ISA {

inline constexpr int64_t kLanes = 16;

typedef float Float16 __attribute__((ext_vector_type(16)));
typedef float Float16Unaligned __attribute__((ext_vector_type(16), aligned(4)));
typedef int32_t Int16 __attribute__((ext_vector_type(16)));
typedef uint32_t UInt16 __attribute__((ext_vector_type(16)));
typedef double Double16 __attribute__((ext_vector_type(16)));
typedef bool Mask16 __attribute__((ext_vector_type(16)));

ZRT_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
ZRT_INLINE int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

ZRT_INLINE Float16 splat(float x) { return (Float16)x; }
ZRT_INLINE Float16 asFloat(Int16 x) { return __builtin_bit_cast(Float16, x); }
ZRT_INLINE Int16 asInt(Float16 x) { return __builtin_bit_cast(Int16, x); }
ZRT_INLINE Int16 laneNumbers() {
  return Int16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
}

/// Lanes [0, count); any count ≥ 16 is all lanes.
ZRT_INLINE Mask16 firstLanes(int64_t count) {
  return __builtin_convertvector(laneNumbers() < (int32_t)smaller(count, kLanes), Mask16);
}

ZRT_INLINE Float16 load(const float *p) { return *reinterpret_cast<const Float16Unaligned *>(p); }
ZRT_INLINE void store(float *p, Float16 x) { *reinterpret_cast<Float16Unaligned *>(p) = x; }

/// Lanes from `count` on are 0 and their memory is not touched.
ZRT_INLINE Float16 loadFirst(const float *p, int64_t count) {
  return count >= kLanes ? load(p) : __builtin_masked_load(firstLanes(count), p, splat(0.0f));
}
ZRT_INLINE void storeFirst(float *p, Float16 x, int64_t count) {
  if (count >= kLanes)
    store(p, x);
  else
    __builtin_masked_store(firstLanes(count), x, p);
}

/// a·b + c.
ZRT_INLINE Float16 multiplyAdd(Float16 a, Float16 b, Float16 c) {
#ifdef __FMA__
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// a where `condition` (all ones or zero per lane), else b. Comparisons give such conditions.
ZRT_INLINE Float16 select(Int16 condition, Float16 a, Float16 b) { return condition ? a : b; }

/// The larger; b where either is NaN.
ZRT_INLINE Float16 larger(Float16 a, Float16 b) { return select(a > b, a, b); }
ZRT_INLINE Float16 magnitude(Float16 x) { return asFloat(asInt(x) & 0x7fffffff); }
ZRT_INLINE Float16 withSignOf(Float16 x, Float16 sign) {
  return asFloat((asInt(x) & 0x7fffffff) | (asInt(sign) & (int32_t)0x80000000));
}

/// The fixed final tree of every reduction along a row: halves, then quarters, …
ZRT_INLINE double sumLanes(Double16 x) {
  auto a = x.lo + x.hi;
  auto b = a.lo + a.hi;
  auto c = b.lo + b.hi;
  return c.x + c.y;
}
ZRT_INLINE float sumLanes(Float16 x) {
  auto a = x.lo + x.hi;
  auto b = a.lo + a.hi;
  auto c = b.lo + b.hi;
  return c.x + c.y;
}
ZRT_INLINE float largestLane(Float16 x) {
  float best = x[0];
  for (int i = 1; i < kLanes; ++i)
    best = x[i] > best ? x[i] : best;
  return best;
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_VECTOR_H
