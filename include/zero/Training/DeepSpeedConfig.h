//===- DeepSpeedConfig.h - a recipe from a DeepSpeed configuration --------===//
//
// `--config ds.json`. What DeepSpeed would do with the file, as far as we have it:
// batch sizes, types and loss scale, optimizer, schedule, clipping, stage and bucket
// sizes. A key without a value here (absent, or "auto", which Hugging Face fills from
// its own arguments) is left to the command line.
//
// A key that DeepSpeed has and we can't honour becomes a warning, unless its value
// says what we do anyway. A key that it doesn't have is an error, and so is what
// contradicts itself, and an optimizer or a scheduler that we lack.
//
// Source: DeepSpeed 0.15, runtime/config.py and its parts, and the constructors of the
// optimizers and schedulers that the file names.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_DEEPSPEEDCONFIG_H
#define ZERO_TRAINING_DEEPSPEEDCONFIG_H

#include "zero/Training/Errors.h"
#include "zero/Training/LossScale.h"
#include "zero/Training/Schedule.h"

#include <optional>
#include <vector>

namespace zero::training {

struct DeepSpeedOptimizer {
  std::string type; // as the file spells it
  std::string name; // adamw, adam, sgd, lion
  std::optional<double> lr, beta1, beta2, eps, weightDecay, momentum;
  /// What DeepSpeed takes where the file doesn't say; the command line's defaults under "auto".
  double defaultLr = 1e-3, defaultWeightDecay = 0.0;
};

struct DeepSpeedScheduler {
  std::string type;
  ScheduleKind kind = ScheduleKind::Constant;
  WarmupKind warmupKind = WarmupKind::DeepSpeedLog;
  /// None under "auto": the peak is the optimizer's rate, the rest is the command line's.
  std::optional<double> peak;
  std::optional<int64_t> warmup, totalSteps;
  /// Of WarmupLR and WarmupDecayLR a rate, of WarmupCosineLR a part of the peak.
  double start = 0.0, floor = 0.0;

  /// The schedule from what the file leaves open, given.
  Schedule schedule(double lr, int64_t warmupSteps, int64_t steps) const;
};

struct DeepSpeedConfig {
  std::string path;
  std::optional<int64_t> trainBatch, microBatch, accumulate;
  std::optional<bool> fp16, bf16;
  std::optional<std::string> gradDtype;      // f32, bf16, f16
  std::optional<LossScaleOptions> lossScale; // where fp16 is enabled
  std::optional<DeepSpeedOptimizer> optimizer;
  std::optional<DeepSpeedScheduler> scheduler;
  std::optional<double> clip;
  std::optional<int64_t> stage;
  /// Elements of a bucket: `bucketKey` says which of the two sizes it was.
  std::optional<int64_t> bucketElements;
  std::string bucketKey;
  std::vector<std::string> warnings; // `warning: ds.json: '…' is not honoured: …`
};

/// Errors are InputErrors at line and column.
llvm::Expected<DeepSpeedConfig> readDeepSpeedConfig(llvm::StringRef path);
llvm::Expected<DeepSpeedConfig> parseDeepSpeedConfig(llvm::StringRef text, llvm::StringRef path);

/// The batch of a step and its parts: train_batch_size = micro-batch · accumulate · ranks.
struct BatchSizes {
  std::optional<int64_t> microBatch;
  int64_t accumulate = 1;
};
/// What the file says, with what the command line says where the file doesn't. Two of the three
/// give the third, as does train_batch_size alone with one micro-step. Errors name all figures.
llvm::Expected<BatchSizes> settleBatch(const DeepSpeedConfig &config, int64_t ranks,
                                       std::optional<int64_t> microBatch,
                                       std::optional<int64_t> accumulate);

} // namespace zero::training

#endif // ZERO_TRAINING_DEEPSPEEDCONFIG_H
