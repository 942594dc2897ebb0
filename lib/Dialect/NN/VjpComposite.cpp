//===- VjpComposite.cpp - products of norms, rotations, attention and losses -===//
//
// Composites keep their meaning in backward: most have an op for their gradient.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {

static LogicalResult differentiate(LayerNormOp op, Vjp &vjp) {
  Value x = op.getInput(), dy = vjp.cotangent();
  if (vjp.wants(0))
    vjp.set(0, vjp.emit<LayerNormGradInputOp>(x, op.getWeight(), dy, op.getEpsAttr()));
  if (vjp.wants(1))
    vjp.set(1, vjp.convert(vjp.emit<LayerNormGradWeightOp>(x, dy, op.getEpsAttr()),
                           op.getWeight().getType().getElementType()));
  if (vjp.wants(2))
    vjp.set(2, vjp.convert(vjp.sumRows(dy), op.getBias().getType().getElementType()));
  return success();
}
NN_DEFINE_VJP(LayerNormOp)

static LogicalResult differentiate(RmsNormOp op, Vjp &vjp) {
  Value x = op.getInput(), dy = vjp.cotangent();
  if (vjp.wants(0))
    vjp.set(0, vjp.emit<RmsNormGradInputOp>(x, op.getWeight(), dy, op.getEpsAttr()));
  if (vjp.wants(1))
    vjp.set(1, vjp.convert(vjp.emit<RmsNormGradWeightOp>(x, dy, op.getEpsAttr()),
                           op.getWeight().getType().getElementType()));
  return success();
}
NN_DEFINE_VJP(RmsNormOp)

static LogicalResult differentiate(RotaryOp op, Vjp &vjp) {
  // A rotation's transpose is its inverse.
  UnitAttr inverse = op.getInverse() ? UnitAttr() : UnitAttr::get(op.getContext());
  vjp.set(
      0, vjp.emit<RotaryOp>(vjp.cotangent(), op.getFrequenciesAttr(), op.getFactorAttr(), inverse));
  return success();
}
NN_DEFINE_VJP(RotaryOp)

static LogicalResult differentiate(SoftmaxOp op, Vjp &vjp) {
  vjp.set(0, vjp.emit<SoftmaxGradOp>(op.getResult(), vjp.cotangent()));
  return success();
}
NN_DEFINE_VJP(SoftmaxOp)

static LogicalResult differentiate(DropoutOp op, Vjp &vjp) {
  // Linear in its input: the cotangent meets the mask that the value met.
  vjp.set(0, vjp.emit<DropoutOp>(vjp.cotangent(), op.getRateAttr(), op.getRandom(),
                                 op.getSiteValue(), op.getSamplesAttr(), op.getSiteAttr()));
  return success();
}
NN_DEFINE_VJP(DropoutOp)

static LogicalResult differentiate(AttentionOp op, Vjp &vjp) {
  if (vjp.cotangent(1))
    return op.emitOpError("expects its second result to be used by gradients only, got a loss that "
                          "depends on it");
  Value dq = vjp.emit<AttentionGradOp>(op.getQ(), op.getK(), op.getV(), op.getOut(), op.getLse(),
                                       vjp.cotangent(), op.getRandom(), op.getScaleAttr(),
                                       op.getCausalAttr(), op.getDropoutAttr(), op.getSiteAttr());
  for (OpResult gradient : dq.getDefiningOp()->getResults())
    if (vjp.wants(gradient.getResultNumber()))
      vjp.set(gradient.getResultNumber(), gradient);
  return success();
}
NN_DEFINE_VJP(AttentionOp)

static LogicalResult differentiate(CrossEntropyOp op, Vjp &vjp) {
  // Away from the graph's end the mean is over this tensor's own labels, and 0 without any.
  Value dy = vjp.cotangent(), labels = op.getLabels();
  Value counts = vjp.compare(Predicate::NE, labels, vjp.integer(labels, op.getIgnore()));
  Type element = cast<RankedTensorType>(dy.getType()).getElementType();
  Value count = vjp.sumTo(vjp.emit<ConvertOp>(counts, element), dy);
  Value seed = vjp.div(dy, vjp.emit<MaxOp>(count, vjp.scalar(dy, 1.0)));
  Value loss = vjp.emit<CrossEntropyWithGradOp>(op.getLogits(), labels, seed, op.getIgnoreAttr());
  vjp.set(0, loss.getDefiningOp<CrossEntropyWithGradOp>().getDlogits());
  return success();
}
NN_DEFINE_VJP(CrossEntropyOp)

} // namespace zero::nn
