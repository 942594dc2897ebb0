//===- GeneratedPlan.cpp - the loops of a generated kernel -------------------===//

#include "GeneratedPlan.h"
#include "BodyViews.h"
#include "ReadWalk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace zero {
namespace {

class Planner {
public:
  Planner(ir::KernelOp kernel, const BodyShapes &shapes, std::string &why)
      : kernel(kernel), shapes(shapes), why(why) {}

  std::optional<GeneratedPlan> plan() {
    if (!checkTypes())
      return std::nullopt;
    SmallVector<PlannedOutput> outputs;
    for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
      PlannedOutput output{operand.getOperandNumber(), operand.get(), OutputForm::Scalar, nullptr};
      while (auto reshape = output.value.getDefiningOp<nn::ReshapeOp>())
        output.value = reshape.getInput();
      if (!choose(output))
        return std::nullopt;
      outputs.push_back(output);
    }
    for (OutputForm form : {OutputForm::Lanes, OutputForm::Column, OutputForm::Scalar})
      for (PlannedOutput &output : outputs)
        if (output.form == form)
          place(output);
    for (Stage &stage : result.stages)
      finish(stage);
    if (result.stages.size() == 1)
      result.units = result.stages.front().units;
    deriveReuse();
    return std::move(result);
  }

private:
  bool checkTypes() {
    auto known = [](Type type) {
      return type.isF32() || type.isF64() || type.isBF16() || type.isF16() || type.isInteger(1) ||
             type.isInteger(32) || type.isInteger(64);
    };
    SmallVector<Value> values(kernel.getBody().getArguments());
    for (Operation &op : kernel.getBody().front())
      values.append(op.result_begin(), op.result_end());
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !known(type.getElementType()) || elementCount(type.getShape()) < 0) {
        llvm::raw_string_ostream(why)
            << "expects tensors of f32, bf16, f16, f64, i32, i64 or i1, got " << value.getType();
        return false;
      }
    }
    return true;
  }

  static SmallBitVector lastLane(size_t rank) {
    SmallBitVector lanes(rank);
    if (rank)
      lanes.set(rank - 1);
    return lanes;
  }

  int64_t countOf(Value value) const { return elementCount(shapeOf(value)); }

  /// The one column reduction behind `value`, over elementwise ops and reshapes of equal count.
  Operation *findColumnCore(Value value) const {
    int64_t count = countOf(value);
    Operation *core = nullptr;
    bool several = false;
    SmallVector<Value> work{value};
    llvm::DenseSet<Value> seen;
    while (!work.empty()) {
      Value next = work.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (!op || !seen.insert(next).second || countOf(next) != count)
        continue;
      if (!reducedDims(op).empty() && !readsWholeRow(op)) {
        several |= core && core != op;
        core = op;
      } else if (isElementwise(op) || isa<nn::ReshapeOp, nn::BroadcastOp>(op)) {
        work.append(op->operand_begin(), op->operand_end());
      }
    }
    return several ? nullptr : core;
  }

  /// Sizes of a column reduction's loop.
  struct ColumnLoop {
    int64_t kept = 1, rows = 1, columns = 1;
  };
  ColumnLoop columnLoop(Operation *reduction) const {
    ColumnLoop loop;
    ArrayRef<int64_t> shape = shapeOf(reduction->getOperand(0));
    SmallVector<int64_t> dims = reducedDims(reduction);
    loop.columns = shape.back();
    for (int64_t i = 0; i + 1 < static_cast<int64_t>(shape.size()); ++i)
      (llvm::is_contained(dims, i) ? loop.rows : loop.kept) *= shape[i];
    return loop;
  }

  /// Reads of one output inside a loop of rows × columns.
  void walk(ReadWalk &reads, const PlannedOutput &output) const {
    size_t rank = shapes.of(output.value).size();
    switch (output.form) {
    case OutputForm::Lanes:
      return reads.visit(output.value, lastLane(rank), ReadClass::Element);
    case OutputForm::Scalar:
      return reads.visit(output.value, SmallBitVector(rank), ReadClass::RowScalar);
    case OutputForm::Column: {
      // What follows the sum is computed when all rows are done.
      reads.stops.insert(output.reduction->getResult(0));
      reads.visit(output.value, lastLane(rank), ReadClass::Other);
      reads.stops.clear();
      return reads.visitTerm(output.reduction, ReadClass::Element);
    }
    }
  }

  bool choose(PlannedOutput &output) {
    SmallVector<int64_t> shape = shapes.of(output.value);
    std::string unsupported;
    auto fits = [&](OutputForm form, int64_t rows, int64_t columns) {
      output.form = form;
      ReadWalk reads(shapes, rows, columns);
      walk(reads, output);
      unsupported = reads.unsupported;
      return !reads.hasLaneConflict;
    };
    output.reduction = findColumnCore(output.value);
    if (output.reduction) {
      ColumnLoop loop = columnLoop(output.reduction);
      if (!shape.empty() && shape.back() == loop.columns &&
          fits(OutputForm::Column, loop.rows, loop.columns))
        return check(unsupported);
      output.reduction = nullptr;
    }
    int64_t count = countOf(output.value);
    if (!shape.empty() && shape.back() > 1 &&
        fits(OutputForm::Lanes, count / shape.back(), shape.back()))
      return check(unsupported);
    fits(OutputForm::Scalar, count, 1);
    return check(unsupported);
  }

  bool check(const std::string &unsupported) {
    if (!unsupported.empty())
      why = "expects ops with generated code, got '" + unsupported + "'";
    return unsupported.empty();
  }

  void place(const PlannedOutput &output) {
    Stage wanted;
    SmallVector<int64_t> shape = shapes.of(output.value);
    if (output.form == OutputForm::Lanes) {
      wanted.columns = shape.back();
      wanted.rows = wanted.columns ? countOf(output.value) / wanted.columns : 0;
    } else if (output.form == OutputForm::Scalar) {
      wanted.rows = countOf(output.value);
    } else {
      ColumnLoop loop = columnLoop(output.reduction);
      wanted.kept = loop.kept, wanted.rows = loop.rows, wanted.columns = loop.columns;
    }
    for (Stage &stage : result.stages) {
      bool sameRows = stage.kept == wanted.kept && stage.rows == wanted.rows;
      bool isColumns = stage.outputs.front().form == OutputForm::Column;
      if (sameRows &&
          (output.form == OutputForm::Scalar ? !isColumns : stage.columns == wanted.columns)) {
        stage.outputs.push_back(output);
        return;
      }
    }
    wanted.outputs.push_back(output);
    result.stages.push_back(wanted);
  }

  void finish(Stage &stage) {
    int64_t elementBytes = 4;
    bool hasRowResults = false, hasScalars = false;
    ReadWalk terms(shapes, stage.rows, stage.columns);
    for (PlannedOutput &output : stage.outputs) {
      hasRowResults |= output.form != OutputForm::Column;
      hasScalars |= output.form == OutputForm::Scalar;
      if (output.form == OutputForm::Column) {
        ++stage.accumulators;
        elementBytes =
            std::max(elementBytes, storedBytes(computeTypeOf(output.reduction->getResult(0))));
        terms.visitTerm(output.reduction, ReadClass::Element);
      } else {
        walk(terms, output);
      }
    }
    stage.wholeRow = terms.readsRows || hasScalars;
    stage.inWorkspace = stage.accumulators && (hasRowResults || stage.wholeRow);
    if (stage.wholeRow || stage.inWorkspace)
      stage.block = std::max<int64_t>(stage.columns, 1);
    else
      stage.block =
          std::clamp<int64_t>(stage.columns, 1, stage.accumulators ? kColumnBlock : kWalkBlock);
    if (stage.inWorkspace) {
      int64_t row = llvm::alignTo(stage.columns, kLanes) * elementBytes; // a multiple of 64
      result.workspaceBytes = std::max(result.workspaceBytes, 2 * stage.accumulators * row);
      stage.units = 1;
    } else if (stage.accumulators) {
      stage.units = stage.kept * stage.blocks();
    } else {
      stage.units = stage.rows * stage.blocks();
    }
  }

  void deriveReuse() {
    TypeRange results = kernel.getResultTypes();
    result.mayReuse.resize(results.size());
    std::vector<ReadWalk> reads;
    for (Stage &stage : result.stages) {
      ReadWalk &walked = reads.emplace_back(shapes, stage.rows, stage.columns);
      for (PlannedOutput &output : stage.outputs)
        walk(walked, output);
    }
    for (auto [at, stage] : llvm::enumerate(result.stages))
      for (PlannedOutput &output : stage.outputs) {
        if (output.form != OutputForm::Lanes)
          continue;
        auto type = cast<RankedTensorType>(results[output.result]);
        for (BlockArgument argument : kernel.getBody().getArguments()) {
          unsigned index = argument.getArgNumber();
          bool fits = countOf(argument) == elementCount(type.getShape()) &&
                      storedBytes(elementTypeOf(argument)) == storedBytes(type.getElementType()) &&
                      argumentWindow(kernel, index).isContiguous();
          for (auto [other, walked] : llvm::enumerate(reads))
            fits &=
                other == at ? !walked.readElsewhere.contains(index) : !walked.read.contains(index);
          if (fits)
            result.mayReuse[output.result].push_back(index);
        }
      }
  }

  ir::KernelOp kernel;
  const BodyShapes &shapes;
  std::string &why;
  GeneratedPlan result;
};

} // namespace

std::optional<GeneratedPlan> planGenerated(ir::KernelOp kernel, const BodyShapes &shapes,
                                           std::string &why) {
  return Planner(kernel, shapes, why).plan();
}

} // namespace zero
