//===- VjpShape.cpp - products of ops that move elements --------------------===//
//
// A movement's product is the movement back: linear in the cotangent, and free of
// the op's operands.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {

static LogicalResult differentiate(ReshapeOp op, Vjp &vjp) {
  vjp.set(0, vjp.reshape(vjp.cotangent(), op.getInput().getType().getShape()));
  return success();
}
NN_DEFINE_VJP(ReshapeOp)

static LogicalResult differentiate(TransposeOp op, Vjp &vjp) {
  Shape inverse(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    inverse[from] = to;
  vjp.set(0, vjp.transpose(vjp.cotangent(), inverse));
  return success();
}
NN_DEFINE_VJP(TransposeOp)

static LogicalResult differentiate(BroadcastOp op, Vjp &vjp) {
  vjp.set(0, vjp.sumTo(vjp.cotangent(), op.getInput()));
  return success();
}
NN_DEFINE_VJP(BroadcastOp)

static LogicalResult differentiate(SliceOp op, Vjp &vjp) {
  ArrayRef<int64_t> from = op.getInput().getType().getShape(), starts = op.getStarts();
  ArrayRef<int64_t> taken = op.getType().getShape();
  Shape behind;
  for (auto [size, start, part] : llvm::zip_equal(from, starts, taken))
    behind.push_back(size - start - part);
  vjp.set(0, vjp.emit<PadOp>(vjp.cotangent(), starts, behind));
  return success();
}
NN_DEFINE_VJP(SliceOp)

static LogicalResult differentiate(PadOp op, Vjp &vjp) {
  ArrayRef<int64_t> sizes = op.getInput().getType().getShape();
  vjp.set(0, vjp.emit<SliceOp>(vjp.cotangent(), op.getLow(), sizes));
  return success();
}
NN_DEFINE_VJP(PadOp)

static LogicalResult differentiate(ConcatOp op, Vjp &vjp) {
  Shape starts(op.getType().getRank(), 0);
  int64_t &start = starts[op.getDim()];
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(input.getType()).getShape();
    if (vjp.wants(index))
      vjp.set(index, vjp.emit<SliceOp>(vjp.cotangent(), starts, sizes));
    start += sizes[op.getDim()];
  }
  return success();
}
NN_DEFINE_VJP(ConcatOp)

static LogicalResult differentiate(SplitOp op, Vjp &vjp) {
  SmallVector<Value> parts;
  for (auto [index, part] : llvm::enumerate(op.getParts()))
    parts.push_back(vjp.cotangent(index) ? vjp.cotangent(index) : vjp.zeros(part.getType()));
  vjp.set(0, vjp.emit<ConcatOp>(parts, op.getDim()));
  return success();
}
NN_DEFINE_VJP(SplitOp)

} // namespace zero::nn
