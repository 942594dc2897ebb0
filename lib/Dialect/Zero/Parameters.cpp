//===- Parameters.cpp - gathered buckets and views of them -------------------===//

#include "Symbols.h"

using namespace mlir;

namespace zero::ir {

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBucketOf(*this, getBucketAttr(), getFull().getType(), symbols); // (C1)
}

LogicalResult AllGatherInPlaceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(lookup<BucketOp>(*this, getBucketAttr(), symbols)); // (C1)
}

LogicalResult ResidentOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBucketOf(*this, getBucketAttr(), getFull().getType(), symbols); // (C1)
}

LogicalResult ViewOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SlotOp slot = lookupSlot(*this, getFull().getType().getBucket(), getParamAttr(), symbols); // (C1)
  if (!slot)
    return failure();
  if (slot.getTensorType() != getResult().getType())
    return emitOpError() << "expects the slot's type " << slot.getTensorType() << ", got "
                         << getResult().getType();
  return success();
}

LogicalResult AllGatherStartOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyBucketOf(*this, getBucketAttr(), getFuture().getType(), symbols))) // (C1)
    return failure();
  if (getInPlace() && getOffset()) // (C2)
    return emitOpError() << "expects no place of its own for a gather in place, got "
                         << *getOffset();
  return success();
}

LogicalResult WaitOp::verify() {
  FlatSymbolRefAttr bucket = getFuture().getType().getBucket();
  if (getFull() && getFull().getType().getBucket() != bucket) // (C1)
    return emitOpError() << "expects the full bucket " << bucket << ", got " << getFull().getType();
  Operation *start = getFuture().getDefiningOp();
  if (!start)
    return success();
  auto gather = dyn_cast<AllGatherStartOp>(start);
  bool yields = gather && !gather.getInPlace();
  if (yields != static_cast<bool>(getFull())) // (C2)
    return emitOpError() << "expects " << (yields ? "a" : "no") << " full bucket from a wait for "
                         << (gather && !yields ? StringRef("a gather in place")
                                               : start->getName().getStringRef());
  return success();
}

} // namespace zero::ir
