//===- Symbols.h - looking up what zero ops name -----------------------------===//
//
// Lookups go through the caller's SymbolTableCollection: without it, verifying
// n uses of symbols takes time in n².
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_DIALECT_ZERO_SYMBOLS_H
#define ZERO_LIB_DIALECT_ZERO_SYMBOLS_H

#include "zero/Dialect/Zero/Zero.h"

namespace zero::ir {

/// The symbol of the wanted op, or null with an error on `user`.
template <typename OpT>
OpT lookup(mlir::Operation *user, mlir::FlatSymbolRefAttr name,
           mlir::SymbolTableCollection &symbols) {
  if (auto found = symbols.lookupNearestSymbolFrom<OpT>(user, name))
    return found;
  user->emitOpError() << "expects " << name << " to name a " << OpT::getOperationName();
  return nullptr;
}

/// Checks that the bucket exists and that a full, grads or future value of type `type` is of it.
template <typename TypeT>
mlir::LogicalResult verifyBucketOf(mlir::Operation *user, mlir::FlatSymbolRefAttr bucket,
                                   TypeT type, mlir::SymbolTableCollection &symbols) {
  if (!lookup<BucketOp>(user, bucket, symbols))
    return mlir::failure();
  if (type.getBucket() != bucket)
    return user->emitOpError() << "expects a value of bucket " << bucket << ", got " << type;
  return mlir::success();
}

/// The slot of a parameter in a bucket, or null with an error on `user`.
SlotOp lookupSlot(mlir::Operation *user, mlir::FlatSymbolRefAttr bucket,
                  mlir::FlatSymbolRefAttr param, mlir::SymbolTableCollection &symbols);

/// Elements of a static shape; nothing where the shape is dynamic or they exceed 2^60.
std::optional<int64_t> countElements(mlir::RankedTensorType type);

/// Bytes of an element; nothing where it is no number of whole bytes.
std::optional<int64_t> elementBytes(mlir::Type element);

} // namespace zero::ir

#endif // ZERO_LIB_DIALECT_ZERO_SYMBOLS_H
