//===- CheckpointKernel.cpp - inner loops, on vectors ----------------------===//
//
// The same loop for each width of vector, the widest of this machine's chosen
// once. All agree: integers, and products that are rounded before they are added.
//
//===----------------------------------------------------------------------===//
#include "CheckpointSequence.h"
#include "CheckpointSimplex.h"

#include <algorithm>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

// Of one value the part above zero grows by a clamp of its sum: no more than the change, no less
// than nothing. `Sum` holds the growth of all `count`.
template <typename Sum, typename Int>
__attribute__((always_inline)) inline int64_t addAndSum(Int *values, int64_t count, Int change) {
  Sum grown = 0;
  if (change >= 0) {
    for (int64_t i = 0; i < count; ++i) {
      Int sum = values[i] + change;
      values[i] = sum;
      grown += std::min(std::max(sum, Int(0)), change);
    }
    return grown;
  }
  for (int64_t i = 0; i < count; ++i) {
    Int old = values[i];
    values[i] = old + change;
    grown += std::min(std::max(old, Int(0)), Int(-change));
  }
  return -int64_t(grown);
}

/// Sums as narrow as the values where these are few and the change is small: twice as many a
/// vector.
template <typename Int>
__attribute__((always_inline)) inline int64_t addTo(Int *values, int64_t count, Int change) {
  constexpr int64_t kMost = 1 << 14;
  if (count <= kMost && -kMost < change && change < kMost)
    return addAndSum<Int>(values, count, change);
  return addAndSum<int64_t>(values, count, change);
}

__attribute__((always_inline)) inline void addProducts(double *__restrict values,
                                                       const double *__restrict line, int64_t count,
                                                       double factor) {
  for (int64_t i = 0; i < count; ++i)
    values[i] += factor * line[i];
}

void multiplePlain(double *values, const double *line, int64_t count, double factor) {
  addProducts(values, line, count, factor);
}

/// The first of `count` above zero, or `count`: block by block, each without a branch.
template <typename Int>
__attribute__((always_inline)) inline int64_t firstOf(const Int *values, int64_t count) {
  constexpr int64_t kBlock = 64;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    Int most = 0;
    for (int64_t k = 0; k < kBlock; ++k)
      most = std::max(most, values[i + k]);
    if (most > 0)
      break;
  }
  while (i < count && values[i] <= 0)
    ++i;
  return i;
}

template <typename Int> int64_t addPlain(Int *values, int64_t count, Int change) {
  return addTo(values, count, change);
}
template <typename Int> int64_t firstPlain(const Int *values, int64_t count) {
  return firstOf(values, count);
}

#if defined(__x86_64__)
template <typename Int>
__attribute__((target("avx2"))) int64_t addAvx2(Int *values, int64_t count, Int change) {
  return addTo(values, count, change);
}
template <typename Int>
__attribute__((target("avx512f,avx512vl,avx512dq,prefer-256-bit"))) int64_t addAvx512(Int *values,
                                                                                      int64_t count,
                                                                                      Int change) {
  return addTo(values, count, change);
}
__attribute__((target("avx2"))) void multipleAvx2(double *values, const double *line, int64_t count,
                                                  double factor) {
  addProducts(values, line, count, factor);
}
__attribute__((target("avx512f,avx512vl,avx512dq,prefer-256-bit"))) void
multipleAvx512(double *values, const double *line, int64_t count, double factor) {
  addProducts(values, line, count, factor);
}
template <typename Int>
__attribute__((target("avx2"))) int64_t firstAvx2(const Int *values, int64_t count) {
  return firstOf(values, count);
}
#endif

template <typename Int> auto widestFirst() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return &firstAvx2<Int>;
#endif
  return &firstPlain<Int>;
}

template <typename Int> auto widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return &addAvx512<Int>;
  if (__builtin_cpu_supports("avx2"))
    return &addAvx2<Int>;
#endif
  return &addPlain<Int>;
}

auto widestMultiple() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return &multipleAvx512;
  if (__builtin_cpu_supports("avx2"))
    return &multipleAvx2;
#endif
  return &multiplePlain;
}

} // namespace

void addMultiple(double *values, const double *line, int64_t count, double factor) {
  static const auto add = widestMultiple();
  add(values, line, count, factor);
}

int64_t addAboveZero(int32_t *values, int64_t count, int32_t change) {
  static const auto add = widest<int32_t>();
  return add(values, count, change);
}

int64_t addAboveZero(int64_t *values, int64_t count, int64_t change) {
  static const auto add = widest<int64_t>();
  return add(values, count, change);
}

int64_t firstAboveZero(const int32_t *values, int64_t count) {
  static const auto first = widestFirst<int32_t>();
  return first(values, count);
}

int64_t firstAboveZero(const int64_t *values, int64_t count) {
  static const auto first = widestFirst<int64_t>();
  return first(values, count);
}

} // namespace zero::planning::checkpoint
