//===- RowStatistics.cpp - reductions along a row, and what follows from them -----===//
//
// A row is summed in kLanes partial sums, lane l taking columns l, l + 16, …,
// which are then added in halves: 16 to 8 to 4 to 2 to 1. Rows of more than
// kSumBlock·4 vectors sum blocks of kSumBlock vectors first. The order is that of
// the row's length alone (law N0), so it is written out and not left to LLVM.
//
//===----------------------------------------------------------------------===//

#include "BodyViews.h"
#include "Evaluator.h"
#include "Mixed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace zero {

Join Evaluator::joinOf(Operation *reduction) {
  return isa<nn::ReduceMaxOp>(reduction) ? Join::Max : Join::Sum;
}

Value Evaluator::identity(Join join, Type type) {
  return number(join == Join::Sum ? 0.0 : -std::numeric_limits<double>::infinity(), type);
}

Value Evaluator::joined(Join join, Value x, Value y) {
  if (join == Join::Sum)
    return arith::AddFOp::create(b, x, y);
  return arith::MaximumFOp::create(b, x, y);
}

Value Evaluator::finished(Operation *reduction, Value total) {
  if (!isa<nn::ReduceMeanOp>(reduction))
    return total;
  int64_t count = 1;
  for (int64_t dim : reducedDims(reduction))
    count *= shapeOf(reduction->getOperand(0))[dim];
  return arith::DivFOp::create(b, total, number(static_cast<double>(count), total.getType()));
}

Value Evaluator::tree(Join join, Value lanes) {
  for (int64_t width = kLanes / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width));
    SmallVector<int64_t> high = llvm::to_vector(llvm::seq<int64_t>(width, 2 * width));
    lanes = joined(join, vector::ShuffleOp::create(b, lanes, lanes, low),
                   vector::ShuffleOp::create(b, lanes, lanes, high));
  }
  return vector::ExtractOp::create(b, lanes, 0);
}

SmallVector<Value> Evaluator::reduceRow(int64_t columns, Type elementType, ArrayRef<Join> joins,
                                        RowStep step) {
  Type type = lanesOf(elementType);
  SmallVector<Value> start;
  for (Join join : joins)
    start.push_back(identity(join, type));
  auto joinAll = [&](ValueRange totals, ValueRange values) {
    SmallVector<Value> next;
    for (auto [join, total, value] : llvm::zip(joins, totals, values))
      next.push_back(joined(join, total, toLanes(value)));
    return next;
  };
  auto sumOver = [&](const Index &from, const Index &to, ValueRange initial) {
    return loop(from, to, kLanes, initial, [&](Value column, ValueRange totals) {
      return joinAll(totals, step(Index(column, 1), nullptr));
    });
  };
  auto takeTail = [&](ValueRange totals) {
    pushScope();
    Value mask = firstLanes(columns % kLanes);
    Index column(columns - columns % kLanes);
    column.step = 1;
    SmallVector<Value> next = joinAll(totals, step(column, mask));
    popScope();
    for (auto [value, total] : llvm::zip(next, totals))
      value = arith::SelectOp::create(b, mask, value, total);
    return next;
  };

  int64_t whole = columns - columns % kLanes, block = kSumBlock * kLanes, done = 0;
  SmallVector<Value> totals = start;
  bool inBlocks = columns > 4 * block;
  if (inBlocks) {
    done = whole - whole % block;
    totals = loop(0, done, block, totals, [&](Value first, ValueRange sums) {
      return joinAll(sums, sumOver(Index(first), math.add(Index(first), block), start));
    });
  }
  SmallVector<Value> rest = sumOver(done, whole, start);
  if (columns % kLanes)
    rest = takeTail(rest);
  totals = inBlocks ? joinAll(totals, rest) : rest;
  for (auto [join, total] : llvm::zip(joins, totals))
    total = tree(join, total);
  return totals;
}

SmallVector<Value> Evaluator::remembered(std::vector<uint64_t> key, ArrayRef<Index> outer,
                                         function_ref<SmallVector<Value>()> make) {
  assert(allUniform(outer) && "expects one row for all lanes");
  for (const Index &index : outer)
    index.appendKey(key);
  for (Memory &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  SmallVector<Value> values = make();
  return scopes.back()[key] = values;
}

Value Evaluator::rowTotal(Join join, Value input, ArrayRef<Index> outer) {
  std::vector<uint64_t> key{3 + static_cast<uint64_t>(join),
                            reinterpret_cast<uint64_t>(input.getAsOpaquePointer())};
  return remembered(key, outer, [&] {
    return reduceRow(shapeOf(input).back(), computeTypeOf(input), join,
                     [&](Index column, Value mask) {
                       return SmallVector<Value>{at(input, along(outer, column), mask)};
                     });
  })[0];
}

SmallVector<Value> Evaluator::statistics(Operation *op, ArrayRef<Index> outer) {
  if (isNorm(op))
    return normStatistics(op, outer);
  std::vector<uint64_t> key{5, reinterpret_cast<uint64_t>(op)};
  return remembered(key, outer, [&]() -> SmallVector<Value> {
    Mixed a(*this, b);
    Type type = computeTypeOf(op->getResult(0));
    int64_t columns = shapeOf(op->getResult(0)).back();
    if (auto softmax = dyn_cast<nn::SoftmaxOp>(op)) {
      Value most = rowTotal(Join::Max, softmax.getInput(), outer);
      Value sum = reduceRow(columns, type, Join::Sum, [&](Index column, Value mask) {
        return SmallVector<Value>{
            a.exp(a.sub(at(softmax.getInput(), along(outer, column), mask), most))};
      })[0];
      return {most, sum};
    }
    auto grad = cast<nn::SoftmaxGradOp>(op);
    return reduceRow(columns, type, Join::Sum, [&](Index column, Value mask) {
      Indices indices = along(outer, column);
      return SmallVector<Value>{
          a.mul(at(grad.getOutput(), indices, mask), at(grad.getDy(), indices, mask))};
    });
  });
}

Value Evaluator::rowOp(Operation *op, ArrayRef<Index> indices, Value mask) {
  if (isNorm(op))
    return normElement(op, indices, mask);
  Mixed a(*this, b);
  SmallVector<Value> row = statistics(op, indices.drop_back());
  if (auto softmax = dyn_cast<nn::SoftmaxOp>(op))
    return a.div(a.exp(a.sub(at(softmax.getInput(), indices, mask), row[0])), row[1]);
  auto grad = cast<nn::SoftmaxGradOp>(op);
  return a.mul(at(grad.getOutput(), indices, mask), a.sub(at(grad.getDy(), indices, mask), row[0]));
}

Value Evaluator::term(Operation *reduction, ArrayRef<Index> indices, Value mask) {
  if (isNormGradWeight(reduction))
    return normElement(reduction, indices, mask);
  return at(reduction->getOperand(0), indices, mask);
}

void Evaluator::prepareTerm(Operation *reduction, ArrayRef<Index> indices) {
  for (Value operand : reduction->getOperands())
    prepare(operand, indices);
  if (isNormGradWeight(reduction))
    normStatistics(reduction, indices.drop_back());
}

} // namespace zero
