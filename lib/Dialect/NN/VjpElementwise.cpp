//===- VjpElementwise.cpp - products of ops on single elements --------------===//
//
// Where a derivative can be written in the result, it is: the result of tanh is
// at hand in backward anyway, and then its input need not be kept.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace zero::nn {

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

static LogicalResult differentiate(NegOp, Vjp &vjp) {
  vjp.set(0, vjp.emit<NegOp>(vjp.cotangent()));
  return success();
}
NN_DEFINE_VJP(NegOp)

static LogicalResult differentiate(AbsOp op, Vjp &vjp) {
  // dy · sign(x), and 0 at 0.
  Value x = op.getInput(), dy = vjp.cotangent(), zero = vjp.scalar(x, 0.0);
  Value negative = vjp.compare(Predicate::LT, x, zero);
  Value positive = vjp.compare(Predicate::GT, x, zero);
  Value below = vjp.select(negative, vjp.emit<NegOp>(dy), zero);
  vjp.set(0, vjp.select(positive, dy, below));
  return success();
}
NN_DEFINE_VJP(AbsOp)

static LogicalResult differentiate(ExpOp op, Vjp &vjp) {
  vjp.set(0, vjp.mul(vjp.cotangent(), op.getResult()));
  return success();
}
NN_DEFINE_VJP(ExpOp)

static LogicalResult differentiate(LogOp op, Vjp &vjp) {
  vjp.set(0, vjp.div(vjp.cotangent(), op.getInput()));
  return success();
}
NN_DEFINE_VJP(LogOp)

static LogicalResult differentiate(SqrtOp op, Vjp &vjp) {
  // dy / (2y)
  Value dy = vjp.cotangent();
  vjp.set(0, vjp.div(vjp.mul(dy, vjp.scalar(dy, 0.5)), op.getResult()));
  return success();
}
NN_DEFINE_VJP(SqrtOp)

static LogicalResult differentiate(RsqrtOp op, Vjp &vjp) {
  // -dy/2 · y³
  Value dy = vjp.cotangent(), y = op.getResult();
  Value cube = vjp.mul(vjp.mul(y, y), y);
  vjp.set(0, vjp.mul(vjp.mul(dy, vjp.scalar(dy, -0.5)), cube));
  return success();
}
NN_DEFINE_VJP(RsqrtOp)

static LogicalResult differentiate(TanhOp op, Vjp &vjp) {
  // dy · (1 - y²)
  Value y = op.getResult();
  Value square = vjp.mul(y, y);
  Value slope = vjp.sub(vjp.scalar(y, 1.0), square);
  vjp.set(0, vjp.mul(vjp.cotangent(), slope));
  return success();
}
NN_DEFINE_VJP(TanhOp)

static LogicalResult differentiate(ErfOp op, Vjp &vjp) {
  // dy · 2/√π · e^(-x²); in f32, since 2/√π is no 16-bit float.
  Type element = op.getInput().getType().getElementType(), wide = accumulationType(element);
  Value x = vjp.convert(op.getInput(), wide), dy = vjp.convert(vjp.cotangent(), wide);
  Value bell = vjp.emit<ExpOp>(vjp.emit<NegOp>(vjp.mul(x, x)));
  Value scaled = vjp.mul(dy, vjp.scalar(dy, 2.0 * std::numbers::inv_sqrtpi));
  vjp.set(0, vjp.convert(vjp.mul(scaled, bell), element));
  return success();
}
NN_DEFINE_VJP(ErfOp)

static LogicalResult differentiate(SigmoidOp op, Vjp &vjp) {
  // dy · y · (1 - y)
  Value y = op.getResult();
  Value slope = vjp.mul(y, vjp.sub(vjp.scalar(y, 1.0), y));
  vjp.set(0, vjp.mul(vjp.cotangent(), slope));
  return success();
}
NN_DEFINE_VJP(SigmoidOp)

static LogicalResult differentiate(ReluOp op, Vjp &vjp) {
  // y > 0 where x > 0, so that the input need not be kept; 0 at 0.
  Value y = op.getResult(), zero = vjp.scalar(y, 0.0);
  vjp.set(0, vjp.select(vjp.compare(Predicate::GT, y, zero), vjp.cotangent(), zero));
  return success();
}
NN_DEFINE_VJP(ReluOp)

static LogicalResult differentiate(SiluOp op, Vjp &vjp) {
  vjp.set(0, vjp.emit<SiluGradOp>(vjp.cotangent(), op.getInput()));
  return success();
}
NN_DEFINE_VJP(SiluOp)

