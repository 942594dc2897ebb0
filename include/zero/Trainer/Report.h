//===- Report.h - what a plan costs, read off level A ---------------------===//
//
// Memory per rank by category, communication per step, and what holds the peak:
// everything that is known before anything runs. Computed from the IR of level A
// alone, so that a dry run needs no code generator.
//
// Unit: bytes of one rank where a name says so, else elements. The fullest instant
// is the time of the segments at which the sum of live buffers, each rounded up to
// 64 bytes, is largest; the earliest of several.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_REPORT_H
#define ZERO_TRAINER_REPORT_H

#include "zero/Runtime/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <string>
#include <vector>

namespace zero {

struct Report {
  int64_t ranks = 1, stage = 0, microSteps = 1;
  // Elements: trainable and used, frozen, trainable and unused. The first are decayed or not.
  int64_t parameters = 0, frozenParameters = 0, unusedParameters = 0;
  int64_t decayedParameters = 0, otherParameters = 0;

  /// By zrt::StateKind: ⌊total over ranks ÷ N⌋, without padding (M2).
  std::array<int64_t, zrt::kStateKindCount> modelStateBytes = {};
  int64_t controlBytes = 0; // counts, losses, norm, seed
  int64_t paddingBytes = 0; // of states and control: reserved, and no one's
  // The largest sums over time, without rounding.
  int64_t bucketBytes = 0, activationBytes = 0, workspaceBytes = 0, inputBytes = 0;

  /// Bytes at the fullest instant; they sum to `arenaLowerBoundBytes`.
  struct Peak {
    int64_t states = 0, control = 0, activations = 0, buckets = 0, inputs = 0, workspace = 0;
    int64_t padding = 0; // of states and buffers, rounding included
  } peak;
  /// Who holds the fullest instant, the largest first; buffers of one kind and name together.
  struct Holder {
    std::string name; // `activation fc`, `gather b0`
    int64_t bytes = 0, count = 0;
  };
  std::vector<Holder> holders;
  /// The fullest instant: op `peakTime` of `peakTimes` in a segment, as `launch fc`. Empty where no
  /// segment holds anything beside the states.
  std::string peakSegment, peakOp;
  int64_t peakTime = 0, peakTimes = 0;
  int64_t arenaBytes = 0, arenaLowerBoundBytes = 0;

  /// Elements that each rank sends in a step (C1).
  struct Communication {
    int64_t allReduce = 0, reduceScatter = 0, allGather = 0;
    int64_t total() const { return allReduce + reduceScatter + allGather; }
  } communication;

  /// Launches of a micro-step that repeat an earlier one, and floating-point operations of those
  /// and of all.
  int64_t recomputedLaunches = 0, recomputedFlops = 0, flops = 0;
  /// Operations of a micro-step ÷ those without repetitions.
  double flopsRatio() const;
  double compileSeconds = 0.0;
  int64_t messageBytes = 0; // of buffers between processes, beside the arena; 0 for threads
};

/// Fails with a diagnostic on a module that is not at level A.
mlir::FailureOr<Report> makeReport(mlir::ModuleOp module);

/// The JSON object of `--report`.
void writeJson(const Report &report, llvm::raw_ostream &os);

/// The block that a run prints at its start.
std::string summaryText(const Report &report);

/// The largest five of `holders`, as `activation fc 1024, gather b0 512`.
std::string largestHolders(const Report &report);

/// An error that names the peak's holders and the bytes missing, where the arena is larger (M3).
llvm::Error checkBudget(const Report &report, int64_t budgetBytes);

} // namespace zero

#endif // ZERO_TRAINER_REPORT_H
