//===- Elementary.h - exp, tanh, erf and log on sixteen lanes -------------===//
//
// Own polynomials, so that no library's version or processor choice
// shows in trained bits (N0). Each is a minimax fit of the relative error of
// the result; the fit's own error, in f64, stands beside it and lies far under
// half a unit in the last place, so that what remains is rounding, which has no
// bias (N3: each error ≤ 2.7e-7, the mean ≤ 5e-8; KernelsElementaryTest sweeps).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_ELEMENTARY_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_ELEMENTARY_H

#include "Vector.h"

namespace zrt::ZRT_ISA {

/// ln 2 in two parts; the first has 9 bits, so that its products with exponents are exact.
inline constexpr float kLn2High = 0.693359375f, kLn2Low = -2.1219444e-4f;

/// Coefficients from the lowest power up.
template <int N> ZRT_INLINE Float16 polynomial(Float16 x, const float (&c)[N]) {
  Float16 sum = splat(c[N - 1]);
#pragma clang loop unroll(full)
  for (int i = N - 2; i >= 0; --i)
    sum = multiplyAdd(sum, x, splat(c[i]));
  return sum;
}

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; e^x = 2^n·mantissa, mantissa = 1 + r + r²·q(r), fit within
/// 3.2e-9.
struct PowerOfE {
  Float16 mantissa;
  Int16 n;
};
ZRT_INLINE PowerOfE splitExp(Float16 x) {
  static constexpr float q[] = {0x1.fffffcp-2f, 0x1.555490p-3f, 0x1.5558fcp-5f, 0x1.123b6ap-7f,
                                0x1.6a219ep-10f};
  // Adding 1.5·2^23 leaves the nearest integer in the low bits.
  const float shift = 12582912.0f;
  Float16 shifted = multiplyAdd(x, splat(1.44269502f), splat(shift));
  Float16 n = shifted - shift;
  Float16 r = multiplyAdd(n, splat(-kLn2High), x);
  r = multiplyAdd(n, splat(-kLn2Low), r);
  return {multiplyAdd(r * r, polynomial(r, q), r) + 1.0f,
          asInt(shifted) - __builtin_bit_cast(int32_t, shift)};
}

/// The power is applied in two halves, so that denormal results are rounded once and large ones
/// overflow late.
ZRT_INLINE Float16 vectorExp(Float16 x) {
  // The result is inf from 89 on and 0 from −104.5 down; NaN passes both selects.
  x = select(x > 89.0f, splat(89.0f), x);
  x = select(x < -104.5f, splat(-104.5f), x);
  PowerOfE e = splitExp(x);
  Int16 half = e.n >> 1;
  return e.mantissa * asFloat((half + 127) << 23) * asFloat((e.n - half + 127) << 23);
}

/// e^x for the x ≤ 0 of a softmax, a few units of rounding above 0 included: what would be denormal
/// is 0, since denormal results cost the processor a hundred cycles each.
ZRT_INLINE Float16 vectorSoftmaxExp(Float16 x) {
  const float least = -87.3f;
  PowerOfE e = splitExp(select(x < least, splat(least), x));
  return select(x < least, splat(0.0f), e.mantissa * asFloat((e.n + 127) << 23));
}

/// Under 0.625 x + x³·q(x²), fit within 5e-9; above, 1 − 2 / (e^2|x| + 1).
ZRT_INLINE Float16 vectorTanh(Float16 x) {
  static constexpr float q[] = {-0x1.55552ep-2f, 0x1.110646p-3f, -0x1.b81dbcp-5f, 0x1.5157d8p-6f,
                                -0x1.722a70p-8f};
  Float16 a = magnitude(x), square = x * x;
  Float16 small = multiplyAdd(square * x, polynomial(square, q), x);
  Float16 large = 1.0f - 2.0f / (vectorExp(a + a) + 1.0f);
  return select(a < 0.625f, small, withSignOf(large, x));
}

/// Under 1 x + x·q(x²), fit within 1.3e-9; above, 1 − e^r(|x|) with r = ln erfc, fit within 1.2e-9.
/// From 4 on the result is 1 to the last bit.
ZRT_INLINE Float16 vectorErf(Float16 x) {
  static constexpr float q[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2cf8p-4f, -0x1.b7f90cp-6f,
                                0x1.5405b0p-8f, -0x1.a3f6f0p-11f, 0x1.496a0ap-14f};
  static constexpr float r[] = {-0x1.501aa8p-12f, -0x1.208e56p+0f, -0x1.46a980p-1f, -0x1.a6c868p-4f,
                                0x1.66a45cp-6f,   -0x1.83fe14p-9f, 0x1.897176p-13f};
  Float16 a = magnitude(x), square = x * x;
  Float16 small = multiplyAdd(x, polynomial(square, q), x);
  Float16 clamped = select(a > 4.0f, splat(4.0f), a);
  Float16 large = 1.0f - vectorExp(polynomial(clamped, r));
  return select(a < 1.0f, small, withSignOf(large, x));
}

/// x = 2^e·(1 + f) with √½ ≤ 1 + f < √2; ln(1 + f) = f − f²/2 + f³·q(f), fit within 5.9e-9.
ZRT_INLINE Float16 vectorLog(Float16 x) {
  static constexpr float q[] = {0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a008p-3f, -0x1.547240p-3f,
                                0x1.22da36p-3f, -0x1.0d8586p-3f, 0x1.055ad8p-3f, -0x1.38b2a8p-4f};
  Int16 denormal = x < 0x1p-126f;
  Float16 scaled = select(denormal, x * 0x1p23f, x);
  const int32_t rootHalf = 0x3f3504f3; // bits of √½
  Int16 offset = asInt(scaled) - rootHalf;
  Int16 exponent = offset >> 23;
  Float16 f = asFloat((offset & 0x007fffff) + rootHalf) - 1.0f;
  Float16 e = __builtin_convertvector(exponent - (denormal & 23), Float16);
  Float16 square = f * f;
  Float16 y = square * multiplyAdd(f, polynomial(f, q), splat(-0.5f));
  y = multiplyAdd(e, splat(kLn2Low), y);
  y = multiplyAdd(e, splat(kLn2High), f + y);
  const float infinity = __builtin_inff(), nan = __builtin_nanf("");
  y = select(x == 0.0f, splat(-infinity), y);
  y = select(x == infinity, splat(infinity), y);
  return select(x < 0.0f, splat(nan), select(x != x, x, y));
}

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_ELEMENTARY_H
