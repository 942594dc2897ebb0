//===- Norm.cpp - normalisation along the last dimension --------------------===//
//
// FLOPs are counted per element of the input, as the formulas of the ops'
// descriptions have them; what is done once a row is left out.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

using namespace mlir;
using namespace zero::nn;

/// Checks rows of at least rank 1, vectors of their length (C1), and epsilon (C2). Norms are
/// computed in f32 where rows are 16-bit, so that an f32 weight meets them as it is.
static LogicalResult checkNorm(MaybeLocation location, ArrayRef<RankedTensorType> rows,
                               ArrayRef<RankedTensorType> vectors, const llvm::APFloat &eps) {
  RankedTensorType input = rows.front();
  if (failed(expects(location, input.getRank() >= 1, "an input of rank 1 or more, got ", input)))
    return failure();
  for (RankedTensorType row : rows)
    if (failed(expects(location, row == input, "a cotangent of type ", input, ", got ", row)))
      return failure();
  for (RankedTensorType vector : vectors)
    if (failed(expects(location,
                       vector.getShape() == input.getShape().take_back() &&
                           (vector.getElementType() == input.getElementType() ||
                            vector.getElementType() == accumulationType(input.getElementType())),
                       "weight and bias as long as the last dimension of ", input, ", got ",
                       vector))) // (C1)
      return failure();
  return expects(location, eps.isFiniteNonZero() && !eps.isNegative(),
                 "a positive, finite eps, got ", eps.convertToDouble()); // (C2)
}

/// Of dy (or x), the weight, and the other of the two: shaped as the rows.
static LogicalResult inferGradInput(MaybeLocation location, ValueRange operands, const APFloat &eps,
                                    SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, operands);
  if (failed(types) || failed(checkNorm(location, {(*types)[0], (*types)[2]}, (*types)[1], eps)))
    return failure();
  inferred.push_back(types->front());
  return success();
}

/// Of two arrays of rows: as long as a row.
static LogicalResult inferGradWeight(MaybeLocation location, ValueRange operands,
                                     const APFloat &eps, SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, operands);
  if (failed(types) || failed(checkNorm(location, *types, {}, eps)))
    return failure();
  RankedTensorType input = types->front();
  return addResult(location, input.getShape().take_back(), input.getElementType(), inferred);
}

NN_INFER(LayerNormOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) ||
      failed(checkNorm(location, (*types)[0], {(*types)[1], (*types)[2]}, adaptor.getEps())))
    return failure();
  inferred.push_back(types->front());
  return success();
}
// mean 1, centring 1, variance 2, scaling 1, weight 1, bias 1
NN_KERNEL(LayerNormOp, KernelFamily::Row, countFlops(getResult(), 7))

NN_INFER(LayerNormGradInputOp) {
  return inferGradInput(location, adaptor.getOperands(), adaptor.getEps(), inferred);
}
// normalised x 5, dy · weight 1, its mean 1, its mean with x 2, combined 4
NN_KERNEL(LayerNormGradInputOp, KernelFamily::Row, countFlops(getResult(), 13))

NN_INFER(LayerNormGradWeightOp) {
  return inferGradWeight(location, adaptor.getOperands(), adaptor.getEps(), inferred);
}
// normalised x 5, times dy 1, summed 1
NN_KERNEL(LayerNormGradWeightOp, KernelFamily::Column, countFlops(getInput(), 7))

NN_INFER(RmsNormOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkNorm(location, (*types)[0], (*types)[1], adaptor.getEps())))
    return failure();
  inferred.push_back(types->front());
  return success();
}
// squares 1, their mean 1, scaling 1, weight 1
NN_KERNEL(RmsNormOp, KernelFamily::Row, countFlops(getResult(), 4))

NN_INFER(RmsNormGradInputOp) {
  return inferGradInput(location, adaptor.getOperands(), adaptor.getEps(), inferred);
}
// normalised x 3, dy · weight 1, its mean with x 2, combined 3
NN_KERNEL(RmsNormGradInputOp, KernelFamily::Row, countFlops(getResult(), 9))

NN_INFER(RmsNormGradWeightOp) {
  return inferGradWeight(location, adaptor.getOperands(), adaptor.getEps(), inferred);
}
// normalised x 3, times dy 1, summed 1
NN_KERNEL(RmsNormGradWeightOp, KernelFamily::Column, countFlops(getInput(), 5))

static LogicalResult inferSoftmax(MaybeLocation location, Value rows,
                                  SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, rows);
  if (failed(types) || failed(expects(location, types->front().getRank() >= 1,
                                      "an input of rank 1 or more, got ", types->front())))
    return failure();
  inferred.push_back(types->front());
  return success();
}

NN_INFER(SoftmaxOp) { return inferSoftmax(location, adaptor.getInput(), inferred); }
// maximum 1, difference 1, exp 1, sum 1, quotient 1
NN_KERNEL(SoftmaxOp, KernelFamily::Row, countFlops(getResult(), 5))

NN_INFER(SoftmaxGradOp) { return inferSoftmax(location, adaptor.getDy(), inferred); }
// y·dy summed 2, difference 1, product 1
NN_KERNEL(SoftmaxGradOp, KernelFamily::Row, countFlops(getResult(), 4))
