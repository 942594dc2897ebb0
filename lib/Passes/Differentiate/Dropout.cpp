//===- Dropout.cpp - dropout of a training graph, keyed or taken away ------===//
//
// What dropout draws must not change with ranks, stages or recomputation, so an op
// is known by its number in the inlined function, and a sample by its number in the
// step's batch. Both are fixed here, before differentiation: backward repeats the op
// on the cotangent, number and key included.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Dropout.h"

#include "zero/Dialect/NN/NN.h"

using namespace mlir;

namespace zero {

BlockArgument randomArgument(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kRandomAttr))
      return argument;
  return nullptr;
}

unsigned batchArgumentCount(func::FuncOp joint) {
  return joint.getNumArguments() - (randomArgument(joint) ? 2 : 1);
}

static void replaceByInput(nn::DropoutOp dropout) {
  dropout.getResult().replaceAllUsesWith(dropout.getInput());
  dropout.erase();
}

static void removeFrom(nn::AttentionOp attention) {
  attention.getRandomMutable().clear();
  attention.removeDropoutAttr();
  attention.removeSiteAttr();
}

/// Values that differ from sample to sample, if at all.
static DenseSet<Value> valuesOfBatch(func::FuncOp forward) {
  DenseSet<Value> values(forward.getArguments().begin(), forward.getArguments().end());
  for (Operation &op : forward.front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op.result_begin(), op.result_end());
  return values;
}

/// Whether each of the samples has an equal share of the value's elements.
static bool isOfSamples(Operation *op, int64_t samples) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return isa<nn::AttentionOp>(op) ? type.getDimSize(0) == samples
                                  : type.getNumElements() % samples == 0;
}

LogicalResult keyDropout(func::FuncOp forward) {
  SmallVector<Operation *> dropping;
  for (Operation &op : llvm::make_early_inc_range(forward.front())) {
    auto dropout = dyn_cast<nn::DropoutOp>(op);
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (dropout && dropout.getRate().isZero())
      replaceByInput(dropout);
    else if (attention && attention.getDropout() && attention.getDropout()->isZero())
      removeFrom(attention);
    else if (dropout || (attention && attention.getDropout()))
      dropping.push_back(&op);
  }
  if (dropping.empty())
    return success();

  auto first = forward.getNumArguments()
                   ? dyn_cast<RankedTensorType>(forward.getArgumentTypes().front())
                   : RankedTensorType();
  if (!first || first.getRank() == 0 || first.getDimSize(0) < 1)
    return dropping.front()->emitOpError("expects a graph whose first argument counts its samples "
                                         "in dimension 0");
  int64_t samples = first.getDimSize(0);
  DenseSet<Value> ofBatch = valuesOfBatch(forward);
  auto words = RankedTensorType::get({4}, IntegerType::get(forward.getContext(), 32));
  unsigned place = forward.getNumArguments();
  Builder builder(forward.getContext());
  auto marked = builder.getDictionaryAttr(builder.getNamedAttr(kRandomAttr, builder.getUnitAttr()));
  if (failed(forward.insertArgument(place, words, marked, forward.getLoc())))
    return failure();
  Value random = forward.getArgument(place);
  for (auto [site, op] : llvm::enumerate(dropping)) {
    if (!ofBatch.contains(op->getOperand(0)) || !isOfSamples(op, samples))
      return op->emitOpError() << "expects a value of the batch, of which each of " << samples
                               << " samples has an equal share, got "
                               << op->getOperand(0).getType();
    auto dropout = dyn_cast<nn::DropoutOp>(op);
    auto attention = dyn_cast<nn::AttentionOp>(op);
    if (dropout ? dropout.getRandom() : attention.getRandom())
      return op->emitOpError("expects dropout without a key, which nn-autodiff gives it");
    IntegerAttr number = builder.getI64IntegerAttr(static_cast<int64_t>(site));
    if (dropout) {
      dropout.getRandomMutable().assign(random);
      dropout.setSamplesAttr(builder.getI64IntegerAttr(samples));
      dropout.setSiteAttr(number);
    } else {
      attention.getRandomMutable().assign(random);
      attention.setSiteAttr(number);
    }
  }
  return success();
}

void removeDropout(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (auto dropout = dyn_cast<nn::DropoutOp>(op))
      replaceByInput(dropout);
    else if (auto attention = dyn_cast<nn::AttentionOp>(op))
      removeFrom(attention);
  });
  if (BlockArgument random = randomArgument(function); random && random.use_empty())
    (void)function.eraseArgument(random.getArgNumber());
}

} // namespace zero
