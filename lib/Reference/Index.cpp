//===- Index.cpp - reading and adding rows by index ---------------------===//

#include "Ops.h"

#include <algorithm>

using namespace mlir;

namespace zero::reference {
namespace {

FailureOr<Array> embedding(nn::EmbeddingOp op, Operands x) {
  const Array &indices = *x[0], &table = *x[1];
  if (failed(checkIndices(op, indices, table.shape[0])))
    return failure();
  int64_t width = table.shape[1];
  Shape shape = indices.shape;
  shape.push_back(width);
  Array y(shape, /*isFloat=*/true);
  for (size_t row = 0; row < indices.i.size(); ++row)
    std::copy_n(&table.f[indices.i[row] * width], width, &y.f[row * width]);
  return y;
}

// The input is [outer, dimension, inner]; the result [outer, indices, inner].
FailureOr<Array> gather(nn::GatherOp op, Operands x) {
  const Array &input = *x[0], &indices = *x[1];
  ArrayRef<int64_t> before = ArrayRef(input.shape).take_front(op.getDim());
  ArrayRef<int64_t> after = ArrayRef(input.shape).drop_front(op.getDim() + 1);
  int64_t size = input.shape[op.getDim()];
  if (failed(checkIndices(op, indices, size)))
    return failure();

  Shape shape(before);
  shape.append(indices.shape);
  shape.append(after.begin(), after.end());
  Array y(shape, /*isFloat=*/true);
  int64_t inner = countElements(after), target = 0;
  for (int64_t outer = 0; outer < countElements(before); ++outer)
    for (int64_t index : indices.i)
      for (int64_t k = 0; k < inner; ++k)
        y.f[target++] = input.f[(outer * size + index) * inner + k];
  return y;
}

FailureOr<Array> scatterAdd(nn::ScatterAddOp op, Operands x) {
  const Array &indices = *x[0], &updates = *x[1];
  if (failed(checkIndices(op, indices, op.getRows())))
    return failure();
  int64_t width = updates.lastDimension();
  Array table({static_cast<int64_t>(op.getRows()), width}, /*isFloat=*/true);
  for (size_t row = 0; row < indices.i.size(); ++row)
    for (int64_t k = 0; k < width; ++k)
      table.f[indices.i[row] * width + k] += updates.f[row * width + k];
  return table;
}

} // namespace

void registerIndex(Registry &registry) {
  registry.add<nn::EmbeddingOp>(embedding);
  registry.add<nn::GatherOp>(gather);
  registry.add<nn::ScatterAddOp>(scatterAdd);
}

} // namespace zero::reference
