//===- Loop.cpp - run to the end, with log, progress and save --------------===//

#include "zero/Trainer/Loop.h"

#include "zero/Trainer/Agreement.h"
#include "zero/Training/Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace zero {

using namespace training;

/// Saving behind a failed step must not hide that step's error.
static llvm::Error saveBehind(llvm::Error failure, TrainingRun &run, llvm::StringRef path,
                              Progress &progress) {
  bool ended = run.communicator() && !run.communicator()->error().empty();
  if (path.empty() || run.stepsRun() == 0 || ended)
    return failure;
  if (llvm::Error error = run.save(path))
    return llvm::joinErrors(std::move(failure), std::move(error));
  progress.note("weights after " + std::to_string(run.stepsRun()) + " steps are in " + path.str());
  return failure;
}

/// Rank 0's.
static llvm::Error openOutputs(const TrainingRun &run, const LoopOptions &options,
                               std::unique_ptr<JsonLog> &log) {
  for (const std::string &path : {options.save, options.exported})
    if (!path.empty())
      if (llvm::Error error = checkWritable(path, run.savedBytes()))
        return error;
  if (options.log.empty())
    return llvm::Error::success();
  llvm::Expected<std::unique_ptr<JsonLog>> opened =
      run.stepsRun() > 0 ? JsonLog::resume(options.log, run.stepsRun())
                         : JsonLog::open(options.log);
  if (!opened)
    return opened.takeError();
  log = std::move(*opened);
  return llvm::Error::success();
}

/// What can be written is, also where something else can't.
static llvm::Error saveAll(TrainingRun &run, const LoopOptions &options) {
  llvm::Error errors = run.writeCheckpoint();
  if (!options.save.empty())
    errors = llvm::joinErrors(std::move(errors), run.save(options.save));
  if (!options.exported.empty())
    errors =
        llvm::joinErrors(std::move(errors), run.exportTo(options.exported, options.exportType));
  return errors;
}

static std::string endingText(const TrainingRun &run, const LoopOptions &options, Ending ending) {
  std::string text = ending == Ending::Stopped ? "stopped" : "interrupted";
  text +=
      " after step " + std::to_string(run.stepsRun()) + " of " + std::to_string(run.totalSteps());
  if (!options.save.empty())
    text += "; weights are in " + options.save;
  if (std::string checkpoint = run.lastCheckpoint(); !checkpoint.empty())
    text += "; a checkpoint is " + checkpoint;
  return text;
}

/// Behind every so many steps, and behind the last.
static bool isEvalDue(const TrainingRun &run, const LoopOptions &options) {
  return run.stepsRun() == run.totalSteps() ||
         (options.evalEvery > 0 && run.stepsRun() % options.evalEvery == 0);
}

static std::string evalText(const TrainingRun &run, double loss) {
  std::string text;
  llvm::raw_string_ostream(text) << "held-out loss behind step " << run.stepsRun() << ": "
                                 << llvm::format("%.4f", loss);
  return text;
}

llvm::Expected<Ending> trainToEnd(TrainingRun &run, const LoopOptions &options) {
  using Clock = std::chrono::steady_clock;
  bool writes = !run.communicator() || run.communicator()->rank() == 0;
  std::unique_ptr<JsonLog> log;
  if (llvm::Error error = settle(run.communicator(),
                                 writes ? openOutputs(run, options, log) : llvm::Error::success()))
    return std::move(error);

  Progress progress(options.progressFd, run.totalSteps(), run.stepsRun());
  Clock::time_point begin = Clock::now();
  Ending ending = Ending::Finished;
  while (run.stepsRun() < run.totalSteps()) {
    if (options.endAfter > 0 && run.stepsRun() >= options.endAfter) {
      ending = Ending::Stopped;
      break;
    }
    if (options.stop()) {
      ending = Ending::Interrupted;
      break;
    }
    llvm::Expected<StepRecord> record = run.step();
    if (!record)
      return saveBehind(record.takeError(), run, options.save, progress);
    for (const std::string &note : run.takeNotes())
      progress.note(note);
    if (isEvalDue(run, options)) {
      llvm::Expected<std::optional<double>> loss = run.evaluate();
      if (!loss)
        return saveBehind(loss.takeError(), run, options.save, progress);
      record->evalLoss = *loss;
      if (*loss)
        progress.note(evalText(run, **loss));
    }
    progress.step(*record, std::chrono::duration<double>(Clock::now() - begin).count());
    if (llvm::Error error =
            settle(run.communicator(), log ? log->write(*record) : llvm::Error::success()))
      return saveBehind(std::move(error), run, options.save, progress);
    // Behind the log, so that a run killed between the two has all lines before its checkpoint.
    if (run.isCheckpointDue())
      if (llvm::Error error = run.writeCheckpoint())
        return saveBehind(std::move(error), run, options.save, progress);
  }
  progress.finish();
  if (llvm::Error error = saveAll(run, options))
    return std::move(error);
  if (ending != Ending::Finished)
    progress.note(endingText(run, options, ending));
  return ending;
}

} // namespace zero
