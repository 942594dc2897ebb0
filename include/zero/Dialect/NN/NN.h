//===- NN.h - the nn dialect --------------------------------------------------===//
#ifndef ZERO_DIALECT_NN_NN_H
#define ZERO_DIALECT_NN_NN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace zero::nn {
/// Which kernels compute an op; see KernelOpInterface.
enum class KernelFamily {
  None,
  View,
  Elementwise,
  Row,
  Column,
  Move,
  Window,
  Gather,
  Gemm,
  Attention,
  CrossEntropy,
  Scatter
};

/// Windows of two dimensions over an image: their size, the steps between them, and how many rows
/// and columns of zeros are thought around it: top, bottom, left, right.
struct Windows {
  llvm::ArrayRef<int64_t> size, strides, padding;
};
} // namespace zero::nn

#include "zero/Dialect/NN/NNDialect.h.inc"
#include "zero/Dialect/NN/NNEnums.h.inc"
#include "zero/Dialect/NN/NNInterfaces.h.inc"

#define GET_OP_CLASSES
#include "zero/Dialect/NN/NNOps.h.inc"

#endif // ZERO_DIALECT_NN_NN_H
