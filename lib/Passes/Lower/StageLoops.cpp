//===- StageLoops.cpp - the loops of one stage ---------------------------------------===//
//
// Row results walk their rows; column results walk all rows and add to a row of
// accumulators, so that memory is read along the row in both. Accumulators sum
// kSumBlock rows before they join the outer sum: 4,096 rows lose no more bits
// than 64 + 64 additions do.
//
//===----------------------------------------------------------------------===//

#include "StageLoops.h"
#include "BodyViews.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace zero {

SmallVector<const PlannedOutput *> StageLoops::outputsOf(OutputForm form) const {
  SmallVector<const PlannedOutput *> outputs;
  for (const PlannedOutput &output : stage.outputs)
    if (output.form == form)
      outputs.push_back(&output);
  return outputs;
}

StageLoops::Columns StageLoops::columnsOf(const Index &block) {
  int64_t whole = stage.columns - stage.columns % kLanes;
  if (stage.blocks() <= 1)
    return {0, whole, nullptr};
  Columns columns;
  columns.first = eval.math.mul(block, stage.block);
  Value last = eval.math.scalar(eval.math.add(columns.first, stage.block));
  columns.whole = Index(arith::MinSIOp::create(b, last, eval.math.constant(whole)));
  columns.hasTail = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, eval.math.scalar(block),
                                          eval.math.constant(stage.blocks() - 1));
  return columns;
}

