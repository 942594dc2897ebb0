//===- Shapes.cpp - shape rules that the ops share --------------------------===//

#include "Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::nn {

std::optional<int64_t> countElements(ArrayRef<int64_t> sizes) {
  // A size of 0 makes the product 0, whatever stands beside it.
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size != kOpen && llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

LogicalResult checkTensor(MaybeLocation location, RankedTensorType type) {
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      return emitOptionalError(location, "expects only dimension 0 to be open, got ", type);
  Type element = type.getElementType();
  int64_t bytes = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
  std::optional<int64_t> count = countElements(type.getShape());
  if (!count || llvm::MulOverflow(*count, bytes, bytes))
    return emitOptionalError(location, "expects a tensor of at most 2^63 - 1 bytes, got ", type);
  return success();
}

FailureOr<TensorTypes> operandTypes(MaybeLocation location, ValueRange operands) {
  TensorTypes types;
  for (Type type : operands.getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return emitOptionalError(location, "expects ranked tensors as operands, got ", type);
    if (failed(checkTensor(location, tensor)))
      return failure();
    types.push_back(tensor);
  }
  return types;
}

LogicalResult addResult(MaybeLocation location, ArrayRef<int64_t> shape, Type element,
                        SmallVectorImpl<Type> &inferred) {
  auto type = RankedTensorType::get(shape, element);
  inferred.push_back(type);
  return checkTensor(location, type);
}

FailureOr<Shape> broadcastShapes(MaybeLocation location, ArrayRef<RankedTensorType> types) {
  int64_t rank = 0;
  for (RankedTensorType type : types)
    rank = std::max(rank, type.getRank());
  Shape shape(rank, 1);
  for (RankedTensorType type : types)
    for (auto [index, size] : llvm::enumerate(type.getShape())) {
      int64_t &common = shape[rank - type.getRank() + index];
      if (common == 1)
        common = size;
      else if (size != 1 && size != common)
        return emitOptionalError(location, "expects shapes that broadcast, got ", types);
    }
  return shape;
}

LogicalResult checkEqualElements(MaybeLocation location, ArrayRef<RankedTensorType> types) {
  for (RankedTensorType type : types)
    if (type.getElementType() != types.front().getElementType())
      return emitOptionalError(location, "expects equal element types, got ",
                               types.front().getElementType(), " and ", type.getElementType());
  return success();
}

LogicalResult checkDimension(MaybeLocation location, int64_t dim, int64_t rank) {
  return expects(location, dim >= 0 && dim < rank, "a dimension in [0, ", rank, "), got ", dim);
}

Type accumulationType(Type element) {
  return element.isF16() || element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t countFlops(Value value, int64_t factor) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape())
    return 0;
  return saturatingProduct(
      countElements(type.getShape()).value_or(std::numeric_limits<int64_t>::max()), factor);
}

} // namespace zero::nn
