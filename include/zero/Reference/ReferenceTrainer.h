//===- ReferenceTrainer.h - train a joint graph in f64 --------------------===//
//
// Trains what `nn-autodiff` leaves: `@joint` and `@count`. One rank, A micro-steps,
// f64 throughout, no buckets, no schedule, no arena: when a run of the compiled program
// is in doubt, this one settles it.
//
// A step: count the labels of all micro-steps; seed = 1 ÷ count (N2); sum loss and
// gradients over the micro-steps, in order; clip by the global norm; update. Without
// `@count` the loss is no mean over labels, and the seed is 1 ÷ A.
//
// Sources of the update rules: torch.optim.AdamW, Adam and SGD; Loshchilov and Hutter,
// arXiv 1711.05101, algorithm 2; Kingma and Ba, arXiv 1412.6980, algorithm 1; Chen et al.,
// arXiv 2302.06675, algorithm 2, for Lion.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_REFERENCE_REFERENCETRAINER_H
#define ZERO_REFERENCE_REFERENCETRAINER_H

#include "zero/Reference/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace zero::reference {

enum class OptimizerKind { AdamW, Adam, Sgd, Lion };

/// Where a parameter departs from the rest.
struct ParameterRule {
  double lrScale = 1.0;              // a factor of the rate
  std::optional<double> weightDecay; // in place of the optimizer's, whatever the rank
};

struct Optimizer {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8; // AdamW, Adam; Lion has no eps
  double momentum = 0.0;                         // Sgd
  /// On parameters that decay (rank ≥ 2, unless `nn.param` says otherwise). AdamW and Lion
  /// multiply the weight by 1 − lr·weightDecay first; Adam and Sgd add weightDecay·p to the
  /// gradient.
  double weightDecay = 0.0;
  double clip = 0.0;                         // bound on the global gradient norm; 0 for none
  llvm::StringMap<ParameterRule> rules = {}; // by the parameter's name
};

struct StepResult {
  double loss = 0.0;
  double learningRate = 0.0;
  double gradNorm = 0.0; // before clipping
  int64_t count = 0;     // labels of the step; 0 without `@count`
};

/// The learning rate of the step that follows `stepsTaken` others.
using LearningRate = std::function<double(int64_t stepsTaken)>;

class ReferenceTrainer {
public:
  /// `module` is at level J and outlives the trainer; `parameters` holds a value for every
  /// `nn.param`. Fails with a diagnostic where `@joint` is missing or not as described above, or a
  /// parameter is missing or of another shape.
  static mlir::FailureOr<ReferenceTrainer> create(mlir::ModuleOp module, Parameters parameters,
                                                  const Optimizer &optimizer, LearningRate rate,
                                                  const Registry &registry = Registry::standard());

  /// What dropout is keyed by, with the steps taken and the samples' numbers; 0 unless set.
  void setDropoutSeed(uint64_t seed) { dropoutSeed = seed; }

  /// One step on `batches[micro-step][argument]`, in the order of `@joint`'s arguments without the
  /// seed and what keys dropout. Fails with a diagnostic on what the interpreter refuses, and on a
  /// loss or gradient that is not finite: step and first parameter are named, and the weights are
  /// as before the step.
  mlir::FailureOr<StepResult> step(llvm::ArrayRef<llvm::SmallVector<Array>> batches);

  const Parameters &parameters() const { return weights; }
  int64_t stepsTaken() const { return taken; }

private:
  struct Moments {
    std::vector<double> first, second;
  };
  using Gradients = llvm::StringMap<std::vector<double>>;

  ReferenceTrainer() = default;
  mlir::FailureOr<int64_t> countLabels(llvm::ArrayRef<llvm::SmallVector<Array>> batches) const;
  mlir::LogicalResult accumulate(llvm::ArrayRef<Array> batch, int64_t microStep, double seed,
                                 Gradients &gradients, double &loss) const;
  int64_t batchArguments() const;
  Array randomState(llvm::ArrayRef<Array> batch, int64_t microStep) const;
  void update(llvm::StringRef name, llvm::ArrayRef<double> gradient, double clipFactor,
              double rate);

  mlir::func::FuncOp joint, count;
  llvm::SmallVector<llvm::StringRef> trained; // the symbols of `nn.return`, each once, in its order
  llvm::StringMap<bool> decays;
  Parameters weights;
  llvm::StringMap<Moments> moments;
  Optimizer optimizer;
  LearningRate rate;
  const Registry *registry = nullptr;
  uint64_t dropoutSeed = 0;
  int64_t taken = 0;
};

} // namespace zero::reference

#endif // ZERO_REFERENCE_REFERENCETRAINER_H
