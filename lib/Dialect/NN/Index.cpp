//===- Index.cpp - reading and adding rows by index -------------------------===//

#include "Shapes.h"

using namespace mlir;
using namespace zero::nn;

NN_INFER(EmbeddingOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types))
    return failure();
  RankedTensorType indices = types->front(), table = types->back();
  if (failed(expects(location, table.getRank() == 2 && table.hasStaticShape(),
                     "a closed table of rank 2, got ", table))) // (C1)
    return failure();
  if (std::optional<uint64_t> row = adaptor.getPadding()) {
    auto padding = static_cast<int64_t>(*row);
    if (failed(expects(location, padding >= 0 && padding < table.getDimSize(0),
                       "padding to be one of the ", table.getDimSize(0), " rows, got ",
                       padding))) // (C2)
      return failure();
  }
  Shape shape(indices.getShape());
  shape.push_back(table.getDimSize(1));
  return addResult(location, shape, table.getElementType(), inferred);
}
NN_KERNEL(EmbeddingOp, KernelFamily::Gather, 0)

NN_INFER(GatherOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front(), indices = types->back();
  auto dim = static_cast<int64_t>(adaptor.getDim());
  if (failed(checkDimension(location, dim, input.getRank()))) // (C1)
    return failure();
  Shape shape(input.getShape().take_front(dim));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, input.getShape().drop_front(dim + 1));
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(GatherOp, KernelFamily::Gather, 0)

NN_INFER(ScatterAddOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types))
    return failure();
  RankedTensorType indices = types->front(), updates = types->back();
  bool pairs = updates.getRank() == indices.getRank() + 1 &&
               updates.getShape().drop_back() == indices.getShape();
  if (failed(expects(location, pairs, "updates of the indices' shape and one more dimension, got ",
                     updates, " for ", indices))) // (C1)
    return failure();
  auto rows = static_cast<int64_t>(adaptor.getRows());
  if (failed(expects(location, rows >= 1, "at least one row, got ", rows))) // (C2)
    return failure();
  return addResult(location, {rows, updates.getShape().back()}, updates.getElementType(), inferred);
}
NN_KERNEL(ScatterAddOp, KernelFamily::Scatter, countFlops(getUpdates(), 1))
