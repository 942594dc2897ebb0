//===- ReferenceRun.h - the same training in f64, slowly ---------------------===//
//
// `zero-run --reference`: differentiates the graph and evaluates it op by op in f64
// (lib/Reference), with neither launches nor buckets nor arena. N ranks with A
// micro-steps become N·A micro-steps of one rank, which is the same sum (N2).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_REFERENCERUN_H
#define ZERO_TRAINER_REFERENCERUN_H

#include "zero/Reference/ReferenceTrainer.h"
#include "zero/Trainer/Options.h"
#include "zero/Trainer/TrainingRun.h"
#include "zero/Training/Data.h"

namespace zero {

class ReferenceRun final : public TrainingRun {
public:
  /// The module is at level G or J and outlives the run; it is left at level J. Only the loss mean
  /// of a whole step is known here.
  static llvm::Expected<std::unique_ptr<ReferenceRun>>
  create(Compiler &compiler, mlir::ModuleOp module, const TrainOptions &options);

  llvm::Expected<training::StepRecord> step() override;
  llvm::ArrayRef<training::ParameterSpec> parameters() const override { return specs; }
  llvm::Error readParameter(size_t index, llvm::MutableArrayRef<float> values) const override;

private:
  ReferenceRun() = default;
  llvm::Error openInputs(mlir::ModuleOp module, const TrainOptions &options);
  llvm::Expected<reference::Parameters> initialValues(mlir::ModuleOp module,
                                                      const TrainOptions &options);

  Compiler *compiler = nullptr;
  int64_t ranks = 1, microSteps = 1;
  std::optional<reference::ReferenceTrainer> trainer;
  std::vector<training::BatchArgument> arguments;
  std::vector<training::ParameterSpec> specs;
};

} // namespace zero

#endif // ZERO_TRAINER_REFERENCERUN_H
