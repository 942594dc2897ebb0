//===- Descriptors.h - descriptors by kind of kernel ------------------------===//
#ifndef ZERO_PASSES_LOWER_DESCRIPTORS_H
#define ZERO_PASSES_LOWER_DESCRIPTORS_H

#include "BodyViews.h"

#include "zero/Passes/KernelDescriptors.h"

namespace zero {

/// Name, kind and flops.
KernelCall startCall(ir::KernelOp kernel, zrt::KernelKind kind);
KernelCall::Operand argumentOperand(ir::KernelOp kernel, const Window &window);
KernelCall::Operand resultOperand(ir::KernelOp kernel, const Window &window);
/// The runtime's name of f32, bf16 and f16; nothing for other types.
std::optional<zrt::ElementType> floatType(mlir::Type elementType);
std::string describeType(mlir::Value value);

// Without workspace, which `describeKernel` adds.
std::optional<KernelCall> describeGemm(ir::KernelOp kernel, std::string &why);
std::optional<KernelCall> describeAttention(ir::KernelOp kernel, std::string &why);
std::optional<KernelCall> describeCrossEntropy(ir::KernelOp kernel, std::string &why);
std::optional<KernelCall> describeScatter(ir::KernelOp kernel, std::string &why);

} // namespace zero

#endif // ZERO_PASSES_LOWER_DESCRIPTORS_H
