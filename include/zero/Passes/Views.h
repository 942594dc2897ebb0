//===- Views.h - what a value is a view of --------------------------------------===//
#ifndef ZERO_PASSES_VIEWS_H
#define ZERO_PASSES_VIEWS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace zero {

/// A value as a strided window of another one: element (i0, i1, …) lies `offset + Σ iₖ·strides[k]`
/// elements behind the root's first. `root` is the value itself where it is no view, or where a
/// reshape of a strided view has no strides: such a reshape must be materialised.
struct View {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;

  bool isContiguous(mlir::RankedTensorType type) const;
  /// Whether the view holds every element of its root once, in the root's order.
  bool coversRoot(mlir::RankedTensorType type) const;
};

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The strides of a strided window after a reshape, or nothing where it has none. Dimensions of
/// size 1 get stride 0. The numbers of elements agree.
std::optional<llvm::SmallVector<int64_t>> reshapeStrides(llvm::ArrayRef<int64_t> from,
                                                         llvm::ArrayRef<int64_t> strides,
                                                         llvm::ArrayRef<int64_t> to);

/// Follows nn.reshape, transpose, slice, split, broadcast and barrier to their source.
View traceView(mlir::Value value);

/// Whether the op only renames elements of its operand and its strides are known.
bool isView(mlir::Operation *op);

/// The `zero.accumulate` or `zero.set` that takes a launch's result, itself or through views, in
/// place of bytes of its own; null where there is none.
mlir::Operation *sinkOf(mlir::Value result);

} // namespace zero

#endif // ZERO_PASSES_VIEWS_H