void StageLoops::overColumns(const Columns &columns, ColumnBody body) {
  eval.loop(columns.first, columns.whole, kLanes, {}, [&](Value column, ValueRange) {
    body(Index(column, 1), nullptr);
    return SmallVector<Value>();
  });
  int64_t tail = stage.columns % kLanes;
  if (tail == 0)
    return;
  OpBuilder::InsertionGuard guard(b);
  if (columns.hasTail) {
    auto branch = scf::IfOp::create(b, columns.hasTail, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  eval.pushScope();
  Index column(stage.columns - tail);
  column.step = 1;
  body(column, eval.firstLanes(tail));
  eval.popScope();
}

Indices StageLoops::rowIndices(const PlannedOutput &output, const Index &row, const Index &column) {
  SmallVector<int64_t> shape = shapes.of(output.value);
  if (output.form == OutputForm::Scalar)
    return eval.math.delinear(row, shape);
  shape.pop_back();
  Indices indices = eval.math.delinear(row, shape);
  indices.push_back(column);
  return indices;
}

Indices StageLoops::termIndices(const PlannedOutput &output, const Index &kept, const Index &row,
                                const Index &column) {
  SmallVector<int64_t> shape(shapeOf(output.reduction->getOperand(0))), keptShape;
  SmallVector<int64_t> dims = reducedDims(output.reduction);
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (!llvm::is_contained(dims, i))
      keptShape.push_back(shape[i]);
  Indices result = eval.math.delinear(kept, keptShape);
  result.push_back(column);
  // In the order of the reduction's result without the reduced dimensions.
  return eval.termIndices(output.reduction, result, row);
}

Index StageLoops::accumulatorIndex(const Columns &columns, const Index &column) {
  return eval.math.add(column, eval.math.mul(columns.first, -1));
}

void StageLoops::emitVector(const Index &kept, const Index &row, const Columns &columns,
                            const Index &column, Value mask) {
  SmallVector<Value> values, terms;
  SmallVector<const PlannedOutput *> lanes = outputsOf(OutputForm::Lanes);
  SmallVector<const PlannedOutput *> sums = outputsOf(OutputForm::Column);
  for (const PlannedOutput *output : lanes)
    values.push_back(eval.lanesAt(output->value, rowIndices(*output, row, column), mask));
  for (const PlannedOutput *output : sums)
    terms.push_back(
        eval.toLanes(eval.term(output->reduction, termIndices(*output, kept, row, column), mask)));

  Index place = accumulatorIndex(columns, column);
  for (auto [i, term] : llvm::enumerate(terms)) {
    Value address = buffers.accumulators[i].first;
    Type type = computeTypeOf(sums[i]->reduction->getResult(0));
    Value before = eval.load(address, type, place, nullptr);
    Join join = Evaluator::joinOf(sums[i]->reduction);
    eval.store(address, type, place, eval.joined(join, before, term), nullptr, false);
  }
  Index element = eval.math.add(eval.math.mul(row, stage.columns), column);
  for (auto [output, value] : llvm::zip(lanes, values))
    eval.store(buffers.results[output->result], elementTypeOf(output->value), element, value, mask,
               buffers.adds[output->result]);
}

void StageLoops::emitRow(const Index &kept, const Index &row, const Columns &columns) {
  Index any(0);
  any.step = 1;
  for (const PlannedOutput *output : outputsOf(OutputForm::Lanes))
    eval.prepare(output->value, rowIndices(*output, row, any));
  for (const PlannedOutput *output : outputsOf(OutputForm::Column))
    eval.prepareTerm(output->reduction, termIndices(*output, kept, row, any));
  SmallVector<const PlannedOutput *> scalars = outputsOf(OutputForm::Scalar);
  SmallVector<Value> values;
  for (const PlannedOutput *output : scalars)
    values.push_back(eval.at(output->value, rowIndices(*output, row, 0), nullptr));
  for (auto [output, value] : llvm::zip(scalars, values))
    eval.store(buffers.results[output->result], elementTypeOf(output->value), row, value, nullptr,
               buffers.adds[output->result]);
  if (scalars.size() == stage.outputs.size())
    return;
  overColumns(columns,
              [&](Index column, Value mask) { emitVector(kept, row, columns, column, mask); });
}

void StageLoops::clear(unsigned accumulator, bool outer, const Columns &columns) {
  const PlannedOutput *output = outputsOf(OutputForm::Column)[accumulator];
  Type type = computeTypeOf(output->reduction->getResult(0));
  auto [inner, total] = buffers.accumulators[accumulator];
  overColumns(columns, [&](Index column, Value) {
    Value zero = eval.identity(Evaluator::joinOf(output->reduction), eval.lanesOf(type));
    eval.store(outer ? total : inner, type, accumulatorIndex(columns, column), zero, nullptr,
               false);
  });
}

void StageLoops::emitAccumulated(const Index &kept, const Columns &columns) {
  SmallVector<const PlannedOutput *> sums = outputsOf(OutputForm::Column);
  for (unsigned i = 0; i < sums.size(); ++i)
    clear(i, true, columns);
  eval.loop(0, stage.rows, kSumBlock, {}, [&](Value first, ValueRange) {
    for (unsigned i = 0; i < sums.size(); ++i)
      clear(i, false, columns);
    Value end = arith::MinSIOp::create(b, eval.math.scalar(eval.math.add(Index(first), kSumBlock)),
                                       eval.math.constant(stage.rows));
    eval.loop(Index(first), Index(end), 1, {}, [&](Value row, ValueRange) {
      emitRow(kept, Index(row), columns);
      return SmallVector<Value>();
    });
    overColumns(columns, [&](Index column, Value) {
      Index place = accumulatorIndex(columns, column);
      for (auto [output, accumulator] : llvm::zip(sums, buffers.accumulators)) {
        Type type = computeTypeOf(output->reduction->getResult(0));
        Value total = eval.load(accumulator.second, type, place, nullptr);
        Value block = eval.load(accumulator.first, type, place, nullptr);
        eval.store(accumulator.second, type, place,
                   eval.joined(Evaluator::joinOf(output->reduction), total, block), nullptr, false);
      }
    });
    return SmallVector<Value>();
  });
  finishColumns(kept, columns);
}

void StageLoops::finishColumns(const Index &kept, const Columns &columns) {
  SmallVector<const PlannedOutput *> sums = outputsOf(OutputForm::Column);
  overColumns(columns, [&](Index column, Value mask) {
    for (auto [output, accumulator] : llvm::zip(sums, buffers.accumulators)) {
      Value sum = output->reduction->getResult(0);
      Value total = eval.load(accumulator.second, computeTypeOf(sum),
                              accumulatorIndex(columns, column), nullptr);
      eval.define(sum, eval.finished(output->reduction, total));
      SmallVector<int64_t> shape = shapes.of(output->value);
      shape.pop_back();
      Indices indices = eval.math.delinear(kept, shape);
      indices.push_back(column);
      Value value = eval.lanesAt(output->value, indices, mask);
      eval.forget(sum);
      Index element = eval.math.add(eval.math.mul(kept, stage.columns), column);
      eval.store(buffers.results[output->result], elementTypeOf(output->value), element, value,
                 mask, buffers.adds[output->result]);
    }
  });
}

void StageLoops::emit(const Index &begin, const Index &end) {
  auto nothing = [] { return SmallVector<Value>(); };
  if (stage.inWorkspace) {
    // One unit: what is left of the kept rows shares the accumulators.
    eval.loop(0, stage.kept, 1, {}, [&](Value kept, ValueRange) {
      emitAccumulated(Index(kept), columnsOf(0));
      return nothing();
    });
    return;
  }
  eval.loop(begin, end, 1, {}, [&](Value unit, ValueRange) {
    int64_t blocks = std::max<int64_t>(stage.blocks(), 1);
    Index row = eval.math.div(Index(unit), blocks), block = eval.math.rem(Index(unit), blocks);
    Columns columns = columnsOf(block);
    if (stage.accumulators)
      emitAccumulated(row, columns);
    else
      emitRow(0, row, columns);
    return nothing();
  });
}

} // namespace zero
