//===- Broadcasting.cpp - functions of two and three broadcast operands ----===//

#include "Ops.h"

#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

template <typename OpT, typename Fn> void addBinary(Registry &registry, Fn function) {
  registry.add<OpT>([function](OpT, Operands x) {
    Array z(broadcastShapes(x[0]->shape, x[1]->shape), /*isFloat=*/true);
    std::vector<int64_t> a = broadcastPositions(x[0]->shape, z.shape);
    std::vector<int64_t> b = broadcastPositions(x[1]->shape, z.shape);
    for (size_t k = 0; k < z.f.size(); ++k)
      z.f[k] = function(x[0]->f[a[k]], x[1]->f[b[k]]);
    return z;
  });
}

// A NaN on either side is kept, as PyTorch's maximum and minimum do.
double maximum(double a, double b) { return a > b || a != a ? a : b; }
double minimum(double a, double b) { return a < b || a != a ? a : b; }

template <typename T> bool holds(nn::Predicate predicate, T a, T b) {
  switch (predicate) {
  case nn::Predicate::EQ:
    return a == b;
  case nn::Predicate::NE:
    return a != b;
  case nn::Predicate::LT:
    return a < b;
  case nn::Predicate::LE:
    return a <= b;
  case nn::Predicate::GT:
    return a > b;
  case nn::Predicate::GE:
    return a >= b;
  }
  llvm_unreachable("not a predicate");
}

Array compare(nn::CompareOp op, Operands x) {
  Array z(broadcastShapes(x[0]->shape, x[1]->shape), /*isFloat=*/false);
  std::vector<int64_t> a = broadcastPositions(x[0]->shape, z.shape);
  std::vector<int64_t> b = broadcastPositions(x[1]->shape, z.shape);
  for (size_t k = 0; k < z.i.size(); ++k)
    z.i[k] = x[0]->isFloat ? holds(op.getPredicate(), x[0]->f[a[k]], x[1]->f[b[k]])
                           : holds(op.getPredicate(), x[0]->i[a[k]], x[1]->i[b[k]]);
  return z;
}

Array select(nn::SelectOp, Operands x) {
  Shape shape = broadcastShapes(broadcastShapes(x[0]->shape, x[1]->shape), x[2]->shape);
  std::vector<int64_t> condition = broadcastPositions(x[0]->shape, shape);
  Array z = take(*x[2], shape, broadcastPositions(x[2]->shape, shape));
  Array ifTrue = take(*x[1], shape, broadcastPositions(x[1]->shape, shape));
  for (size_t k = 0; k < condition.size(); ++k) {
    if (!x[0]->i[condition[k]])
      continue;
    if (z.isFloat)
      z.f[k] = ifTrue.f[k];
    else
      z.i[k] = ifTrue.i[k];
  }
  return z;
}

} // namespace

void registerBroadcasting(Registry &registry) {
  addBinary<nn::AddOp>(registry, [](double a, double b) { return a + b; });
  addBinary<nn::SubOp>(registry, [](double a, double b) { return a - b; });
  addBinary<nn::MulOp>(registry, [](double a, double b) { return a * b; });
  addBinary<nn::DivOp>(registry, [](double a, double b) { return a / b; });
  addBinary<nn::MaxOp>(registry, maximum);
  addBinary<nn::MinOp>(registry, minimum);
  registry.add<nn::CompareOp>(compare);
  registry.add<nn::SelectOp>(select);
}

} // namespace zero::reference
