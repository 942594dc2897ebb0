//===- VjpReduce.cpp - products of reductions -------------------------------===//
//
// A number of elements is no 16-bit float (f16 ends at 65504), so shares of a
// 16-bit cotangent are formed in f32.
//
//===----------------------------------------------------------------------===//

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
  Type element = input.getElementType();
  Value dy = vjp.convert(vjp.cotangent(), accumulationType(element));
  Value share = vjp.convert(vjp.div(dy, vjp.scalar(dy, count)), element);
  vjp.set(0, vjp.emit<BroadcastOp>(keepDims(vjp, share, input, op.getDims()), input.getShape()));
  return success();
}
NN_DEFINE_VJP(ReduceMeanOp)

static LogicalResult differentiate(ReduceMaxOp op, Vjp &vjp) {
  // All elements that reach the maximum share the cotangent, as in torch.amax.
  RankedTensorType input = op.getInput().getType();
  Type element = input.getElementType();
  Value maximum = keepDims(vjp, op.getResult(), input, op.getDims());
  Value reaches =
      vjp.convert(vjp.compare(Predicate::EQ, op.getInput(), maximum), accumulationType(element));
  Value ties = vjp.emit<ReduceSumOp>(reaches, op.getDims(), /*keep=*/true);
  Value dy = vjp.convert(vjp.cotangent(), accumulationType(element));
  Value share = vjp.div(keepDims(vjp, dy, input, op.getDims()), ties);
  vjp.set(0, vjp.convert(vjp.mul(reaches, share), element));
  return success();
}
NN_DEFINE_VJP(ReduceMaxOp)

} // namespace zero::nn
