//===- Recompute.h - what backward computes again -----------------------------===//
//
// The joint graph's launches as plain nodes, and the policies that say in which
// order, and how often, they run. A policy's answer is a sequence of launches, as
// the planner of checkpoints gives it: each launch once in the graph's order, and
// some again later. What reads a value reads its latest computation before.
//
//   forward  a b c d   loss   backward  b c  d' c'  a  b'  a'
//                                       ^^^ run again: a was kept
//
// Parameters, batch arguments and views are no nodes: the first two are free to
// read at any time, and a view is its root.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_RECOMPUTE_H
#define ZERO_PASSES_RECOMPUTE_H

#include "zero/Dialect/Zero/Zero.h"
#include "zero/Planning/Checkpoint.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace zero {

enum class RecomputePolicy { None, EveryBlock, MinCut, Budget };
/// none, every-block, min-cut, budget.
std::optional<RecomputePolicy> parseRecomputePolicy(llvm::StringRef name);

struct JointLaunch {
  ir::LaunchOp op;
  ir::KernelOp kernel;
  std::vector<int64_t> inputs; ///< launches whose results it reads, views seen through; ascending
  int64_t bytes = 0;           ///< of its results, save gradients and the loss, which lie in slots
  int64_t flops = 0;
  /// In units of one floating-point operation: those, and eight for each byte that it reads or
  /// writes, which is about what memory costs a processor.
  int64_t cost = 0;
  /// A generated kernel: elementwise ops and row reductions, no product, attention or scatter; and
  /// no lookup in a table larger than what it makes, which at stage 3 is gathered for it.
  bool isCheap = false;
  /// The launch of another time can be told apart: it has an operand to be put behind a barrier.
  bool isRepeatable = false;
};

/// The launches of @joint in their order.
struct JointGraph {
  std::vector<JointLaunch> launches;
  /// The first launch that reads the seed, directly or not: it forms the loss's gradient. Those
  /// before it are forward's; it and those behind it never run again.
  int64_t firstBackward = 0;

  /// Fails with a diagnostic on a module that is not at level launches.
  static mlir::FailureOr<JointGraph> read(mlir::ModuleOp module);

  /// What the planner of checkpoints is asked. Backward's launches cost so much that none is
  /// repeated where there is another way.
  planning::checkpoint::Problem problem(int64_t budgetBytes) const;
};

/// Runs of forward launches [begin, end) that repeat: a model's layers. One is found by the period
/// of equal kernels, so that it does not matter who wrote the graph and how: the period whose
/// repetitions cover most launches, the shortest of several; then again in what lies before and
/// behind. Kernels are equal that differ in the sites of their dropouts alone. Where a layer begins
/// is where fewest bytes cross from launches before to ones behind, the earliest of several. The
/// first and the last may be broken off, down to half a layer, and where nothing repeats in full
/// one layer and half of another are enough. O(launches²).
std::vector<std::pair<int64_t, int64_t>> findBlocks(const JointGraph &graph);

using Sequence = std::vector<int64_t>;

/// By launch, whether it runs again so that of each block only the values are kept that forward
/// reads outside it, the launch that forms the loss's gradient included.
std::vector<bool> repeatsOfBlocks(const JointGraph &graph,
                                  llvm::ArrayRef<std::pair<int64_t, int64_t>> blocks);
/// Only generated kernels run again, where a minimum cut says that this keeps fewest bytes: what is
/// kept separates what backward reads from what no cheap launch makes. Of several cuts, the one
/// that repeats least.
std::vector<bool> repeatsOfCheap(const JointGraph &graph);
/// Every launch once, and each of `repeats` again, before the first launch of backward that reads
/// it or what it is needed for. Without repeats, everything is kept.
Sequence placeLate(const JointGraph &graph, std::vector<bool> repeats);

/// What the planner of checkpoints is asked, its budget aside.
class CheckpointProblem {
public:
  /// Values alone.
  explicit CheckpointProblem(const JointGraph &graph);
  /// The arena. `kept` is the graph at level A, with everything kept: what lies beside the values
  /// of each launch there, and which results lie in the place of dying operands, is taken to
  /// hold for all plans. Fails with a diagnostic on a module that is not at level A.
  static mlir::FailureOr<CheckpointProblem> ofArena(mlir::ModuleOp kept, const JointGraph &graph);

  /// The most that is live at once where launches run as `sequence` says.
  int64_t peakBytes(const Sequence &sequence) const;
  /// No sequence takes less.
  int64_t floorBytes() const;

  planning::checkpoint::Problem problem;
  int64_t fixedBytes = 0; ///< live at all times, and of no node
  /// Without what is no launch.
  Sequence launchesOf(const std::vector<int64_t> &computations) const;

private:
  CheckpointProblem() = default;
  std::vector<int64_t> nodes;    ///< by launch
  std::vector<int64_t> launchOf; ///< by node; -1: bytes that are there while the next one runs
};

/// The cheapest sequence that the planner of checkpoints finds within `budgetBytes`, or nothing.
/// Backward's launches are never in it twice.
std::optional<Sequence> recomputeWithin(const JointGraph &graph, const CheckpointProblem &asked,
                                        int64_t budgetBytes);

/// The recomputed launches of a sequence, together.
struct RecomputeCost {
  int64_t launches = 0, flops = 0, cost = 0;
};
RecomputeCost costOf(const JointGraph &graph, const Sequence &sequence);

/// Without the repetitions that nothing reads.
Sequence withoutUnread(const JointGraph &graph, const Sequence &sequence);

/// Clones launches so that they run as `sequence` says. Reads of a clone's operands are fed through
/// nn.barrier behind a value of what runs next.
void applySequence(JointGraph &graph, const Sequence &sequence);

/// Floating-point operations of one run, at most 2^50.
int64_t flopsOf(ir::KernelOp kernel);

/// Whether a launch reads something through nn.barrier: it repeats an earlier one. Any level.
bool isRecomputed(ir::LaunchOp launch);

} // namespace zero

#endif // ZERO_PASSES_RECOMPUTE_H
