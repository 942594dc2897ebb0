//===- GeneratedPlan.h - the loops of a generated kernel ---------------------===//
//
// What a generated kernel's code will look like, decided from its body without
// emitting anything: which results share a loop over rows, which are summed
// down columns, how the work is cut into units, and what is read where. The
// arena's planner asks it for units, workspace and reuse, the emitter follows it.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_GENERATEDPLAN_H
#define ZERO_PASSES_LOWER_GENERATEDPLAN_H

#include "BodyShapes.h"

#include <optional>
#include <string>

namespace zero {

/// Lanes of a vector: the number of partial sums of every row reduction.
inline constexpr int64_t kLanes = 16;
/// Rows (or vectors along a row) that are summed before their sum joins the outer one.
inline constexpr int64_t kSumBlock = 64;
/// Columns of a unit where columns are split: accumulators of this length stay in the first cache.
inline constexpr int64_t kColumnBlock = 256;
/// Columns of a unit of a walk without reductions.
inline constexpr int64_t kWalkBlock = 4096;

/// How a result is computed.
enum class OutputForm {
  Lanes,  // vectors along its last dimension, row by row
  Scalar, // element by element
  Column  // accumulated over the rows of its reduction's input
};

struct PlannedOutput {
  unsigned result = 0;
  /// The yielded value without trailing reshapes, which rename elements in the same order.
  mlir::Value value;
  OutputForm form = OutputForm::Lanes;
  /// Column: the reduction (nn.reduce_* or the gradient of a norm's weight) that `value` is made
  /// of.
  mlir::Operation *reduction = nullptr;
};

/// One loop over `rows` rows of `columns` columns.
struct Stage {
  llvm::SmallVector<PlannedOutput> outputs;
  int64_t kept = 1; // Column results alone: rows of the result, each with `rows` to reduce
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t block = 1;        // columns of a unit
  bool wholeRow = false;    // a row's reductions are needed, so a unit takes whole rows
  int64_t accumulators = 0; // Column results
  bool inWorkspace = false; // the accumulators, as long as a row, lie in the workspace
  int64_t units = 1;        // independent of each other

  int64_t blocks() const { return columns == 0 ? 0 : (columns + block - 1) / block; }
};

struct GeneratedPlan {
  std::vector<Stage> stages; // run one after another; several make one unit
  int64_t units = 1;
  int64_t workspaceBytes = 0;
  /// Per result, arguments that it may be written over.
  llvm::SmallVector<llvm::SmallVector<int64_t>> mayReuse;
};

/// Nothing, with the reason in `why`, where the body holds an op or element type that has no code.
std::optional<GeneratedPlan> planGenerated(ir::KernelOp kernel, const BodyShapes &shapes,
                                           std::string &why);

/// Norms, softmax and their gradients: an element needs numbers of its whole row.
bool isRowOp(mlir::Operation *op);
/// A norm, or the gradient of one with respect to its input.
bool isNorm(mlir::Operation *op);
/// The gradient of a norm's weight, of x and dy: Σ over rows of dy · normalised x.
bool isNormGradWeight(mlir::Operation *op);
/// The dimensions that a reduction op drops, ascending; all but the last for the gradient of a
/// norm's weight. Empty for other ops.
llvm::SmallVector<int64_t> reducedDims(mlir::Operation *op);
/// Whether the op's elements depend on their whole row (row ops, reductions over the last
/// dimension).
bool readsWholeRow(mlir::Operation *op);

} // namespace zero

#endif // ZERO_PASSES_LOWER_GENERATEDPLAN_H
