//===- VjpReduce.cpp - products of reductions -------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {

/// A value of the reduced shape with size 1 in the reduced dimensions, so that it broadcasts.
static Value keepDims(Vjp &vjp, Value reduced, RankedTensorType input, ArrayRef<int64_t> dims) {
  Shape shape(input.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return vjp.reshape(reduced, shape);
}

static LogicalResult differentiate(ReduceSumOp op, Vjp &vjp) {
  RankedTensorType input = op.getInput().getType();
  Value dy = keepDims(vjp, vjp.cotangent(), input, op.getDims());
  vjp.set(0, vjp.emit<BroadcastOp>(dy, input.getShape()));
  return success();
}
NN_DEFINE_VJP(ReduceSumOp)

static LogicalResult differentiate(ReduceMeanOp op, Vjp &vjp) {
  RankedTensorType input = op.getInput().getType();
  double count = 1.0;
  for (int64_t dim : op.getDims())
    count *= static_cast<double>(input.getDimSize(dim));
  Value dy = vjp.cotangent();
  Value share = vjp.div(dy, vjp.scalar(dy, count));
  vjp.set(0, vjp.emit<BroadcastOp>(keepDims(vjp, share, input, op.getDims()), input.getShape()));
  return success();
}
NN_DEFINE_VJP(ReduceMeanOp)

static LogicalResult differentiate(ReduceMaxOp op, Vjp &vjp) {
  // All elements that reach the maximum share the cotangent, as in torch.amax.
  RankedTensorType input = op.getInput().getType();
  Value maximum = keepDims(vjp, op.getResult(), input, op.getDims());
  Value reaches = vjp.emit<ConvertOp>(vjp.compare(Predicate::EQ, op.getInput(), maximum),
                                      input.getElementType());
  Value ties = vjp.emit<ReduceSumOp>(reaches, op.getDims(), /*keep=*/true);
  Value share = vjp.div(keepDims(vjp, vjp.cotangent(), input, op.getDims()), ties);
  vjp.set(0, vjp.mul(reaches, share));
  return success();
}
NN_DEFINE_VJP(ReduceMaxOp)

} // namespace zero::nn
