//===- Cases.h - the golden runs as tests see them ---------------------------===//
//
// A case is a folder of golden/: model, initial weights, batches, recipe, and the
// f64 truth, or, of a 16-bit run, PyTorch's own. All runs of the program go through
// one compiler, so that equal kernels are compiled once.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_INTEGRATION_CASES_H
#define ZERO_TEST_INTEGRATION_CASES_H

#include "zero/Trainer/Trainer.h"

#include <functional>
#include <map>

namespace zero::test {

Compiler &sharedCompiler();

using Weights = std::map<std::string, std::vector<float>>;

/// What a case says of one step.
struct TruthStep {
  double loss = 0.0, lr = 0.0, gradNorm = 0.0; // no norm where it was skipped
  double lossScale = 1.0;
  bool skipped = false;
};

struct GoldenCase {
  std::string name, folder;
  int64_t globalBatch = 0, sequence = 0, steps = 0;
  TrainOptions options; // the recipe; ranks and stage are the test's
  std::vector<TruthStep> truth;
  Weights final; // of f32 runs

  /// The model's file, and its rows per rank.
  ModelOptions model(int64_t ranks) const;
};

/// Reads a case once; ends the program with a message where the data is not as it should be.
const GoldenCase &goldenCase(const std::string &name);

/// How a run departs from the recipe.
struct Variant {
  int64_t ranks = 1, stage = 0;
  int64_t bucketBytes = 4096;
  int64_t steps = -1; // -1: all of the case
  int64_t threadsPerRank = 1;
  std::string reduceEvery = "micro-step";
  std::string dtype = "", keepF32 = "", gradDtype = "auto"; // dtype: empty, the case's own
  bool clean = false, poison = false;
  bool evaluates = false; // on the case's own batches
  std::optional<double> lr = std::nullopt; // in place of the recipe's
  std::string recompute = "none";
  std::optional<int64_t> memoryBudget = std::nullopt;
  CheckpointOptions checkpoints = {};
};

struct Outcome {
  std::vector<training::StepRecord> records;
  Weights weights;
  Report report;
  std::string error; // why there are no more records
};

std::unique_ptr<Trainer> makeTrainer(const GoldenCase &golden, const Variant &run,
                                     std::string &error);
Outcome train(const GoldenCase &golden, const Variant &run);
Weights weightsOf(const TrainingRun &run);

/// |a − b| ÷ |b|, all parameters together; without the biases of attention keys, on which the loss
/// does not depend and whose gradients are rounding noise.
double weightDistance(const Weights &a, const Weights &b);

/// The first parameter in which two sets of weights differ by a bit, or empty.
std::string firstDifference(const Weights &a, const Weights &b);

/// A module from text, with a trainer's errors as text.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> parseModel(const std::string &text);

} // namespace zero::test

#endif // ZERO_TEST_INTEGRATION_CASES_H
