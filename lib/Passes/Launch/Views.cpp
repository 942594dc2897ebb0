//===- Views.cpp - strides and offsets of view ops -------------------------===//
//
// Views move nothing: a launch reads its operand through static strides. A
// reshape keeps strides if it splits dimensions, or merges ones that lie behind
// one another; otherwise it is no view, and its elements have to be copied.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Views.h"
#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"

using namespace mlir;

namespace zero {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

std::optional<SmallVector<int64_t>>
reshapeStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> strides, ArrayRef<int64_t> to) {
  SmallVector<int64_t> sizes, steps; // source without ones, neighbours merged where they touch
  for (auto [size, step] : llvm::zip(from, strides)) {
    if (size == 1)
      continue;
    if (!sizes.empty() && steps.back() == step * size) {
      sizes.back() *= size;
      steps.back() = step;
    } else {
      sizes.push_back(size);
      steps.push_back(step);
    }
  }
  SmallVector<int64_t> result(to.size(), 0);
  int64_t at = static_cast<int64_t>(sizes.size()) - 1, inner = 1;
  for (int64_t i = static_cast<int64_t>(to.size()) - 1; i >= 0; --i) {
    if (to[i] == 1)
      continue;
    if (at < 0 || sizes[at] % (inner * to[i]) != 0)
      return std::nullopt;
    result[i] = steps[at] * inner;
    inner *= to[i];
    if (inner == sizes[at]) {
      --at;
      inner = 1;
    }
  }
  return result;
}

bool View::isContiguous(RankedTensorType type) const {
  SmallVector<int64_t> packed = rowMajorStrides(type.getShape());
  for (auto [size, step, want] : llvm::zip(type.getShape(), strides, packed))
    if (size != 1 && step != want)
      return false;
  return true;
}

bool View::coversRoot(RankedTensorType type) const {
  auto rootType = dyn_cast<RankedTensorType>(root.getType());
  return rootType && offset == 0 && rootType.getNumElements() == type.getNumElements() &&
         isContiguous(type);
}

View traceView(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return {value, 0, {}};
  View self{value, 0, rowMajorStrides(type.getShape())};
  Operation *op = value.getDefiningOp();
  if (!op)
    return self;

  if (auto barrier = dyn_cast<nn::BarrierOp>(op)) // the same bytes, at another time
    return traceView(barrier.getInput());
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
    View source = traceView(reshape.getInput());
    auto from = cast<RankedTensorType>(reshape.getInput().getType());
    auto strides = reshapeStrides(from.getShape(), source.strides, type.getShape());
    return strides ? View{source.root, source.offset, *strides} : self;
  }
  if (auto transpose = dyn_cast<nn::TransposeOp>(op)) {
    View source = traceView(transpose.getInput());
    SmallVector<int64_t> strides;
    for (int64_t dim : transpose.getPermutation())
      strides.push_back(source.strides[dim]);
    return {source.root, source.offset, strides};
  }
  if (auto slice = dyn_cast<nn::SliceOp>(op)) {
    View source = traceView(slice.getInput());
    for (auto [start, step] : llvm::zip(slice.getStarts(), source.strides))
      source.offset += start * step;
    return source;
  }
  if (auto split = dyn_cast<nn::SplitOp>(op)) {
    View source = traceView(split.getInput());
    int64_t before = 0;
    for (unsigned i = 0; i < cast<OpResult>(value).getResultNumber(); ++i)
      before += split.getSizes()[i];
    source.offset += before * source.strides[split.getDim()];
    return source;
  }
  if (auto broadcast = dyn_cast<nn::BroadcastOp>(op)) {
    View source = traceView(broadcast.getInput());
    auto from = cast<RankedTensorType>(broadcast.getInput().getType());
    SmallVector<int64_t> strides(type.getRank(), 0);
    int64_t lead = type.getRank() - from.getRank();
    for (int64_t i = 0; i < from.getRank(); ++i)
      if (from.getDimSize(i) != 1 || type.getDimSize(lead + i) == 1)
        strides[lead + i] = source.strides[i];
    return {source.root, source.offset, strides};
  }
  return self;
}

bool isView(Operation *op) {
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::SplitOp, nn::BroadcastOp>(op) &&
         traceView(op->getResult(0)).root != op->getResult(0);
}

Operation *sinkOf(Value result) {
  for (Operation *user : result.getUsers()) {
    if (isa<ir::AccumulateOp, ir::SetOp>(user))
      return user;
    if (isView(user))
      for (Value view : user->getResults())
        if (Operation *sink = sinkOf(view))
          return sink;
  }
  return nullptr;
}

} // namespace zero