static LogicalResult differentiate(GeluOp op, Vjp &vjp) {
  vjp.set(0, vjp.emit<GeluGradOp>(op.getKind(), vjp.cotangent(), op.getInput()));
  return success();
}
NN_DEFINE_VJP(GeluOp)

static LogicalResult differentiate(ConvertOp op, Vjp &vjp) {
  // No gradient flows through integers.
  Type from = op.getInput().getType().getElementType();
  if (isa<FloatType>(from) && isa<FloatType>(op.getTo()))
    vjp.set(0, vjp.emit<ConvertOp>(vjp.cotangent(), from));
  return success();
}
NN_DEFINE_VJP(ConvertOp)

//===----------------------------------------------------------------------===//
// Binary ops and select: sums over what was broadcast come last
//===----------------------------------------------------------------------===//

static LogicalResult differentiate(AddOp op, Vjp &vjp) {
  if (vjp.wants(0))
    vjp.set(0, vjp.sumTo(vjp.cotangent(), op.getLhs()));
  if (vjp.wants(1))
    vjp.set(1, vjp.sumTo(vjp.cotangent(), op.getRhs()));
  return success();
}
NN_DEFINE_VJP(AddOp)

static LogicalResult differentiate(SubOp op, Vjp &vjp) {
  if (vjp.wants(0))
    vjp.set(0, vjp.sumTo(vjp.cotangent(), op.getLhs()));
  if (vjp.wants(1))
    vjp.set(1, vjp.emit<NegOp>(vjp.sumTo(vjp.cotangent(), op.getRhs())));
  return success();
}
NN_DEFINE_VJP(SubOp)

static LogicalResult differentiate(MulOp op, Vjp &vjp) {
  if (vjp.wants(0))
    vjp.set(0, vjp.sumTo(vjp.mul(vjp.cotangent(), op.getRhs()), op.getLhs()));
  if (vjp.wants(1))
    vjp.set(1, vjp.sumTo(vjp.mul(vjp.cotangent(), op.getLhs()), op.getRhs()));
  return success();
}
NN_DEFINE_VJP(MulOp)

static LogicalResult differentiate(DivOp op, Vjp &vjp) {
  // dy / b, and -dy / b · y for the divisor
  Value quotient = vjp.div(vjp.cotangent(), op.getRhs());
  if (vjp.wants(0))
    vjp.set(0, vjp.sumTo(quotient, op.getLhs()));
  if (vjp.wants(1))
    vjp.set(1, vjp.emit<NegOp>(vjp.sumTo(vjp.mul(quotient, op.getResult()), op.getRhs())));
  return success();
}
NN_DEFINE_VJP(DivOp)

/// The operand that won takes the cotangent; a tie halves it, as torch.maximum does. `loses` is
/// the comparison under which the left operand loses against the right one.
static LogicalResult differentiateChoice(Value lhs, Value rhs, Predicate loses, Vjp &vjp) {
  Value dy = vjp.cotangent(), zero = vjp.scalar(dy, 0.0);
  Value half = vjp.mul(dy, vjp.scalar(dy, 0.5));
  Value shared = vjp.select(vjp.compare(Predicate::EQ, lhs, rhs), half, dy);
  if (vjp.wants(0))
    vjp.set(0, vjp.sumTo(vjp.select(vjp.compare(loses, lhs, rhs), zero, shared), lhs));
  if (vjp.wants(1))
    vjp.set(1, vjp.sumTo(vjp.select(vjp.compare(loses, rhs, lhs), zero, shared), rhs));
  return success();
}

static LogicalResult differentiate(MaxOp op, Vjp &vjp) {
  return differentiateChoice(op.getLhs(), op.getRhs(), Predicate::LT, vjp);
}
NN_DEFINE_VJP(MaxOp)

static LogicalResult differentiate(MinOp op, Vjp &vjp) {
  return differentiateChoice(op.getLhs(), op.getRhs(), Predicate::GT, vjp);
}
NN_DEFINE_VJP(MinOp)

static LogicalResult differentiate(SelectOp op, Vjp &vjp) {
  Value dy = vjp.cotangent(), zero = vjp.scalar(dy, 0.0);
  if (vjp.wants(1))
    vjp.set(1, vjp.sumTo(vjp.select(op.getCondition(), dy, zero), op.getIfTrue()));
  if (vjp.wants(2))
    vjp.set(2, vjp.sumTo(vjp.select(op.getCondition(), zero, dy), op.getIfFalse()));
  return success();
}
NN_DEFINE_VJP(SelectOp)

} // namespace zero::nn
