//===- Loop.h - run to the end, with log, progress and save --------------===//
#ifndef ZERO_TRAINER_LOOP_H
#define ZERO_TRAINER_LOOP_H

#include "zero/Trainer/TrainingRun.h"

#include <functional>

namespace zero {

struct LoopOptions {
  std::string log, save; // paths; empty: none. `save` on all ranks, `log` on rank 0
  int progressFd = 1;
  /// Asked between steps, and the same on all ranks; true ends the run after the step.
  std::function<bool()> stop = [] { return false; };
};

enum class Ending { Finished, Interrupted };

/// Opens the log and checks that `save` can be written, then takes all steps, and saves. Weights
/// are saved also after an interruption, and after a failed step behind good ones.
llvm::Expected<Ending> trainToEnd(TrainingRun &run, const LoopOptions &options);

} // namespace zero

#endif // ZERO_TRAINER_LOOP_H
