//===- BodyViews.cpp - strided views inside a kernel's body ----------------===//

#include "BodyViews.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

bool Window::isContiguous() const {
  SmallVector<int64_t> packed = rowMajorStrides(shape);
  for (auto [size, step, want] : llvm::zip(shape, strides, packed))
    if (size != 1 && step != want)
      return false;
  return true;
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
Type elementTypeOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count))
      return -1;
  return count;
}

int64_t storedBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

Type computeType(Type elementType) {
  bool isShort = elementType.isBF16() || elementType.isF16();
  return isShort ? Float32Type::get(elementType.getContext()) : elementType;
}
Type computeTypeOf(Value value) { return computeType(elementTypeOf(value)); }

std::optional<Window> reshaped(const Window &window, ArrayRef<int64_t> shape) {
  Window result{window.index, window.offset, SmallVector<int64_t>(shape), {}};
  int64_t count = elementCount(shape);
  if (count != elementCount(window.shape))
    return std::nullopt;
  if (count <= 0) {
    result.strides = rowMajorStrides(shape);
    return result;
  }
  std::optional<SmallVector<int64_t>> strides = reshapeStrides(window.shape, window.strides, shape);
  if (!strides)
    return std::nullopt;
  result.strides = *strides;
  return result;
}

Window transposed(const Window &window, ArrayRef<int64_t> permutation) {
  Window result{window.index, window.offset, {}, {}};
  for (int64_t dim : permutation) {
    result.shape.push_back(window.shape[dim]);
    result.strides.push_back(window.strides[dim]);
  }
  return result;
}

Window broadcasted(const Window &window, ArrayRef<int64_t> shape) {
  Window result{window.index, window.offset, SmallVector<int64_t>(shape),
                SmallVector<int64_t>(shape.size(), 0)};
  size_t lead = shape.size() - window.shape.size();
  for (auto [i, size] : llvm::enumerate(window.shape))
    if (size == shape[lead + i])
      result.strides[lead + i] = window.strides[i];
  return result;
}

Window argumentWindow(ir::KernelOp kernel, unsigned argument) {
  Value value = kernel.getBody().getArgument(argument);
  return {argument, 0, SmallVector<int64_t>(shapeOf(value)), kernel.getStridesOf(argument)};
}

std::optional<Window> traceArgument(ir::KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentWindow(kernel, argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::SplitOp, nn::BroadcastOp>(op))
    return std::nullopt;
  std::optional<Window> source = traceArgument(kernel, op->getOperand(0));
  if (!source)
    return std::nullopt;
  if (isa<nn::ReshapeOp>(op))
    return reshaped(*source, shapeOf(value));
  if (auto transpose = dyn_cast<nn::TransposeOp>(op))
    return transposed(*source, transpose.getPermutation());
  if (isa<nn::BroadcastOp>(op))
    return broadcasted(*source, shapeOf(value));
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    for (auto [start, step] : llvm::zip(slice.getStarts(), source->strides))
      source->offset += start * step;
  } else {
    auto split = cast<nn::SplitOp>(op);
    unsigned part = cast<OpResult>(value).getResultNumber();
    for (int64_t size : split.getSizes().take_front(part))
      source->offset += size * source->strides[split.getDim()];
  }
  source->shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  return source;
}

std::optional<Window> undone(const Window &window, Operation *view) {
  if (auto reshape = dyn_cast<nn::ReshapeOp>(view))
    return reshaped(window, shapeOf(reshape.getInput()));
  auto transpose = dyn_cast<nn::TransposeOp>(view);
  if (!transpose)
    return std::nullopt;
  SmallVector<int64_t> inverse(window.shape.size());
  for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
    inverse[dim] = i;
  return transposed(window, inverse);
}

std::optional<Window> traceResult(ir::KernelOp kernel, Value value) {
  if (!value.hasOneUse())
    return std::nullopt;
  OpOperand &use = *value.use_begin();
  Operation *user = use.getOwner();
  if (isa<ir::YieldOp>(user))
    return Window{use.getOperandNumber(), 0, SmallVector<int64_t>(shapeOf(value)),
                  rowMajorStrides(shapeOf(value))};
  if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::ConcatOp>(user))
    return std::nullopt;
  std::optional<Window> behind = traceResult(kernel, user->getResult(0));
  if (!behind)
    return std::nullopt;
  auto concat = dyn_cast<nn::ConcatOp>(user);
  if (!concat)
    return undone(*behind, user);
  int64_t before = 0;
  for (Value part : concat.getInputs().take_front(use.getOperandNumber()))
    before += shapeOf(part)[concat.getDim()];
  behind->offset += before * behind->strides[concat.getDim()];
  behind->shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  return behind;
}

} // namespace zero
