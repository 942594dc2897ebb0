//===- ElementModels.cpp - one element of each elementwise op ------------------===//
//
// Formulas in arith and math ops, without fast-math flags, for a scalar and for
// a vector of lanes alike. Where two forms are equal on paper, the one without
// cancellation stands: GELU's tanh form is x·σ(2u), for 1 + tanh u = 2·σ(2u).
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/ElementModels.h"

#include "BodyViews.h"
#include "zero/Dialect/NN/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace zero {
namespace {

/// Arithmetic on elements of one type, written as it is on paper.
class Algebra {
public:
  Algebra(OpBuilder &builder, Location loc, Type type) : b(loc, builder), type(type) {}

  Value number(double value) {
    auto element = getElementTypeOrSelf(type);
    TypedAttr attr = b.getFloatAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, attr);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value max(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  Value min(Value x, Value y) { return arith::MinimumFOp::create(b, x, y); }
  Value exp(Value x) { return math::ExpOp::create(b, x); }
  Value log(Value x) { return math::LogOp::create(b, x); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value withSignOf(Value x, Value sign) { return math::CopySignOp::create(b, x, sign); }
  Value selectBelow(Value x, double bound, Value below, Value other) {
    Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, number(bound));
    return arith::SelectOp::create(b, isBelow, below, other);
  }
  /// Coefficients from the lowest power up.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  /// The runtime's fits (lib/Runtime/Cpu/kernels/Elementary.h), in f32: under 0.625 x + x³·q(x²),
  /// above 1 − 2/(e^2|x| + 1). Upstream's rational has a bias of 5e-8.
  Value tanh(Value x) {
    if (!getElementTypeOrSelf(type).isF32())
      return math::TanhOp::create(b, x);
    Value a = abs(x), square = mul(x, x);
    Value q = polynomial(
        square, {-0x1.55552ep-2, 0x1.110646p-3, -0x1.b81dbcp-5, 0x1.5157d8p-6, -0x1.722a70p-8});
    Value small = fma(mul(square, x), q, x);
    Value large = sub(number(1.0), div(number(2.0), add(exp(add(a, a)), number(1.0))));
    return selectBelow(a, 0.625, small, withSignOf(large, x));
  }
  /// Under 1 x + x·q(x²), above 1 − e^r(|x|) with r = ln erfc; from 4 on it is 1 to the last bit.
  Value erf(Value x) {
    Value a = abs(x), square = mul(x, x);
    Value q = polynomial(square, {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2cf8p-4, -0x1.b7f90cp-6,
                                  0x1.5405b0p-8, -0x1.a3f6f0p-11, 0x1.496a0ap-14});
    Value small = fma(x, q, x);
    Value r = polynomial(min(a, number(4.0)),
                         {-0x1.501aa8p-12, -0x1.208e56p+0, -0x1.46a980p-1, -0x1.a6c868p-4,
                          0x1.66a45cp-6, -0x1.83fe14p-9, 0x1.897176p-13});
    Value large = sub(number(1.0), exp(r));
    return selectBelow(a, 1.0, small, withSignOf(large, x));
  }
  Value sqrt(Value x) { return math::SqrtOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }

  /// e^-x, held below 1e35 so that its product with σ(x) stays finite.
  Value expOfMinus(Value x) { return exp(min(neg(x), number(80.0))); }
  Value sigmoid(Value x) { return div(number(1.0), add(number(1.0), exp(neg(x)))); }
  Value silu(Value x) { return div(x, add(number(1.0), exp(neg(x)))); }
  /// σ(x)·(1 + x·(1 − σ(x))), with 1 − σ(x) = e^-x·σ(x).
  Value siluSlope(Value x) {
    Value e = expOfMinus(x), s = div(number(1.0), add(number(1.0), e));
    return mul(s, add(number(1.0), mul(x, mul(e, s))));
  }

  /// 2·√(2/π)·(x + 0.044715·x³).
  Value geluArgument(Value x) {
    Value inner = add(number(1.0), mul(number(0.044715), mul(x, x)));
    return mul(number(2.0 * kRootTwoOverPi), mul(x, inner));
  }
  Value geluTanh(Value x) { return div(x, add(number(1.0), exp(neg(geluArgument(x))))); }
  Value geluTanhSlope(Value x) {
    Value e = expOfMinus(geluArgument(x)), s = div(number(1.0), add(number(1.0), e));
    Value slope = add(number(1.0), mul(number(3.0 * 0.044715), mul(x, x)));
    Value inner = mul(number(2.0 * kRootTwoOverPi), mul(x, slope));
    return mul(s, add(number(1.0), mul(inner, mul(e, s))));
  }
  Value normalCdf(Value x) {
    return mul(number(0.5), add(number(1.0), erf(mul(x, number(kRootHalf)))));
  }
  Value geluErf(Value x) { return mul(x, normalCdf(x)); }
  Value geluErfSlope(Value x) {
    Value density = mul(number(kRootHalfOverPi), exp(mul(number(-0.5), mul(x, x))));
    return add(normalCdf(x), mul(x, density));
  }

private:
  static constexpr double kRootTwoOverPi = 0.79788456080286535588;  // √(2/π)
  static constexpr double kRootHalf = 0.70710678118654752440;       // √(1/2)
  static constexpr double kRootHalfOverPi = 0.39894228040143267794; // 1/√(2π)

  ImplicitLocOpBuilder b;
  Type type;
};

Value emit(nn::NegOp, Algebra &a, ValueRange v) { return a.neg(v[0]); }
Value emit(nn::AbsOp, Algebra &a, ValueRange v) { return a.abs(v[0]); }
Value emit(nn::ExpOp, Algebra &a, ValueRange v) { return a.exp(v[0]); }
Value emit(nn::LogOp, Algebra &a, ValueRange v) { return a.log(v[0]); }
Value emit(nn::SqrtOp, Algebra &a, ValueRange v) { return a.sqrt(v[0]); }
Value emit(nn::RsqrtOp, Algebra &a, ValueRange v) { return a.div(a.number(1.0), a.sqrt(v[0])); }
Value emit(nn::TanhOp, Algebra &a, ValueRange v) { return a.tanh(v[0]); }
Value emit(nn::ErfOp, Algebra &a, ValueRange v) { return a.erf(v[0]); }
Value emit(nn::SigmoidOp, Algebra &a, ValueRange v) { return a.sigmoid(v[0]); }
Value emit(nn::ReluOp, Algebra &a, ValueRange v) { return a.max(v[0], a.number(0.0)); }
Value emit(nn::SiluOp, Algebra &a, ValueRange v) { return a.silu(v[0]); }
Value emit(nn::SiluGradOp, Algebra &a, ValueRange v) { return a.mul(v[0], a.siluSlope(v[1])); }
Value emit(nn::GeluOp op, Algebra &a, ValueRange v) {
  return op.getKind() == nn::GeluKind::Tanh ? a.geluTanh(v[0]) : a.geluErf(v[0]);
}
Value emit(nn::GeluGradOp op, Algebra &a, ValueRange v) {
  bool tanh = op.getKind() == nn::GeluKind::Tanh;
  return a.mul(v[0], tanh ? a.geluTanhSlope(v[1]) : a.geluErfSlope(v[1]));
}
Value emit(nn::AddOp, Algebra &a, ValueRange v) { return a.add(v[0], v[1]); }
Value emit(nn::SubOp, Algebra &a, ValueRange v) { return a.sub(v[0], v[1]); }
Value emit(nn::MulOp, Algebra &a, ValueRange v) { return a.mul(v[0], v[1]); }
Value emit(nn::DivOp, Algebra &a, ValueRange v) { return a.div(v[0], v[1]); }
Value emit(nn::MaxOp, Algebra &a, ValueRange v) { return a.max(v[0], v[1]); }
Value emit(nn::MinOp, Algebra &a, ValueRange v) { return a.min(v[0], v[1]); }

/// Ops on floats alone.
template <typename OpT>
struct FloatModel : public nn::ElementLoweringInterface::ExternalModel<FloatModel<OpT>, OpT> {
  Value emitElement(Operation *op, OpBuilder &builder, Location loc, ValueRange operands) const {
    Algebra algebra(builder, loc, operands[0].getType());
    return emit(cast<OpT>(op), algebra, operands);
  }
};

struct CompareModel
    : public nn::ElementLoweringInterface::ExternalModel<CompareModel, nn::CompareOp> {
  Value emitElement(Operation *op, OpBuilder &builder, Location loc, ValueRange operands) const {
    Type element = getElementTypeOrSelf(operands[0].getType());
    nn::Predicate predicate = cast<nn::CompareOp>(op).getPredicate();
    if (isa<FloatType>(element))
      return arith::CmpFOp::create(builder, loc, floatPredicate(predicate), operands[0],
                                   operands[1]);
    // false < true, which a signed comparison of one bit would turn round.
    return arith::CmpIOp::create(builder, loc, integerPredicate(predicate, element.isInteger(1)),
                                 operands[0], operands[1]);
  }

private:
  static arith::CmpFPredicate floatPredicate(nn::Predicate predicate) {
    switch (predicate) {
    case nn::Predicate::EQ:
      return arith::CmpFPredicate::OEQ;
    case nn::Predicate::NE:
      return arith::CmpFPredicate::UNE;
    case nn::Predicate::LT:
      return arith::CmpFPredicate::OLT;
    case nn::Predicate::LE:
      return arith::CmpFPredicate::OLE;
    case nn::Predicate::GT:
      return arith::CmpFPredicate::OGT;
    case nn::Predicate::GE:
      return arith::CmpFPredicate::OGE;
    }
    llvm_unreachable("unknown predicate");
  }
  static arith::CmpIPredicate integerPredicate(nn::Predicate predicate, bool isUnsigned) {
    using P = arith::CmpIPredicate;
    switch (predicate) {
    case nn::Predicate::EQ:
      return P::eq;
    case nn::Predicate::NE:
      return P::ne;
    case nn::Predicate::LT:
      return isUnsigned ? P::ult : P::slt;
    case nn::Predicate::LE:
      return isUnsigned ? P::ule : P::sle;
    case nn::Predicate::GT:
      return isUnsigned ? P::ugt : P::sgt;
    case nn::Predicate::GE:
      return isUnsigned ? P::uge : P::sge;
    }
    llvm_unreachable("unknown predicate");
  }
};

struct SelectModel : public nn::ElementLoweringInterface::ExternalModel<SelectModel, nn::SelectOp> {
  Value emitElement(Operation *op, OpBuilder &builder, Location loc, ValueRange operands) const {
    return arith::SelectOp::create(builder, loc, operands[0], operands[1], operands[2]);
  }
};

struct ConvertModel
    : public nn::ElementLoweringInterface::ExternalModel<ConvertModel, nn::ConvertOp> {
  Value emitElement(Operation *op, OpBuilder &builder, Location loc, ValueRange operands) const {
    Value x = operands[0];
    // 16-bit floats are f32 until their value leaves the kernel, which rounds it.
    Type from = getElementTypeOrSelf(x.getType()),
         to = computeType(cast<nn::ConvertOp>(op).getTo());
    Type type = to;
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      type = vector.cloneWith(std::nullopt, to);
    if (from == to)
      return x;
    unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
    if (isa<FloatType>(from)) {
      if (isa<FloatType>(to))
        return toBits > fromBits ? arith::ExtFOp::create(builder, loc, type, x).getResult()
                                 : arith::TruncFOp::create(builder, loc, type, x).getResult();
      if (toBits == 1)
        return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x,
                                     zero(builder, loc, x));
      return arith::FPToSIOp::create(builder, loc, type, x);
    }
    if (isa<FloatType>(to))
      return fromBits == 1 ? arith::UIToFPOp::create(builder, loc, type, x).getResult()
                           : arith::SIToFPOp::create(builder, loc, type, x).getResult();
    if (toBits == 1)
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, x,
                                   zero(builder, loc, x));
    if (toBits < fromBits)
      return arith::TruncIOp::create(builder, loc, type, x);
    return fromBits == 1 ? arith::ExtUIOp::create(builder, loc, type, x).getResult()
                         : arith::ExtSIOp::create(builder, loc, type, x).getResult();
  }

private:
  static Value zero(OpBuilder &builder, Location loc, Value like) {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(like.getType()));
  }
};

template <typename... OpTs> void attachFloatModels(MLIRContext *context) {
  (OpTs::template attachInterface<FloatModel<OpTs>>(*context), ...);
}

} // namespace

void registerElementModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachFloatModels<nn::NegOp, nn::AbsOp, nn::ExpOp, nn::LogOp, nn::SqrtOp, nn::RsqrtOp,
                      nn::TanhOp, nn::ErfOp, nn::SigmoidOp, nn::ReluOp, nn::SiluOp, nn::SiluGradOp,
                      nn::GeluOp, nn::GeluGradOp, nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp,
                      nn::MaxOp, nn::MinOp>(context);
    nn::CompareOp::attachInterface<CompareModel>(*context);
    nn::SelectOp::attachInterface<SelectModel>(*context);
    nn::ConvertOp::attachInterface<ConvertModel>(*context);
  });
}

} // namespace zero
