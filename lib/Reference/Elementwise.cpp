//===- Elementwise.cpp - functions of one element, and their gradients ------===//

#include "Ops.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace zero::reference {

double normalCdf(double x) { return 0.5 * (1.0 + std::erf(x / std::numbers::sqrt2)); }

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

namespace {

double normalDensity(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

// The tanh approximation: gelu(x) = x/2 · (1 + tanh u), u = √(2/π)·(x + 0.044715·x³).
double tanhArgument(double x) {
  return std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

double gelu(nn::GeluKind kind, double x) {
  if (kind == nn::GeluKind::Erf)
    return x * normalCdf(x);
  return 0.5 * x * (1.0 + std::tanh(tanhArgument(x)));
}

double geluDerivative(nn::GeluKind kind, double x) {
  if (kind == nn::GeluKind::Erf)
    return normalCdf(x) + x * normalDensity(x);
  double t = std::tanh(tanhArgument(x));
  double slope = std::sqrt(2.0 / std::numbers::pi) * (1.0 + 3.0 * 0.044715 * x * x);
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope;
}

double silu(double x) { return x * sigmoid(x); }

double siluDerivative(double x) { return sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x))); }

template <typename Fn> Array map(const Array &x, Fn function) {
  Array y(x.shape, /*isFloat=*/true);
  for (size_t k = 0; k < x.f.size(); ++k)
    y.f[k] = function(x.f[k]);
  return y;
}

template <typename OpT, typename Fn> void addUnary(Registry &registry, Fn function) {
  registry.add<OpT>([function](OpT, Operands x) { return map(*x[0], function); });
}

// Element types hold more values than f64 and int64 do here, but a float that has no integer
// counterpart is an error, not some number.
FailureOr<Array> convert(nn::ConvertOp op, Operands x) {
  const Array &from = *x[0];
  bool toFloat = isa<FloatType>(op.getTo()), toBool = op.getTo().isInteger(1);
  Array to(from.shape, toFloat);
  double limit = op.getTo().isInteger(32) ? 0x1p31 : 0x1p63;
  for (int64_t k = 0, n = from.size(); k < n; ++k) {
    if (from.isFloat && toFloat) {
      to.f[k] = from.f[k];
    } else if (toFloat) {
      to.f[k] = static_cast<double>(from.i[k]);
    } else if (toBool) {
      to.i[k] = from.isFloat ? from.f[k] != 0.0 : from.i[k] != 0;
    } else if (from.isFloat) {
      double truncated = std::trunc(from.f[k]);
      if (!(truncated >= -limit && truncated < limit))
        return op.emitOpError() << "expects values that fit in " << op.getTo() << ", got "
                                << from.f[k];
      to.i[k] = static_cast<int64_t>(truncated);
    } else {
      to.i[k] = op.getTo().isInteger(32) ? static_cast<int32_t>(from.i[k]) : from.i[k];
    }
  }
  return to;
}

} // namespace

void registerElementwise(Registry &registry) {
  addUnary<nn::NegOp>(registry, [](double x) { return -x; });
  addUnary<nn::AbsOp>(registry, [](double x) { return std::fabs(x); });
  addUnary<nn::ExpOp>(registry, [](double x) { return std::exp(x); });
  addUnary<nn::LogOp>(registry, [](double x) { return std::log(x); });
  addUnary<nn::SqrtOp>(registry, [](double x) { return std::sqrt(x); });
  addUnary<nn::RsqrtOp>(registry, [](double x) { return 1.0 / std::sqrt(x); });
  addUnary<nn::TanhOp>(registry, [](double x) { return std::tanh(x); });
  addUnary<nn::ErfOp>(registry, [](double x) { return std::erf(x); });
  addUnary<nn::SigmoidOp>(registry, sigmoid);
  addUnary<nn::ReluOp>(registry, [](double x) { return x > 0.0 ? x : x != x ? x : 0.0; });
  addUnary<nn::SiluOp>(registry, silu);
  registry.add<nn::GeluOp>([](nn::GeluOp op, Operands x) {
    return map(*x[0], [&](double value) { return gelu(op.getKind(), value); });
  });
  registry.add<nn::GeluGradOp>([](nn::GeluGradOp op, Operands x) {
    Array dx = map(*x[1], [&](double value) { return geluDerivative(op.getKind(), value); });
    for (size_t k = 0; k < dx.f.size(); ++k)
      dx.f[k] *= x[0]->f[k];
    return dx;
  });
  registry.add<nn::SiluGradOp>([](nn::SiluGradOp, Operands x) {
    Array dx = map(*x[1], siluDerivative);
    for (size_t k = 0; k < dx.f.size(); ++k)
      dx.f[k] *= x[0]->f[k];
    return dx;
  });
  registry.add<nn::ConvertOp>(convert);
  registry.add<nn::BarrierOp>([](nn::BarrierOp, Operands x) { return *x[0]; });
}

} // namespace zero::reference
