//===- Types.h - values of sixteen bits in sixteen lanes ------------------===//
//
// The kernels calculate in f32 whatever their operands' type: a value of 16 bits
// becomes f32 as it is loaded, exactly, and is rounded once as it is stored, to
// the nearest, ties to even. Pointers carry the type, so that a kernel written
// over `T *` with load, loadFirst, store and storeFirst serves all of them.
//
// Every instruction set gives the same bits: bf16 is integer arithmetic, and f16
// follows the instructions of F16C where there are none. NaN keeps its sign and
// the head of its payload and is quiet; denormal values are values like others.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_TYPES_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_TYPES_H

#include "Vector.h"
#include "zero/Runtime/Program.h"

namespace zrt::ZRT_ISA {

struct Bf16 {
  uint16_t bits;
};
struct Half {
  uint16_t bits;
};

typedef uint16_t Short16 __attribute__((ext_vector_type(16)));
typedef uint16_t Short16Unaligned __attribute__((ext_vector_type(16), aligned(2)));
typedef _Float16 Half16 __attribute__((ext_vector_type(16)));

ZRT_INLINE UInt16 asBits(Float16 x) { return __builtin_bit_cast(UInt16, x); }
ZRT_INLINE Float16 fromBits(UInt16 x) { return __builtin_bit_cast(Float16, x); }

ZRT_INLINE Float16 widen(Short16 x, Bf16) {
  return fromBits(__builtin_convertvector(x, UInt16) << 16);
}
ZRT_INLINE Short16 narrow(Float16 x, Bf16) {
  UInt16 bits = asBits(x), high = bits >> 16;
  // What is cut off carries into the rest if it is over a half, or a half and the rest is odd.
  UInt16 rounded = (bits + 0x7fff + (high & 1)) >> 16;
  return __builtin_convertvector(x != x ? high | 0x40 : rounded, Short16);
}

ZRT_INLINE Float16 widen(Short16 x, Half) {
#ifdef __F16C__
  return __builtin_convertvector(__builtin_bit_cast(Half16, x), Float16);
#else
  UInt16 h = __builtin_convertvector(x, UInt16), rest = h & 0x7fff;
  Int16 place = __builtin_bit_cast(Int16, rest);
  // Exponents are 112 apart; a denormal is a number of units of 2^-24.
  UInt16 normal = (rest << 13) + (112u << 23);
  UInt16 denormal = asBits(__builtin_convertvector(place, Float16) * 0x1p-24f);
  UInt16 special = (rest << 13) | (rest == 0x7c00 ? UInt16(0x7f800000) : UInt16(0x7fc00000));
  UInt16 result = place < 0x0400 ? denormal : place >= 0x7c00 ? special : normal;
  return fromBits(result | (h & 0x8000) << 16);
#endif
}
ZRT_INLINE Short16 narrow(Float16 x, Half) {
#ifdef __F16C__
  return __builtin_bit_cast(Short16, __builtin_convertvector(x, Half16));
#else
  UInt16 bits = asBits(magnitude(x));
  Int16 place = __builtin_bit_cast(Int16, bits);
  UInt16 normal = ((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112u << 10);
  // The unit in the last place of ½ is that of a denormal f16.
  UInt16 denormal = asBits(fromBits(bits) + 0.5f) - 0x3f000000;
  UInt16 special = place > 0x7f800000 ? 0x7e00 | (bits >> 13 & 0x3ff) : UInt16(0x7c00);
  UInt16 result = place < 0x38800000 ? denormal : place >= 0x477ff000 ? special : normal;
  return __builtin_convertvector(result | (asBits(x) >> 16 & 0x8000), Short16);
#endif
}

ZRT_INLINE Short16 loadBits(const void *p) { return *static_cast<const Short16Unaligned *>(p); }
ZRT_INLINE Short16 loadBits(const uint16_t *p, int64_t count) {
  return __builtin_masked_load(firstLanes(count), p, (Short16)0);
}

template <typename T> ZRT_INLINE Float16 load(const T *p) { return widen(loadBits(p), T()); }
template <typename T> ZRT_INLINE Float16 loadFirst(const T *p, int64_t count) {
  return count >= kLanes ? load(p) : widen(loadBits(&p->bits, count), T());
}
template <typename T> ZRT_INLINE void store(T *p, Float16 x) {
  *reinterpret_cast<Short16Unaligned *>(p) = narrow(x, T());
}
template <typename T> ZRT_INLINE void storeFirst(T *p, Float16 x, int64_t count) {
  if (count >= kLanes)
    return store(p, x);
  Short16 bits = narrow(x, T());
#ifdef __AVX512F__
  // Clang 22 folds narrowing and masked store into one and, where it finds that the mask has one
  // lane, writes the four bytes from before narrowing. It must not see the two together.
  asm("" : "+v"(bits));
#endif
  __builtin_masked_store(firstLanes(count), bits, &p->bits);
}

/// x as a place of type T keeps it.
template <typename T> ZRT_INLINE Float16 roundTo(Float16 x) {
  if constexpr (sizeof(T) == sizeof(float))
    return x;
  else
    return widen(narrow(x, T()), T());
}

/// One value, where no vector serves.
ZRT_INLINE float single(const float *p) { return *p; }
template <typename T> ZRT_INLINE float single(const T *p) {
  return widen((Short16)p->bits, T())[0];
}
ZRT_INLINE void storeSingle(float *p, float x) { *p = x; }
template <typename T> ZRT_INLINE void storeSingle(T *p, float x) {
  p->bits = narrow(splat(x), T())[0];
}

/// body(T()) for the C++ type of a floating-point type that kernels take.
template <typename Body> ZRT_INLINE void withType(ElementType type, Body &&body) {
  switch (type) {
  case ElementType::bf16:
    return body(Bf16());
  case ElementType::f16:
    return body(Half());
  default:
    return body(float());
  }
}

/// body(T(), R()) for operands of one type and a result of the same or of f32.
template <typename Body>
ZRT_INLINE void withTypes(ElementType type, ElementType result, Body &&body) {
  withType(type, [&]<typename T>(T x) {
    if (result == ElementType::f32)
      body(x, float());
    else
      body(x, x);
  });
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_TYPES_H
