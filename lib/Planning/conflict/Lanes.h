//===- Lanes.h - a kernel's vectors --------------------------------------===//
//
// Clang's vector extensions in one source: 64-byte vectors are one register of
// AVX-512, two of AVX2 and four of SSE2. Lanes are signed, as SSE2 compares and
// takes minima of signed 16-bit numbers only.
//
// The build defines ZERO_ARENA_KERNEL, a kernel's namespace, and ZERO_ARENA_LANE,
// its lane.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_LANES_H
#define ZERO_LIB_PLANNING_CONFLICT_LANES_H

#include <cstdint>
#include <cstring>

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

template <typename T> struct UnsignedOf;
template <> struct UnsignedOf<int16_t> {
  using Type = uint16_t;
};
template <> struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <> struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};

using Lane = ZERO_ARENA_LANE;
using Unsigned = UnsignedOf<Lane>::Type;
inline constexpr int kLanes = 64 / sizeof(Lane);
using V = Lane __attribute__((ext_vector_type(kLanes)));
using U = Unsigned __attribute__((ext_vector_type(kLanes)));
using Flags = bool __attribute__((ext_vector_type(kLanes)));

/// 0, 1, 2 and so on.
inline constexpr V kIota = [] {
  V v = V(0);
  for (int i = 0; i < kLanes; ++i)
    v[i] = Lane(i);
  return v;
}();

/// The lower bound of a buffer that is placed: the greatest value, neutral in a minimum.
inline constexpr Lane kPlaced = Lane(Unsigned(~Unsigned(0)) >> 1);

inline V load(const Lane *lanes) { return *reinterpret_cast<const V *>(lanes); }
inline void store(Lane *lanes, V v) { *reinterpret_cast<V *>(lanes) = v; }
inline V splat(Lane value) { return V(value); }
inline V add(V a, V b) { return V(U(a) + U(b)); }
inline V min(V a, V b) { return __builtin_elementwise_min(a, b); }
inline Lane least(V v) { return __builtin_reduce_min(v); }
/// `v` where `mask`, else kPlaced.
inline V keep(V mask, V v) { return mask ? v : splat(kPlaced); }

inline uint32_t bits(V mask) {
  Flags flags = __builtin_convertvector(mask, Flags);
  uint32_t result = 0;
  memcpy(&result, &flags, kLanes / 8);
  return result;
}
inline V maskOf(uint32_t bits) {
  Flags flags;
  memcpy(&flags, &bits, kLanes / 8);
  return __builtin_convertvector(flags, V) != splat(0);
}

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_LANES_H
