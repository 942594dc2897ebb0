//===- Isa.h - the kernels of the instruction set being compiled ----------===//
#ifndef ZERO_LIB_RUNTIME_CPU_KERNELS_ISA_H
#define ZERO_LIB_RUNTIME_CPU_KERNELS_ISA_H

#include "Table.h"

namespace zrt::ZRT_ISA {

void toFloats(ElementType type, const void *values, float *result, int64_t count);
void fromFloats(ElementType type, const float *values, void *result, int64_t count);
decltype(zrt::gemm) gemm;
decltype(zrt::attentionForward) attentionForward;
decltype(zrt::attentionBackward) attentionBackward;
decltype(zrt::crossEntropy) crossEntropy;
decltype(zrt::scatterAdd) scatterAdd;
decltype(zrt::updateElements) updateElements;

} // namespace zrt::ZRT_ISA

#endif // ZERO_LIB_RUNTIME_CPU_KERNELS_ISA_H
