//===- NormRows.cpp - norms and their gradients -------------------------------------===//
//
// What a norm takes from its row scales all of it, so its rounding errors don't
// average out over the row as others do. Rows are therefore normalised in f64, from
// the squares to the result, which is rounded once.
//
//===----------------------------------------------------------------------===//

#include "BodyViews.h"
#include "Evaluator.h"
#include "Mixed.h"

using namespace mlir;

namespace zero {
namespace {

double epsilonOf(Operation *norm) {
  return norm->getAttrOfType<FloatAttr>("eps").getValueAsDouble();
}

/// Whether rows are moved to mean 0 before they are scaled.
bool isCentred(Operation *norm) {
  return isa<nn::LayerNormOp, nn::LayerNormGradInputOp, nn::LayerNormGradWeightOp>(norm);
}

bool isGradInput(Operation *norm) {
  return isa<nn::LayerNormGradInputOp, nn::RmsNormGradInputOp>(norm);
}

} // namespace

bool isNorm(Operation *op) { return isa<nn::LayerNormOp, nn::RmsNormOp>(op) || isGradInput(op); }

/// What a norm takes from its row: the mean, no value under rms_norm, and 1/√(mean of squared
/// differences to it + eps); the gradient of the input also mean(dy·w·x̂) and, where there is a
/// mean, mean(dy·w).
SmallVector<Value> Evaluator::normStatistics(Operation *norm, ArrayRef<Index> outer) {
  Mixed a(*this, b);
  Value input = norm->getOperand(0);
  Type type = b.getF64Type();
  int64_t columns = shapeOf(input).back();
  bool centred = isCentred(norm);
  auto read = [&](Value value, ArrayRef<Index> indices, Value mask) {
    return a.to(type, at(value, indices, mask));
  };
  auto count = [&] { return number(static_cast<double>(columns), type); };

  double eps = epsilonOf(norm);
  std::vector<uint64_t> key{centred ? uint64_t(2) : uint64_t(6),
                            reinterpret_cast<uint64_t>(input.getAsOpaquePointer()),
                            llvm::bit_cast<uint64_t>(eps)};
  SmallVector<Value> row = remembered(key, outer, [&]() -> SmallVector<Value> {
    Value mean;
    if (centred) {
      Value sum = reduceRow(columns, type, Join::Sum, [&](Index column, Value mask) {
        return SmallVector<Value>{read(input, along(outer, column), mask)};
      })[0];
      mean = a.div(sum, count());
    }
    Value squares = reduceRow(columns, type, Join::Sum, [&](Index column, Value mask) {
      Value x = read(input, along(outer, column), mask);
      Value off = centred ? a.sub(x, mean) : x;
      return SmallVector<Value>{a.mul(off, off)};
    })[0];
    Value variance = a.add(a.div(squares, count()), number(eps, type));
    return {mean, a.div(number(1.0, type), a.sqrt(variance))};
  });
  if (!isGradInput(norm))
    return row;

  Value weight = norm->getOperand(1), dy = norm->getOperand(2);
  SmallVector<Join> joins(centred ? 2 : 1, Join::Sum);
  SmallVector<Value> means =
      remembered({5, reinterpret_cast<uint64_t>(norm)}, outer, [&]() -> SmallVector<Value> {
        SmallVector<Value> sums = reduceRow(columns, type, joins, [&](Index column, Value mask) {
          Indices indices = along(outer, column);
          Value flow = a.mul(read(dy, indices, mask), read(weight, column, mask));
          SmallVector<Value> terms{a.mul(flow, normalised(norm, row, indices, mask))};
          if (centred)
            terms.push_back(flow);
          return terms;
        });
        for (Value &sum : sums)
          sum = a.div(sum, count());
        return sums;
      });
  row.append(means);
  return row;
}

/// x̂, in f64.
Value Evaluator::normalised(Operation *norm, ArrayRef<Value> row, ArrayRef<Index> indices,
                            Value mask) {
  Mixed a(*this, b);
  Value x = a.to(b.getF64Type(), at(norm->getOperand(0), indices, mask));
  return a.mul(row[0] ? a.sub(x, row[0]) : x, row[1]);
}

Value Evaluator::normElement(Operation *norm, ArrayRef<Index> indices, Value mask) {
  Mixed a(*this, b);
  Type type = b.getF64Type();
  SmallVector<Value> row = normStatistics(norm, indices.drop_back());
  Value x = normalised(norm, row, indices, mask), result;
  auto along = [&](unsigned operand) {
    return a.to(type, at(norm->getOperand(operand), indices.back(), mask));
  };
  auto element = [&](unsigned operand) {
    return a.to(type, at(norm->getOperand(operand), indices, mask));
  };
  if (isNormGradWeight(norm)) {
    result = a.mul(element(1), x);
  } else if (isGradInput(norm)) {
    // dx = (dy·w − mean(dy·w) − x̂·mean(dy·w·x̂)) · scale, without the mean where rows have none.
    Value flow = a.mul(element(2), along(1));
    if (row[0])
      flow = a.sub(flow, row[3]);
    result = a.mul(row[1], a.sub(flow, a.mul(x, row[2])));
  } else {
    result = a.mul(x, along(1));
    if (isCentred(norm))
      result = a.add(result, along(2));
  }
  return a.to(computeTypeOf(norm->getOperand(0)), result);
}

} // namespace zero
