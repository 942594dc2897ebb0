//===- Contract.cpp - matrix products ---------------------------------------===//
//
// A contraction costs a multiply-add, two operations, for every element of the
// result and every contracted index.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

using namespace mlir;
using namespace zero::nn;

/// Whether the lists name distinct dimensions of a tensor.
static bool namesDimensions(ArrayRef<int64_t> batch, ArrayRef<int64_t> contract, int64_t rank) {
  Shape all(batch);
  llvm::append_range(all, contract);
  llvm::sort(all);
  return std::adjacent_find(all.begin(), all.end()) == all.end() &&
         (all.empty() || (all.front() >= 0 && all.back() < rank));
}

NN_INFER(DotGeneralOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkEqualElements(location, *types)))
    return failure();
  RankedTensorType lhs = types->front(), rhs = types->back();
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatch(), rhsBatch = adaptor.getRhsBatch();
  ArrayRef<int64_t> lhsContract = adaptor.getLhsContract(), rhsContract = adaptor.getRhsContract();
  bool valid = lhsBatch.size() == rhsBatch.size() && lhsContract.size() == rhsContract.size() &&
               namesDimensions(lhsBatch, lhsContract, lhs.getRank()) &&
               namesDimensions(rhsBatch, rhsContract, rhs.getRank());
  if (failed(expects(location, valid, "paired lists of distinct dimensions of ", lhs, " and ", rhs,
                     ", got batch [", lhsBatch, "] x [", rhsBatch, "] contracting [", lhsContract,
                     "] x [", rhsContract, "]"))) // (C1)
    return failure();

  Shape shape;
  auto agree = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) -> LogicalResult {
    for (auto [l, r] : llvm::zip_equal(left, right))
      if (failed(expects(location, lhs.getDimSize(l) == rhs.getDimSize(r), "dimension ", l, " of ",
                         lhs, " to agree with dimension ", r, ", got ", rhs))) // (C2)
        return failure();
    return success();
  };
  if (failed(agree(lhsBatch, rhsBatch)) || failed(agree(lhsContract, rhsContract)))
    return failure();
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  auto addFree = [&](RankedTensorType type, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
        shape.push_back(type.getDimSize(dim));
  };
  addFree(lhs, lhsBatch, lhsContract);
  addFree(rhs, rhsBatch, rhsContract);
  return addResult(location, shape, lhs.getElementType(), inferred);
}

KernelFamily DotGeneralOp::getKernelFamily() { return KernelFamily::Gemm; }

int64_t DotGeneralOp::getFlops() {
  int64_t perElement = 2;
  for (int64_t dim : getLhsContract()) {
    if (getLhs().getType().isDynamicDim(dim))
      return 0;
    perElement = saturatingProduct(perElement, getLhs().getType().getDimSize(dim));
  }
  return countFlops(getResult(), perElement);
}

NN_INFER(LinearOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkEqualElements(location, *types)))
    return failure();
  RankedTensorType input = (*types)[0], weight = (*types)[1];
  if (failed(expects(location, weight.getRank() == 2 && weight.hasStaticShape(),
                     "a closed weight of rank 2, got ", weight))) // (C1)
    return failure();
  int64_t in = weight.getDimSize(adaptor.getTransposed() ? 1 : 0);
  int64_t out = weight.getDimSize(adaptor.getTransposed() ? 0 : 1);
  if (failed(expects(location, input.getRank() >= 1 && input.getShape().back() == in,
                     "an input whose last dimension is ", in, ", got ", input))) // (C2)
    return failure();
  if (types->size() == 3 && failed(expects(location, (*types)[2].getShape() == ArrayRef(out),
                                           "a bias of ", out, " elements, got ",
                                           (*types)[2]))) // (C3)
    return failure();
  Shape shape(input.getShape());
  shape.back() = out;
  return addResult(location, shape, input.getElementType(), inferred);
}

KernelFamily LinearOp::getKernelFamily() { return KernelFamily::Gemm; }

int64_t LinearOp::getFlops() {
  int64_t perElement = saturatingProduct(2, getWeight().getType().getDimSize(getTransposed()));
  // The bias adds one; an overflown count stays where it is.
  if (getBias() && perElement != std::numeric_limits<int64_t>::max())
    ++perElement;
  return countFlops(getResult(), perElement);
}
