//===- IndexMath.cpp - indices of a vector's lanes ------------------------------===//

#include "IndexMath.h"
#include "GeneratedPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zero {

void Index::appendKey(std::vector<uint64_t> &key) const {
  key.insert(key.end(),
             {static_cast<uint64_t>(constant),
              reinterpret_cast<uint64_t>(base.getAsOpaquePointer()), static_cast<uint64_t>(step),
              reinterpret_cast<uint64_t>(lanes.getAsOpaquePointer())});
}

bool allUniform(ArrayRef<Index> indices) {
  return llvm::all_of(indices, [](const Index &index) { return index.isUniform(); });
}

template <typename Make> Value IndexMath::once(Code code, Value x, uint64_t y, Make make) {
  auto key = std::make_tuple(code, x.getAsOpaquePointer(), y);
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  return scopes.back()[key] = make();
}

Value IndexMath::constant(int64_t value) {
  return once(Code::Constant, nullptr, value,
              [&] { return arith::ConstantIntOp::create(b, value, 64).getResult(); });
}

Value IndexMath::scalar(const Index &index) {
  assert(index.isUniform() && "expects one index for all lanes");
  if (!index.base)
    return constant(index.constant);
  if (index.constant == 0)
    return index.base;
  return once(Code::AddConstant, index.base, index.constant, [&] {
    return arith::AddIOp::create(b, index.base, constant(index.constant)).getResult();
  });
}

Value IndexMath::vector(const Index &index) {
  if (index.lanes)
    return index.lanes;
  auto type = VectorType::get(kLanes, b.getI64Type());
  Index uniform = index;
  uniform.step = 0;
  Value base = scalar(uniform);
  return once(Code::Vector, base, index.step, [&]() -> Value {
    Value all = vector::BroadcastOp::create(b, type, base);
    if (index.step == 0)
      return all;
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < kLanes; ++lane)
      steps.push_back(lane * index.step);
    Value offsets = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(steps)));
    return arith::AddIOp::create(b, all, offsets);
  });
}

Index IndexMath::add(const Index &x, const Index &y) {
  Index sum;
  if (x.lanes || y.lanes) {
    Value left = vector(x), right = vector(y);
    sum.lanes = once(Code::Add, left, reinterpret_cast<uint64_t>(right.getAsOpaquePointer()),
                     [&] { return arith::AddIOp::create(b, left, right).getResult(); });
    return sum;
  }
  sum.constant = x.constant + y.constant;
  sum.step = x.step + y.step;
  sum.base = x.base ? x.base : y.base;
  if (x.base && y.base)
    sum.base = once(Code::Add, x.base, reinterpret_cast<uint64_t>(y.base.getAsOpaquePointer()),
                    [&] { return arith::AddIOp::create(b, x.base, y.base).getResult(); });
  return sum;
}

Index IndexMath::ofScalarOp(Code code, const Index &x, int64_t n) {
  auto make = [&](Value value, Value by) -> Value {
    switch (code) {
    case Code::Mul:
      return arith::MulIOp::create(b, value, by);
    case Code::Rem:
      return arith::RemUIOp::create(b, value, by);
    case Code::Div:
      return arith::DivUIOp::create(b, value, by);
    default:
      llvm_unreachable("not an op with a constant");
    }
  };
  Index result;
  if (x.isUniform()) {
    Value value = scalar(x);
    result.base = once(code, value, n, [&] { return make(value, constant(n)); });
    return result;
  }
  Value value = vector(x);
  result.lanes = once(code, value, n, [&] { return make(value, vector(Index(n))); });
  return result;
}

Index IndexMath::mul(const Index &x, int64_t factor) {
  if (factor == 0)
    return Index();
  if (factor == 1)
    return x;
  if (x.lanes)
    return ofScalarOp(Code::Mul, x, factor);
  Index product(x.constant * factor);
  product.step = x.step * factor;
  if (x.base)
    product.base = ofScalarOp(Code::Mul, Index(x.base), factor).base;
  return product;
}

Index IndexMath::rem(const Index &x, int64_t n) {
  if (n <= 1) // an empty dimension has no index
    return Index();
  if (x.isConstant())
    return Index(x.constant % n);
  return ofScalarOp(Code::Rem, x, n);
}

Index IndexMath::div(const Index &x, int64_t n) {
  if (n <= 1)
    return x;
  if (x.isConstant())
    return Index(x.constant / n);
  return ofScalarOp(Code::Div, x, n);
}

Index IndexMath::clamp(const Index &x, int64_t size) {
  if (x.isConstant())
    return Index(std::clamp<int64_t>(x.constant, 0, size - 1));
  Value value = scalar(x);
  Value low = once(Code::Max, value, 0,
                   [&] { return arith::MaxSIOp::create(b, value, constant(0)).getResult(); });
  return Index(once(Code::Min, low, size - 1, [&] {
    return arith::MinSIOp::create(b, low, constant(size - 1)).getResult();
  }));
}

Value IndexMath::isInside(const Index &x, int64_t low, int64_t high) {
  if (x.isConstant() && x.constant >= low && x.constant < high)
    return nullptr;
  Value value = x.isUniform() ? scalar(x) : vector(x);
  auto bound = [&](int64_t n) { return x.isUniform() ? constant(n) : vector(Index(n)); };
  auto compare = [&](Code code, arith::CmpIPredicate predicate, int64_t n) {
    return once(code, value, n,
                [&] { return arith::CmpIOp::create(b, predicate, value, bound(n)).getResult(); });
  };
  return arith::AndIOp::create(b, compare(Code::AtLeast, arith::CmpIPredicate::sge, low),
                               compare(Code::Below, arith::CmpIPredicate::slt, high));
}

Index IndexMath::linear(ArrayRef<Index> indices, ArrayRef<int64_t> strides) {
  Index sum;
  for (auto [index, stride] : llvm::zip(indices, strides))
    sum = add(sum, mul(index, stride));
  return sum;
}

Indices IndexMath::delinear(const Index &linear, ArrayRef<int64_t> shape) {
  Indices result(shape.size());
  Index rest = linear;
  int64_t outermost = 0; // the outermost dimension that is not of size 1 takes what is left
  while (outermost < static_cast<int64_t>(shape.size()) && shape[outermost] == 1)
    ++outermost;
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= outermost; --i) {
    if (i == outermost) {
      result[i] = rest;
    } else if (shape[i] != 1) {
      result[i] = rem(rest, shape[i]);
      rest = div(rest, shape[i]);
    }
  }
  return result;
}

} // namespace zero
