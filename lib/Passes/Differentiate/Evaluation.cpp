//===- Evaluation.cpp - the forward function without a backward --------------===//
//
// A held-out loss is a sum over labels, which whoever runs the evaluation divides by
// their number: so the seed is 1 there, and the kernel that weighs the loss of
// training serves here too, without its gradient.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Dropout.h"
#include "zero/Passes/ForwardFunction.h"

using namespace mlir;

namespace zero {

static void lowerInnerEntropy(nn::CrossEntropyOp entropy) {
  OpBuilder builder(entropy);
  Location loc = entropy.getLoc();
  Value labels = entropy.getLabels();
  auto element = cast<RankedTensorType>(entropy.getLoss().getType()).getElementType();
  auto labelType = cast<RankedTensorType>(labels.getType());
  auto constant = [&](Attribute value, Type type) -> Value {
    return nn::ConstantOp::create(builder, loc,
                                  DenseElementsAttr::get(RankedTensorType::get({}, type), value));
  };
  IntegerAttr ignored =
      builder.getIntegerAttr(labelType.getElementType(), static_cast<int64_t>(entropy.getIgnore()));
  Value counts = nn::CompareOp::create(builder, loc, nn::Predicate::NE, labels,
                                       constant(ignored, labelType.getElementType()));
  Value ones = nn::ConvertOp::create(builder, loc, counts, element);
  Value count = ones;
  if (labelType.getRank() > 0)
    count = nn::ReduceSumOp::create(
        builder, loc, ones, llvm::to_vector(llvm::seq<int64_t>(0, labelType.getRank())), false);
  Value one = constant(builder.getFloatAttr(element, 1.0), element);
  Value weight = nn::DivOp::create(builder, loc, one, nn::MaxOp::create(builder, loc, count, one));
  auto both = nn::CrossEntropyWithGradOp::create(builder, loc, entropy.getLogits(), labels, weight,
                                                 entropy.getIgnoreAttr());
  entropy.replaceAllUsesWith(both.getLoss());
  entropy.erase();
}

void lowerInnerEntropies(func::FuncOp function) {
  for (auto entropy : llvm::make_early_inc_range(function.getOps<nn::CrossEntropyOp>()))
    if (!entropy->use_empty())
      lowerInnerEntropy(entropy);
}

void buildEvaluation(func::FuncOp forward) {
  func::FuncOp function = forward.clone();
  function.setName(kEvalName);
  OpBuilder builder(forward);
  builder.insert(function);
  removeDropout(function);

  Operation *terminator = function.front().getTerminator();
  Value loss = terminator->getOperand(0);
  unsigned last = function.getNumArguments();
  // Of a clone, whose type is its own: nothing that could be refused.
  (void)function.insertArgument(last, RankedTensorType::get({}, builder.getF32Type()), {},
                                loss.getLoc());
  Value seed = function.getArgument(last);
  builder.setInsertionPoint(terminator);
  auto entropy = loss.getDefiningOp<nn::CrossEntropyOp>();
  if (entropy && entropy->hasOneUse())
    loss = nn::CrossEntropyWithGradOp::create(builder, entropy.getLoc(), entropy.getLogits(),
                                              entropy.getLabels(), seed, entropy.getIgnoreAttr())
               .getLoss();
  else
    loss = nn::MulOp::create(builder, loss.getLoc(), loss, seed);
  terminator->setOperand(0, loss);
  if (entropy && entropy->use_empty())
    entropy.erase();
  lowerInnerEntropies(function);
}

} // namespace zero
