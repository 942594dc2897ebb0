//===- Attention.h - what both directions of attention share --------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H

#include "Dropout.h"
#include "Elementary.h"
#include "Isa.h"
#include "Parts.h"
#include "Plan.h"
#include "Tile.h"

namespace zrt::ZRT_ISA {

template <typename T>
ZRT_INLINE T *rowsOf(T *operand, const AttentionDesc::Strides &strides, int64_t batch,
                     int64_t head) {
  return operand + batch * strides.batch + head * strides.head;
}

/// Rows of keys or values, copied to headRow(dim) from each other, as left operands.
template <typename T>
ZRT_INLINE void copyHeadRows(const T *p, int64_t step, int64_t rows, int64_t dim, float *to) {
  auto copy = dim <= kShortHead ? copyRows<kShortHead, T> : copyRows<kLongHead, T>;
  copy(p, step, rows, dim, to);
}

/// C[rows, width] = rows·sliver, for the rows that copyHeadRows copied and a sliver [dim, width].
ZRT_INLINE void multiplyHeadRows(int64_t rows, int64_t dim, const float *left, const float *right,
                                 int64_t width, float *c, int64_t cRow) {
  if (dim <= kShortHead)
    runSliver<kShortHead>(rows, dim, left, 0, kTileRows * kShortHead, right, width, c, cRow, false);
  else
    runSliver<kLongHead>(rows, dim, left, 0, kTileRows * kLongHead, right, width, c, cRow, false);
}

/// Takes consecutive pieces of a thread's workspace.
struct Carver {
  float *next;
  float *take(int64_t floats) {
    float *piece = next;
    next += floats;
    return piece;
  }
};

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H
