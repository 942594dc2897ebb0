//===- Loop.h - run to the end, with log, progress and save --------------===//
#ifndef ZERO_TRAINER_LOOP_H
#define ZERO_TRAINER_LOOP_H

#include "zero/Trainer/TrainingRun.h"

#include <functional>

namespace zero {

struct LoopOptions {
  std::string log, save; // paths; empty: none. `save` on all ranks, `log` on rank 0
  std::string exported;  // as `save`, in the weights' types or the one given
  std::optional<training::DType> exportType;
  int progressFd = 1;
  /// Steps between evaluations, where the run has held-out data; 0: only behind the last.
  int64_t evalEvery = 0;
  /// The run ends behind this many steps, as after an interruption; 0: behind all.
  int64_t endAfter = 0;
  /// Asked between steps, and the same on all ranks; true ends the run after the step.
  std::function<bool()> stop = [] { return false; };
};

enum class Ending { Finished, Stopped, Interrupted };

/// Opens the log and checks that outputs can be written, then takes all steps, with a checkpoint
/// where one is due, and saves. Weights and a checkpoint are written also after an interruption,
/// weights after a failed step behind good ones.
llvm::Expected<Ending> trainToEnd(TrainingRun &run, const LoopOptions &options);

} // namespace zero

#endif // ZERO_TRAINER_LOOP_H
