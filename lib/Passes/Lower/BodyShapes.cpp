//===- BodyShapes.cpp - the shapes that a generated kernel's loops run over -===//

#include "BodyShapes.h"
#include "BodyViews.h"

using namespace mlir;

namespace zero {

bool isElementwise(Operation *op) {
  if (isa<nn::DropoutOp>(op)) // an element depends on its place
    return false;
  auto kernel = dyn_cast<nn::KernelOpInterface>(op);
  return kernel && kernel.getKernelFamily() == nn::KernelFamily::Elementwise;
}

BodyShapes::BodyShapes(ir::KernelOp kernelOp) : kernel(kernelOp) {
  Block &body = kernel.getBody().front();
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() == 0)
    return;
  ArrayRef<int64_t> shape = shapeOf(yield->getOperand(0));
  for (Value result : yield->getOperands())
    if (shapeOf(result) != shape)
      return;
  for (Operation &op : body.without_terminator()) {
    auto constant = dyn_cast<nn::ConstantOp>(op);
    if (constant ? !isa<SplatElementsAttr>(constant.getValue()) : !isElementwise(&op))
      return;
    if (shapeOf(op.getResult(0)).size() > shape.size())
      return;
  }
  for (BlockArgument argument : body.getArguments())
    if (shapeOf(argument).size() > shape.size())
      return;
  domain.assign(shape.begin(), shape.end());
  for (int64_t dim = 0; dim < static_cast<int64_t>(domain.size()); ++dim) {
    if (!groups.empty() && canMerge(dim))
      groups.back().second = dim + 1;
    else
      groups.push_back({dim, dim + 1});
  }
}

/// Whether `dim` joins the last group: no value holds the one without the other.
bool BodyShapes::canMerge(int64_t dim) const {
  auto [begin, end] = groups.back();
  int64_t rank = domain.size();
  auto whole = [&](Value value, int64_t d) {
    ArrayRef<int64_t> shape = shapeOf(value);
    int64_t at = d - (rank - static_cast<int64_t>(shape.size()));
    return at >= 0 && shape[at] == domain[d];
  };
  // The group's last dimension that is not of size 1 speaks for it.
  int64_t last = -1;
  for (int64_t d = begin; d < end; ++d)
    if (domain[d] != 1)
      last = d;
  if (domain[dim] == 1 || last < 0)
    return true;
  auto agrees = [&](Value value) { return whole(value, last) == whole(value, dim); };
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    if (!agrees(op.getResult(0)))
      return false;
  for (BlockArgument argument : body.getArguments()) {
    int64_t lead = rank - static_cast<int64_t>(shapeOf(argument).size());
    if (!agrees(argument))
      return false;
    SmallVector<int64_t> strides = kernel.getStridesOf(argument.getArgNumber());
    if (whole(argument, dim) && strides[last - lead] != strides[dim - lead] * domain[dim])
      return false;
  }
  return true;
}

SmallVector<int64_t> BodyShapes::of(Value value) const {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (groups.empty())
    return SmallVector<int64_t>(shape);
  int64_t lead = static_cast<int64_t>(domain.size() - shape.size());
  SmallVector<int64_t> result;
  for (auto [begin, end] : groups) {
    int64_t size = 1;
    for (int64_t d = std::max(begin, lead); d < end; ++d)
      size *= shape[d - lead];
    result.push_back(size);
  }
  return result;
}

SmallVector<int64_t> BodyShapes::stridesOf(BlockArgument argument) const {
  SmallVector<int64_t> strides = kernel.getStridesOf(argument.getArgNumber());
  if (groups.empty())
    return strides;
  ArrayRef<int64_t> shape = shapeOf(argument);
  int64_t lead = static_cast<int64_t>(domain.size() - shape.size());
  SmallVector<int64_t> result;
  for (auto [begin, end] : groups) {
    int64_t step = 0;
    for (int64_t d = std::max(begin, lead); d < end; ++d)
      if (shape[d - lead] != 1)
        step = strides[d - lead];
    result.push_back(step);
  }
  return result;
}

} // namespace zero
