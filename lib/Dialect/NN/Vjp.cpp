//===- Vjp.cpp - what the vector-Jacobian products share --------------------===//

#include "Vjp.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace zero::nn {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static DenseElementsAttr scalarOf(Value like, function_ref<Attribute(Type)> number) {
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  return DenseElementsAttr::get(RankedTensorType::get({}, element), number(element));
}

Value Vjp::scalar(Value like, double number) {
  return emit<ConstantOp>(
      scalarOf(like, [&](Type element) { return builder.getFloatAttr(element, number); }));
}

Value Vjp::integer(Value like, int64_t number) {
  return emit<ConstantOp>(
      scalarOf(like, [&](Type element) { return builder.getIntegerAttr(element, number); }));
}

Value Vjp::zeros(Type type) {
  return emit<ConstantOp>(cast<ElementsAttr>(builder.getZeroAttr(type)));
}

Value Vjp::convert(Value value, Type element) {
  bool same = cast<RankedTensorType>(value.getType()).getElementType() == element;
  return same ? value : emit<ConvertOp>(value, element);
}

Value Vjp::reshape(Value value, ArrayRef<int64_t> shape) {
  return shapeOf(value) == shape ? value : emit<ReshapeOp>(value, shape);
}

Value Vjp::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  return emit<TransposeOp>(value, permutation);
}

Value Vjp::sumTo(Value value, Value like) {
  ArrayRef<int64_t> from = shapeOf(value), to = shapeOf(like);
  int64_t lead = from.size() - to.size();
  Shape dims;
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim)
    if (dim < lead || (to[dim - lead] == 1 && from[dim] != 1))
      dims.push_back(dim);
  if (!dims.empty())
    value = emit<ReduceSumOp>(value, dims, /*keep=*/false);
  return reshape(value, to);
}

Value Vjp::sumRows(Value value) {
  auto leading = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(value).size() - 1));
  return leading.empty() ? value : emit<ReduceSumOp>(value, leading, /*keep=*/false);
}

} // namespace zero::nn
