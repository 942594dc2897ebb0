//===- Array.cpp - tensors of the reference interpreter ------------------===//

#include "zero/Reference/Array.h"

#include "Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero::reference {

int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string shapeText(ArrayRef<int64_t> shape) {
  auto sizes = llvm::map_range(shape, [](int64_t size) { return std::to_string(size); });
  return "[" + llvm::join(sizes, ", ") + "]";
}

Array::Array(ArrayRef<int64_t> shape, bool isFloat) : shape(shape), isFloat(isFloat) {
  if (isFloat)
    f.assign(countElements(shape), 0.0);
  else
    i.assign(countElements(shape), 0);
}

Array Array::floats(ArrayRef<int64_t> shape, std::vector<double> values) {
  Array array;
  array.shape.assign(shape.begin(), shape.end());
  array.f = std::move(values);
  return array;
}

Array Array::integers(ArrayRef<int64_t> shape, std::vector<int64_t> values) {
  Array array;
  array.shape.assign(shape.begin(), shape.end());
  array.isFloat = false;
  array.i = std::move(values);
  return array;
}

bool Array::fits(RankedTensorType type) const {
  if (type.getRank() != rank() || isa<FloatType>(type.getElementType()) != isFloat)
    return false;
  for (auto [want, have] : llvm::zip_equal(type.getShape(), shape))
    if (!ShapedType::isDynamic(want) && want != have)
      return false;
  return static_cast<int64_t>(isFloat ? f.size() : i.size()) == size();
}

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

std::vector<int64_t> positions(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset) {
  std::vector<int64_t> result;
  result.reserve(countElements(shape));
  result.push_back(offset);
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    std::vector<int64_t> outer = std::move(result);
    result.clear();
    for (int64_t base : outer)
      for (int64_t index = 0; index < size; ++index)
        result.push_back(base + index * stride);
  }
  return result;
}

Shape broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a);
  size_t lead = a.size() - b.size();
  for (size_t d = 0; d < b.size(); ++d)
    if (result[lead + d] == 1)
      result[lead + d] = b[d];
  return result;
}

std::vector<int64_t> broadcastPositions(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Shape own = stridesOf(from), strides(to.size(), 0);
  size_t lead = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    strides[lead + d] = from[d] == 1 ? 0 : own[d];
  return positions(to, strides);
}

Array take(const Array &from, ArrayRef<int64_t> shape, ArrayRef<int64_t> source) {
  Array result(shape, from.isFloat);
  for (size_t k = 0; k < source.size(); ++k) {
    if (from.isFloat)
      result.f[k] = from.f[source[k]];
    else
      result.i[k] = from.i[source[k]];
  }
  return result;
}

void put(const Array &from, Array &into, ArrayRef<int64_t> target) {
  for (size_t k = 0; k < target.size(); ++k) {
    if (from.isFloat)
      into.f[target[k]] = from.f[k];
    else
      into.i[target[k]] = from.i[k];
  }
}

LogicalResult checkIndices(Operation *op, const Array &indices, int64_t bound,
                           std::optional<int64_t> ignore) {
  for (int64_t index : indices.i)
    if ((index < 0 || index >= bound) && index != ignore)
      return op->emitOpError() << "expects indices in [0, " << bound << "), got " << index;
  return success();
}

} // namespace zero::reference
