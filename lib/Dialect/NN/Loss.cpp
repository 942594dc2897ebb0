//===- Loss.cpp - cross-entropy and the count of labels ---------------------===//

#include "Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zero::nn;

/// The ignored value must be a value of the labels' type, or no label could equal it.
static LogicalResult checkIgnored(MaybeLocation location, RankedTensorType labels,
                                  int64_t ignored) {
  Type element = labels.getElementType();
  return expects(location,
                 element.isInteger() && llvm::isIntN(element.getIntOrFloatBitWidth(), ignored),
                 "an ignored value of type ", element, ", got ", ignored);
}

/// (C1) the labels' shape is the logits' without the last dimension; (C2) the ignored value.
static LogicalResult checkLabels(MaybeLocation location, RankedTensorType logits,
                                 RankedTensorType labels, int64_t ignored) {
  if (failed(expects(location,
                     logits.getRank() == labels.getRank() + 1 &&
                         logits.getShape().drop_back() == labels.getShape(),
                     "labels of the shape of ", logits, " without its last dimension, got ",
                     labels))) // (C1)
    return failure();
  return checkIgnored(location, labels, ignored); // (C2)
}

NN_INFER(CrossEntropyOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkLabels(location, (*types)[0], (*types)[1], adaptor.getIgnore())))
    return failure();
  return addResult(location, {}, accumulationType(types->front().getElementType()), inferred);
}
// maximum 1, difference 1, exp 1, sum 1
NN_KERNEL(CrossEntropyOp, KernelFamily::CrossEntropy, countFlops(getLogits(), 4))

NN_INFER(CrossEntropyWithGradOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkLabels(location, (*types)[0], (*types)[1], adaptor.getIgnore())))
    return failure();
  RankedTensorType logits = (*types)[0], seed = (*types)[2];
  auto scalar = RankedTensorType::get({}, accumulationType(logits.getElementType()));
  if (failed(expects(location, seed == scalar, "a seed of type ", scalar, ", got ", seed))) // (C3)
    return failure();
  inferred.append({scalar, logits});
  return success();
}
// The loss, then a quotient and a product an element.
NN_KERNEL(CrossEntropyWithGradOp, KernelFamily::CrossEntropy, countFlops(getLogits(), 6))

NN_INFER(CountLabelsOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getLabels());
  if (failed(types) || failed(checkIgnored(location, types->front(), adaptor.getIgnore()))) // (C1)
    return failure();
  inferred.push_back(RankedTensorType::get({}, IntegerType::get(types->front().getContext(), 64)));
  return success();
}
NN_KERNEL(CountLabelsOp, KernelFamily::None, 0)
