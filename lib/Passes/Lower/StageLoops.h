//===- StageLoops.h - the loops of one stage -----------------------------------------===//
#ifndef ZERO_PASSES_LOWER_STAGELOOPS_H
#define ZERO_PASSES_LOWER_STAGELOOPS_H

#include "Evaluator.h"

namespace zero {

/// Emits one stage of a plan. Within a row, everything is read before anything is written: first
/// what depends on the whole row, then per vector all loads before all stores (`may_reuse` rests on
/// it).
class StageLoops {
public:
  struct Buffers {
    llvm::ArrayRef<mlir::Value> results; // addresses
    llvm::ArrayRef<bool> adds;           // per result: added to what is there
    /// Two rows of accumulators for each Column output: the present block's sum and all before it.
    llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> accumulators;
  };

  StageLoops(mlir::ImplicitLocOpBuilder &builder, Evaluator &evaluator, const BodyShapes &shapes,
             const Stage &stage, const Buffers &buffers)
      : b(builder), eval(evaluator), shapes(shapes), stage(stage), buffers(buffers) {}

  /// Units [begin, end).
  void emit(const Index &begin, const Index &end);

private:
  /// Columns of a unit: whole vectors up to `whole`, then a tail where `hasTail` holds (null:
  /// always, if there is one).
  struct Columns {
    Index first, whole;
    mlir::Value hasTail;
  };
  using ColumnBody = llvm::function_ref<void(Index column, mlir::Value mask)>;

  Columns columnsOf(const Index &block);
  void overColumns(const Columns &columns, ColumnBody body);
  void emitRow(const Index &kept, const Index &row, const Columns &columns);
  void emitVector(const Index &kept, const Index &row, const Columns &columns, const Index &column,
                  mlir::Value mask);
  void emitAccumulated(const Index &kept, const Columns &columns);
  void clear(unsigned accumulator, bool outer, const Columns &columns);
  void finishColumns(const Index &kept, const Columns &columns);

  Indices rowIndices(const PlannedOutput &output, const Index &row, const Index &column);
  Indices termIndices(const PlannedOutput &output, const Index &kept, const Index &row,
                      const Index &column);
  /// The accumulators' element of a column; those on the stack begin at the unit's first column.
  Index accumulatorIndex(const Columns &columns, const Index &column);
  llvm::SmallVector<const PlannedOutput *> outputsOf(OutputForm form) const;

  mlir::ImplicitLocOpBuilder &b;
  Evaluator &eval;
  const BodyShapes &shapes;
  const Stage &stage;
  Buffers buffers;
};

} // namespace zero

#endif // ZERO_PASSES_LOWER_STAGELOOPS_H
