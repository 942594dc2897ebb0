//===- Rotary.cpp - rotary positions ----------------------------------------===//

#include "Shapes.h"

#include <cmath>

using namespace mlir;
using namespace zero::nn;

NN_INFER(RotaryOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  if (failed(expects(location, input.getRank() == 4, "an input of rank 4, got ", input))) // (C1)
    return failure();
  ArrayRef<double> frequencies = adaptor.getFrequencies();
  int64_t depth = input.getDimSize(3), count = frequencies.size();
  if (failed(expects(location, count > 0 && depth == 2 * count, "a depth of twice the ", count,
                     " frequencies, got ", depth))) // (C2)
    return failure();
  for (double frequency : frequencies)
    if (failed(expects(location, std::isfinite(frequency), "finite frequencies, got ",
                       frequency))) // (C3)
      return failure();
  // While the op is parsed, its default value is not there yet.
  FloatAttr attr = adaptor.getFactorAttr();
  double factor = attr ? attr.getValueAsDouble() : 1.0;
  if (failed(expects(location, std::isfinite(factor) && factor > 0.0,
                     "a positive, finite factor, got ", factor))) // (C4)
    return failure();
  inferred.push_back(input);
  return success();
}
// Two products and their sum.
NN_KERNEL(RotaryOp, KernelFamily::Row, countFlops(getResult(), 3))
