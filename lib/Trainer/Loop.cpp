//===- Loop.cpp - run to the end, with log, progress and save --------------===//

#include "zero/Trainer/Loop.h"

#include "zero/Training/Progress.h"

#include <chrono>

namespace zero {

using namespace training;

/// Saving behind a failed step must not hide that step's error.
static llvm::Error saveBehind(llvm::Error failure, TrainingRun &run, llvm::StringRef path,
                              Progress &progress) {
  if (path.empty() || run.stepsTaken() == 0)
    return failure;
  if (llvm::Error error = run.save(path))
    return llvm::joinErrors(std::move(failure), std::move(error));
  progress.note("weights after " + std::to_string(run.stepsTaken()) + " steps are in " +
                path.str());
  return failure;
}

llvm::Expected<Ending> trainToEnd(TrainingRun &run, const LoopOptions &options) {
  using Clock = std::chrono::steady_clock;
  if (!options.save.empty())
    if (llvm::Error error = checkWritable(options.save, run.savedBytes()))
      return std::move(error);
  std::unique_ptr<JsonLog> log;
  if (!options.log.empty()) {
    llvm::Expected<std::unique_ptr<JsonLog>> opened = JsonLog::open(options.log);
    if (!opened)
      return opened.takeError();
    log = std::move(*opened);
  }

  Progress progress(options.progressFd, run.totalSteps());
  Clock::time_point begin = Clock::now();
  Ending ending = Ending::Finished;
  while (run.stepsTaken() < run.totalSteps()) {
    if (options.stop()) {
      ending = Ending::Interrupted;
      break;
    }
    llvm::Expected<StepRecord> record = run.step();
    if (!record)
      return saveBehind(record.takeError(), run, options.save, progress);
    for (const std::string &note : run.takeNotes())
      progress.note(note);
    progress.step(*record, std::chrono::duration<double>(Clock::now() - begin).count());
    if (log)
      if (llvm::Error error = log->write(*record))
        return saveBehind(std::move(error), run, options.save, progress);
  }
  progress.finish();
  if (!options.save.empty())
    if (llvm::Error error = run.save(options.save))
      return std::move(error);
  if (ending == Ending::Interrupted)
    progress.note("interrupted after step " + std::to_string(run.stepsTaken()) + " of " +
                  std::to_string(run.totalSteps()) +
                  (options.save.empty() ? "" : "; weights are in " + options.save));
  return ending;
}

} // namespace zero
