//===- BodyShapes.h - the shapes that a generated kernel's loops run over ---===//
//
// A body of elementwise ops alone does not care how its dimensions are cut:
// neighbours that every value holds whole, or not at all, and whose strides
// touch, become one. An elementwise kernel on contiguous values is then a walk
// over one dimension, whatever the rank. Other bodies keep their shapes.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_BODYSHAPES_H
#define ZERO_PASSES_LOWER_BODYSHAPES_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"

namespace zero {

class BodyShapes {
public:
  explicit BodyShapes(ir::KernelOp kernel);

  llvm::SmallVector<int64_t> of(mlir::Value value) const;
  /// Element strides over `of(argument)`.
  llvm::SmallVector<int64_t> stridesOf(mlir::BlockArgument argument) const;

private:
  bool canMerge(int64_t dim) const;

  mutable ir::KernelOp kernel;
  llvm::SmallVector<int64_t> domain;
  /// Ranges [begin, end) of the domain's dimensions; empty where nothing merges.
  llvm::SmallVector<std::pair<int64_t, int64_t>> groups;
};

bool isElementwise(mlir::Operation *op);

} // namespace zero

#endif // ZERO_PASSES_LOWER_BODYSHAPES_H
