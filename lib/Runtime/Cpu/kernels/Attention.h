//===- Attention.h - what both directions of attention share --------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_ATTENTION_H

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
