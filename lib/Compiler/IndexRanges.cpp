//===- IndexRanges.cpp - which integers a batch argument may hold ----------===//

#include "IndexRanges.h"

#include "zero/Dialect/NN/NN.h"

using namespace mlir;

namespace zero {

static void follow(Value value, const ModuleIndex &index, IndexRange &range) {
  auto tighten = [&](int64_t bound) { range.bound = std::min(range.bound.value_or(bound), bound); };
  auto dim = [](Value v, int64_t d) { return cast<RankedTensorType>(v.getType()).getDimSize(d); };
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto launch = dyn_cast<ir::LaunchOp>(user)) {
      if (ir::KernelOp kernel = index.kernels.lookup(launch.getKernel());
          kernel && !kernel.getBody().empty())
        follow(kernel.getBody().getArgument(use.getOperandNumber()), index, range);
    } else if (auto embedding = dyn_cast<nn::EmbeddingOp>(user)) {
      tighten(dim(embedding.getTable(), 0));
    } else if (auto gather = dyn_cast<nn::GatherOp>(user); gather && use.getOperandNumber() == 1) {
      tighten(dim(gather.getInput(), gather.getDim()));
    } else if (auto scatter = dyn_cast<nn::ScatterAddOp>(user);
               scatter && use.getOperandNumber() == 0) {
      tighten(scatter.getRows());
    } else if (auto loss = dyn_cast<nn::CrossEntropyWithGradOp>(user)) {
      tighten(
          dim(loss.getLogits(), cast<RankedTensorType>(loss.getLogits().getType()).getRank() - 1));
      range.ignore = loss.getIgnore();
    } else if (isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::SplitOp, nn::BroadcastOp>(
                   user)) {
      for (Value result : user->getResults())
        follow(result, index, range);
    }
  }
}

IndexRange indexRangeOf(BlockArgument argument, const ModuleIndex &index) {
  IndexRange range;
  if (isa<IntegerType>(cast<RankedTensorType>(argument.getType()).getElementType()))
    follow(argument, index, range);
  return range;
}

} // namespace zero
