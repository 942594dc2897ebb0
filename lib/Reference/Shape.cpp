//===- Shape.cpp - ops that move or make elements --------------------------===//

#include "Ops.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;

namespace zero::reference {
namespace {

Array reshape(nn::ReshapeOp op, Operands x) {
  Array y = *x[0];
  y.shape.assign(op.getShape().begin(), op.getShape().end());
  // The other entries' product is 0 only where there is nothing to infer.
  int64_t known = 1;
  for (int64_t size : y.shape)
    known *= size == -1 ? 1 : size;
  for (int64_t &size : y.shape)
    if (size == -1)
      size = known == 0 ? 0 : x[0]->size() / known;
  return y;
}

Array transpose(nn::TransposeOp op, Operands x) {
  Shape own = stridesOf(x[0]->shape), shape, strides;
  for (int64_t d : op.getPermutation()) {
    shape.push_back(x[0]->shape[d]);
    strides.push_back(own[d]);
  }
  return take(*x[0], shape, positions(shape, strides));
}

Array broadcast(nn::BroadcastOp op, Operands x) {
  Shape shape(op.getShape());
  // An entry of -1 is the input's open dimension, passed through.
  size_t lead = shape.size() - x[0]->shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == -1)
      shape[d] = d < lead ? 1 : x[0]->shape[d - lead];
  return take(*x[0], shape, broadcastPositions(x[0]->shape, shape));
}

Array slice(nn::SliceOp op, Operands x) {
  Shape strides = stridesOf(x[0]->shape), shape(op.getSizes());
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1)
      shape[d] = x[0]->shape[d] - op.getStarts()[d];
    offset += op.getStarts()[d] * strides[d];
  }
  return take(*x[0], shape, positions(shape, strides, offset));
}

Array concat(nn::ConcatOp op, Operands x) {
  int64_t dim = op.getDim();
  Shape shape = x[0]->shape;
  shape[dim] = 0;
  for (const Array *part : x)
    shape[dim] += part->shape[dim];
  Array whole(shape, x[0]->isFloat);
  Shape strides = stridesOf(shape);
  int64_t begin = 0;
  for (const Array *part : x) {
    put(*part, whole, positions(part->shape, strides, begin * strides[dim]));
    begin += part->shape[dim];
  }
  return whole;
}

Results split(nn::SplitOp op, Operands x) {
  int64_t dim = op.getDim(), begin = 0;
  Shape strides = stridesOf(x[0]->shape), shape = x[0]->shape;
  Results parts;
  for (int64_t size : op.getSizes()) {
    shape[dim] = size;
    parts.push_back(take(*x[0], shape, positions(shape, strides, begin * strides[dim])));
    begin += size;
  }
  return parts;
}

Array pad(nn::PadOp op, Operands x) {
  Shape shape = x[0]->shape;
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += op.getLow()[d] + op.getHigh()[d];
  Shape strides = stridesOf(shape);
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset += op.getLow()[d] * strides[d];
  Array padded(shape, x[0]->isFloat);
  put(*x[0], padded, positions(x[0]->shape, strides, offset));
  return padded;
}

Array iota(nn::IotaOp op, Operands) {
  auto type = cast<RankedTensorType>(op.getType());
  Array y(type.getShape(), isa<FloatType>(type.getElementType()));
  Shape strides(type.getRank(), 0);
  strides[op.getDim()] = 1;
  std::vector<int64_t> index = positions(type.getShape(), strides);
  for (size_t k = 0; k < index.size(); ++k) {
    if (y.isFloat)
      y.f[k] = static_cast<double>(index[k]);
    else
      y.i[k] = index[k];
  }
  return y;
}

FailureOr<Array> constant(nn::ConstantOp op, Operands) {
  auto type = cast<RankedTensorType>(op.getType());
  Array y(type.getShape(), isa<FloatType>(type.getElementType()));
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError() << "expects a dense value, got " << op.getValue();
  if (y.isFloat) {
    for (auto [element, value] : llvm::zip_equal(y.f, dense.getValues<APFloat>()))
      element = value.convertToDouble();
  } else {
    bool isBool = type.getElementType().isInteger(1);
    for (auto [element, value] : llvm::zip_equal(y.i, dense.getValues<APInt>()))
      element = isBool ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
  }
  return y;
}

} // namespace

void registerShape(Registry &registry) {
  registry.add<nn::ReshapeOp>(reshape);
  registry.add<nn::TransposeOp>(transpose);
  registry.add<nn::BroadcastOp>(broadcast);
  registry.add<nn::SliceOp>(slice);
  registry.add<nn::ConcatOp>(concat);
  registry.add<nn::SplitOp>(split);
  registry.add<nn::PadOp>(pad);
  registry.add<nn::IotaOp>(iota);
  registry.add<nn::ConstantOp>(constant);
}

} // namespace zero::reference
