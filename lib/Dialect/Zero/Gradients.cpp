//===- Gradients.cpp - gradients as they are formed and reduced --------------===//

#include "Symbols.h"

using namespace mlir;

namespace zero::ir {
namespace {

/// A grads value is linear: who forgets one, or uses it twice, breaks law S4.
LogicalResult verifyUsedOnce(Operation *op, Value grads) {
  if (grads.hasOneUse())
    return success();
  auto uses = std::distance(grads.use_begin(), grads.use_end());
  return op->emitOpError() << "expects its grads value to be used exactly once, got " << uses
                           << " uses";
}

template <typename OpT> LogicalResult verifyStart(OpT op) {
  FlatSymbolRefAttr bucket = op.getGrads().getType().getBucket();
  if (op.getFuture().getType().getBucket() == bucket) // (C1)
    return success();
  return op.emitOpError() << "expects a future of bucket " << bucket << ", got "
                          << op.getFuture().getType();
}

} // namespace

LogicalResult GradsOp::verify() { return verifyUsedOnce(*this, getGrads()); } // (C1)

LogicalResult GradsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBucketOf(*this, getBucketAttr(), getGrads().getType(), symbols); // (C2)
}

LogicalResult AccumulateOp::verify() { return verifyUsedOnce(*this, getResult()); } // (C1)

LogicalResult AccumulateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  SlotOp slot =
      lookupSlot(*this, getGrads().getType().getBucket(), getParamAttr(), symbols); // (C2)
  if (!slot)
    return failure();
  if (slot.getTensorType().getShape() != cast<RankedTensorType>(getGradient().getType()).getShape())
    return emitOpError() << "expects a gradient of the slot's shape, " << slot.getTensorType()
                         << ", got " << getGradient().getType();
  return success();
}

LogicalResult ReduceScatterStartOp::verify() { return verifyStart(*this); }
LogicalResult AllReduceStartOp::verify() { return verifyStart(*this); }

} // namespace zero::ir
