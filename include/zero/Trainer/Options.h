//===- Options.h - what a training run is told -------------------------------===//
//
// zero-run's flags as plain values. What only a tool needs (where the log goes, how
// progress is shown) stands in Loop.h.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_OPTIONS_H
#define ZERO_TRAINER_OPTIONS_H

#include "zero/Compiler/Compiler.h"
#include "zero/Runtime/Communicator.h"
#include "zero/Training/LossScale.h"
#include "zero/Training/Schedule.h"

namespace zero {

/// Which model, and the shape of its batch.
struct ModelOptions {
  /// `.mlir` or `.mlirbc` of any level, or a Hugging Face `config.json`.
  std::string path;
  int64_t microBatch = 0; // rows per rank and micro-step; 0: the model's own
  int64_t seqLen = 0;     // tokens, only for a config.json; 0: the model's positions
  bool noDropout = false; // leaves out what a config.json asks for
};

/// docs/checkpoints.md.
struct CheckpointOptions {
  std::string folder; // empty: none are written
  int64_t every = 0;  // steps; 0: only at the end
  int64_t keep = 2;   // the newest that stay; 0: all
  std::string resume; // empty, `auto`, or the folder of one
};

struct TrainOptions {
  /// `until` is ignored: the level follows from what is asked.
  CompileOptions compile;
  std::optional<int64_t> memoryBudget; // bytes of one rank's arena (M3)
  std::string weights;                 // empty: from `seed`
  std::string data;
  std::string evalData; // held-out; empty: none. Needs `compile.evaluate`
  /// None: as many as the data file holds; an error where it has no end.
  std::optional<int64_t> steps;
  uint64_t seed = 0;
  bool seedIsGiven = false; // else a resumed run takes its checkpoint's
  CheckpointOptions checkpoints;
  /// Where `totalSteps` is 0, the number of steps is its horizon.
  training::Schedule schedule;
  /// Only with f16 (`trainsInF16`). None: dynamic from 65536 in f16, else 1.
  std::optional<training::LossScaleOptions> lossScale;
  bool poison = false, profile = false;
  /// Null: all ranks are threads of this process. Else this process is one rank of as many as
  /// `compile.ranks`, and every call of a run is collective.
  std::shared_ptr<zrt::Communicator> communicator = nullptr;
};

} // namespace zero

#endif // ZERO_TRAINER_OPTIONS_H
