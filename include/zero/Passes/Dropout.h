//===- Dropout.h - dropout of a training graph, keyed or taken away ------------===//
#ifndef ZERO_PASSES_DROPOUT_H
#define ZERO_PASSES_DROPOUT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Numbers the dropouts of an inlined forward function, those of attention included, by their order
/// in it, and keys them by a new last argument `%random : tensor<4xi32> {nn.random}`; dimension 0
/// of the first batch argument says how many samples a value belongs to. Ones of rate 0 go. Does
/// nothing where there is none. Fails with a diagnostic on a dropout that has a key, or whose value
/// is not one of the batch.
::mlir::LogicalResult keyDropout(::mlir::func::FuncOp forward);

/// Takes every dropout out of a function, keyed or not, and its `%random` argument: what is left is
/// the graph as it is evaluated.
void removeDropout(::mlir::func::FuncOp function);

/// Batch arguments of @joint: all but the seed, which is last, and `%random` before it.
unsigned batchArgumentCount(::mlir::func::FuncOp joint);

/// `%random`, or null where nothing is dropped.
::mlir::BlockArgument randomArgument(::mlir::func::FuncOp function);

inline constexpr llvm::StringLiteral kRandomAttr = "nn.random";

} // namespace zero

#endif // ZERO_PASSES_DROPOUT_H
