//===- Table.h - one table of kernels per instruction set -----------------===//
//
// The public functions of Kernels.h go through the table that fits the
// instruction set in use. Tests walk all tables that this machine can run.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_TABLE_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_TABLE_H

#include "zero/Runtime/InstructionSet.h"
#include "zero/Runtime/Kernels.h"

namespace zrt {

struct KernelTable {
  decltype(&zrt::gemm) gemm;
  decltype(&zrt::attentionForward) attentionForward;
  decltype(&zrt::attentionBackward) attentionBackward;
  decltype(&zrt::crossEntropy) crossEntropy;
  decltype(&zrt::scatterAdd) scatterAdd;
  decltype(&zrt::updateElements) updateElements;
  /// As the kernels load and store values of 16 bits.
  void (*toFloats)(ElementType type, const void *values, float *result, int64_t count);
  void (*fromFloats)(ElementType type, const float *values, void *result, int64_t count);
  /// result[i] = f(x[i]).
  void (*exp)(const float *x, float *result, int64_t count);
  void (*tanh)(const float *x, float *result, int64_t count);
  void (*erf)(const float *x, float *result, int64_t count);
  void (*log)(const float *x, float *result, int64_t count);
};

namespace baseline {
extern const KernelTable table;
}
namespace avx2 {
extern const KernelTable table;
}
namespace avx512 {
extern const KernelTable table;
}
namespace amx {
bool available();
decltype(zrt::gemm) gemm;
} // namespace amx

const KernelTable &tableOf(InstructionSet set);

} // namespace zrt

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_TABLE_H
