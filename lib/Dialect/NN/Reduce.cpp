//===- Reduce.cpp - reductions ----------------------------------------------===//

#include "Shapes.h"

using namespace mlir;
using namespace zero::nn;

static LogicalResult inferReduction(MaybeLocation location, Value operand, ArrayRef<int64_t> dims,
                                    bool keep, SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, operand);
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  bool valid = !dims.empty() && dims.front() >= 0 && dims.back() < input.getRank() &&
               llvm::is_sorted(dims, std::less_equal<int64_t>());
  if (failed(expects(location, valid, "distinct ascending dimensions in [0, ", input.getRank(),
                     "), got [", dims, "]"))) // (C1)
    return failure();
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (keep)
      shape.push_back(1);
  }
  return addResult(location, shape, input.getElementType(), inferred);
}

/// Rows are reduced along memory; every other reduction runs over rows.
static KernelFamily reductionFamily(RankedTensorType input, ArrayRef<int64_t> dims) {
  return dims.size() == 1 && dims.front() == input.getRank() - 1 ? KernelFamily::Row
                                                                 : KernelFamily::Column;
}

#define NN_REDUCE(OP)                                                                              \
  NN_INFER(OP) {                                                                                   \
    return inferReduction(location, adaptor.getInput(), adaptor.getDims(), adaptor.getKeep(),      \
                          inferred);                                                               \
  }                                                                                                \
  NN_KERNEL(OP, reductionFamily(getInput().getType(), getDims()), countFlops(getInput(), 1))

NN_REDUCE(ReduceSumOp)
NN_REDUCE(ReduceMeanOp)
NN_REDUCE(ReduceMaxOp)
