//===- TrainingRun.h - training, one step at a time --------------------------===//
//
// What the loop, the log and `--save` need of a run, whoever computes it: ranks of
// the compiled program (Trainer.h) or the f64 reference (ReferenceRun.h). Texts of
// errors are whole lines, ready for standard error.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_TRAININGRUN_H
#define ZERO_TRAINER_TRAININGRUN_H

#include "zero/Trainer/Options.h"
#include "zero/Training/Data.h"
#include "zero/Training/Log.h"
#include "zero/Training/Weights.h"

namespace zero {

class TrainingRun {
public:
  virtual ~TrainingRun();

  /// The next step; one that overflowed at a dynamic loss scale is skipped. After an error the
  /// weights are as they were before it.
  virtual llvm::Expected<training::StepRecord> step() = 0;

  /// The mean loss over the held-out data, or none where there is none. Changes nothing.
  /// Collective.
  virtual llvm::Expected<std::optional<double>> evaluate() { return std::nullopt; }

  /// All parameters, frozen and unused ones too, in the model's order.
  virtual llvm::ArrayRef<training::ParameterSpec> parameters() const = 0;
  /// `values` holds exactly the parameter's elements.
  virtual llvm::Error readParameter(size_t index, llvm::MutableArrayRef<float> values) const = 0;

  /// Null: this process is all of the job. Else all calls are collective.
  zrt::Communicator *communicator() const { return peers.get(); }

  int64_t totalSteps() const { return total; }
  /// Skipped ones included: the position in the data.
  int64_t stepsRun() const { return run; }
  /// Those that moved weights: what learning rates and bias corrections go by.
  int64_t stepsTaken() const { return taken; }
  /// About the model, the weights and the data; whole lines.
  llvm::ArrayRef<std::string> warnings() const { return heard; }
  /// What there is to say since the last call: a step without a label.
  std::vector<std::string> takeNotes() { return std::exchange(notes, {}); }

  /// All parameters as f32 (F2: the old file or the new one). Rank 0 writes.
  llvm::Error save(llvm::StringRef path) const;
  /// Bytes that `save` writes, header left out.
  int64_t savedBytes() const;
  /// The same in another type: none for each parameter's own.
  llvm::Error exportTo(llvm::StringRef path, std::optional<training::DType> type) const;

  /// Whether a checkpoint is asked for behind the last step.
  virtual bool isCheckpointDue() const { return false; }
  /// Writes one, where the run has a folder for them and none there is of this step. Collective.
  virtual llvm::Error writeCheckpoint() { return llvm::Error::success(); }
  /// The one that was written last; empty: none.
  virtual std::string lastCheckpoint() const { return ""; }

protected:
  /// In which a parameter is stored.
  virtual training::DType typeOf(size_t index) const { return training::DType::F32; }
  /// `step 3 of 20`: the step that comes next.
  std::string stepText() const;

  /// Opens the data and settles the number of steps; neither where no step is asked for.
  llvm::Error openBatches(const TrainOptions &options,
                          llvm::ArrayRef<training::BatchArgument> arguments, int64_t ranks,
                          int64_t microSteps);

  llvm::Error write(llvm::StringRef path,
                    llvm::function_ref<training::DType(size_t index)> typeOf) const;

  std::shared_ptr<zrt::Communicator> peers;
  int64_t total = 0, run = 0, taken = 0;
  std::unique_ptr<training::DataSet> data;
  std::vector<std::string> heard, notes;
};

/// Reads the tensors of `path` one after the other into `set`, by the model's names. Notes what the
/// model has no use for.
llvm::Error
loadWeights(llvm::StringRef path, llvm::ArrayRef<training::ParameterSpec> parameters,
            llvm::function_ref<llvm::Error(size_t index, llvm::ArrayRef<float> values)> set,
            std::vector<std::string> &warnings);

/// How many steps there will be: those asked for, or all that the data holds. An error where the
/// data holds fewer, or has no end and nothing was asked for.
llvm::Expected<int64_t> numberOfSteps(std::optional<int64_t> asked, std::optional<int64_t> inData,
                                      llvm::StringRef path);

} // namespace zero

#endif // ZERO_TRAINER_TRAININGRUN_H
