//===- BodyViews.h - strided views inside a kernel's body ------------------===//
//
// A library kernel reads and writes strided windows of its operands. Views in
// the body are followed in both directions: from a value up to the argument
// that it renames, and from the yielded results down to the op that makes them.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_BODYVIEWS_H
#define ZERO_PASSES_LOWER_BODYVIEWS_H

#include "zero/Dialect/Zero/Zero.h"

#include <optional>

namespace zero {

/// Element (i0, i1, …) lies `offset + Σ iₖ·strides[k]` elements behind an argument's or a result's
/// first.
struct Window {
  unsigned index = 0; // of the argument or result
  int64_t offset = 0;
  llvm::SmallVector<int64_t> shape, strides;

  bool isContiguous() const;
};

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Value value);
/// -1 where the number does not fit.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// Bytes of an element in memory; i1 takes one.
int64_t storedBytes(mlir::Type elementType);
/// The type in which a kernel's loops hold a value of an element type: f32 for 16-bit floats, which
/// are rounded only where they leave the kernel (law N0), else the type itself.
mlir::Type computeType(mlir::Type elementType);
mlir::Type computeTypeOf(mlir::Value value);

/// The window as another shape of as many elements; nothing where one stride a dimension won't do.
std::optional<Window> reshaped(const Window &window, llvm::ArrayRef<int64_t> shape);
Window transposed(const Window &window, llvm::ArrayRef<int64_t> permutation);
/// Aligned at the last dimension, repeated with stride 0. The shapes must broadcast.
Window broadcasted(const Window &window, llvm::ArrayRef<int64_t> shape);

Window argumentWindow(ir::KernelOp kernel, unsigned argument);
/// The argument that `value` renames; nothing where it is computed, or a reshape has no strides.
std::optional<Window> traceArgument(ir::KernelOp kernel, mlir::Value value);

/// The window over a view op's operand from the one over its result: the same elements, renamed
/// back (reshape and transpose only).
std::optional<Window> undone(const Window &window, mlir::Operation *view);
/// The part of a result that `value` fills, through the reshapes, transposes and concats behind it;
/// nothing where it has no or several uses, or fills none.
std::optional<Window> traceResult(ir::KernelOp kernel, mlir::Value value);

} // namespace zero

#endif // ZERO_PASSES_LOWER_BODYVIEWS_H
