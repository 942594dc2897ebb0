//===- Trainer.h - from a model to trained weights --------------------------===//
//
// Strings the pieces together: model → pipeline → report → kernels → session →
// weights and data → steps. zero-run, the tests and embedders that want it all go
// through here:
//
//   auto module = readModel(compiler, {"model.mlir"});
//   auto trainer = Trainer::create(compiler, **module, options);
//   auto record = (*trainer)->step();
//
// Everything is allocated in `create`; a step allocates nothing (M1). After the
// first step the elements that the communicator counted are held against the plan
// (C1), and a difference is an error.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_TRAINER_H
#define ZERO_TRAINER_TRAINER_H

#include "zero/Trainer/Options.h"
#include "zero/Trainer/Report.h"
#include "zero/Trainer/RunCheckpoints.h"
#include "zero/Trainer/TrainingRun.h"
#include "zero/Training/Data.h"

namespace zero {

/// Parses `options.path`, or builds the graph of a config.json. Errors: unreadable, not MLIR, a
/// verifier's complaint, a configuration that is refused, flags that the kind of file doesn't take.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> readModel(Compiler &compiler,
                                                            const ModelOptions &options);

/// Brings the module to level A and reads its costs off it. Errors: what a pass refuses; an arena
/// above the budget (M3). A module that is past level A already is read as it is.
llvm::Expected<Report> planModule(Compiler &compiler, mlir::ModuleOp module,
                                  const TrainOptions &options);

/// Whether some weights are, or will be, of f16: only such a run has a loss scale.
bool trainsInF16(mlir::ModuleOp module, const CompileOptions &options);

/// Brings the module to level X.
llvm::Error lowerModule(Compiler &compiler, mlir::ModuleOp module, const TrainOptions &options);

class Trainer final : public TrainingRun {
public:
  /// The module may be at any level; it is left at level X.
  static llvm::Expected<std::unique_ptr<Trainer>> create(Compiler &compiler, mlir::ModuleOp module,
                                                         const TrainOptions &options);
  ~Trainer() override;

  llvm::Expected<training::StepRecord> step() override;
  llvm::Expected<std::optional<double>> evaluate() override;
  llvm::ArrayRef<training::ParameterSpec> parameters() const override { return specs; }
  llvm::Error readParameter(size_t index, llvm::MutableArrayRef<float> values) const override;
  bool isCheckpointDue() const override;
  llvm::Error writeCheckpoint() override;
  std::string lastCheckpoint() const override;

  const Report &report() const { return planned; }
  zrt::Session &session() { return *ranks; }
  const zrt::StepResult &lastResult() const { return result; }

private:
  Trainer();
  llvm::Error openFiles(const TrainOptions &options);
  llvm::Error openInputs(const TrainOptions &options);
  llvm::Error openHeldOut(const TrainOptions &options);
  llvm::Error setLossScale(const TrainOptions &options);
  llvm::Error setWeights(const TrainOptions &options);
  llvm::Error resume();
  training::DType typeOf(size_t index) const override { return types[index]; }
  void pointAtBatches();
  llvm::Error checkTraffic() const;
  /// Skips the step or, where it can't be, says why.
  llvm::Error skipStep();

  Report planned;
  std::shared_ptr<void> code; // the kernels' machine code
  std::unique_ptr<zrt::Session> ranks;
  training::Schedule schedule;
  training::LossScale lossScale;
  std::unique_ptr<RunCheckpoints> checkpoints; // null: none are written or read
  std::vector<training::ParameterSpec> specs;
  std::vector<training::DType> types; // of the weights, as `specs`
  std::unique_ptr<training::DataSet> heldOut;
  zrt::BatchPointers heldOutBatch;
  zrt::StepInput input;
  zrt::StepResult result;
};

/// What the compiler had to say since the last call, as one error.
llvm::Error compilerError(Compiler &compiler);
/// The same, line by line: the warnings of a compilation that went well.
std::vector<std::string> takeLines(Compiler &compiler);

} // namespace zero

#endif // ZERO_TRAINER_TRAINER_H
