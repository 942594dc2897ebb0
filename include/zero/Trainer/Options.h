//===- Options.h - what a training run is told -------------------------------===//
//
// zero-run's flags as plain values. What only a tool needs (where the log goes, how
// progress is shown) stands in Loop.h.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_OPTIONS_H
#define ZERO_TRAINER_OPTIONS_H

#include "zero/Compiler/Compiler.h"
#include "zero/Training/Schedule.h"

namespace zero {

/// Which model, and the shape of its batch.
struct ModelOptions {
  /// `.mlir` or `.mlirbc` of any level, or a Hugging Face `config.json`.
  std::string path;
  int64_t microBatch = 0; // rows per rank and micro-step; 0: the model's own
  int64_t seqLen = 0;     // tokens, only for a config.json; 0: the model's positions
  bool allowDropout = false;
};

struct TrainOptions {
  /// `until` is ignored: the level follows from what is asked.
  CompileOptions compile;
  std::optional<int64_t> memoryBudget; // bytes of one rank's arena (M3)
  std::string weights;                 // empty: from `seed`
  std::string data;
  /// None: as many as the data file holds; an error where it has no end.
  std::optional<int64_t> steps;
  uint64_t seed = 0;
  /// `totalSteps` is set to the number of steps.
  training::Schedule schedule;
  bool poison = false, profile = false;
};

} // namespace zero

#endif // ZERO_TRAINER_OPTIONS_H
