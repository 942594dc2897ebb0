//===- TinyProgram.h - a step table written by hand -----------------------===//
//
// Linear regression: out = w·x + b over rows of five numbers, one bucket with
// w [5] at 0 and b [1] 64 bytes behind (16 elements, or 32 in 16 bits), loss ½·(out − label)² per
// row whose label is not -100, mean over labels. One generated kernel does forward and backward; it
// is an ordinary function here. Every stage has the table that a compiler would make: segments
// count, micro_step × A, update. Weights and gradients may be of 16 bits; x stays f32, and a
// gradient is rounded once, then added as the mode says.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_RUNTIME_TINYPROGRAM_H
#define ZERO_TEST_RUNTIME_TINYPROGRAM_H

#include "zero/Runtime/Session.h"

namespace zrt::test {

inline constexpr int64_t kFeatures = 5;
inline constexpr int32_t kIgnored = -100;

struct TinyOptions {
  int64_t ranks = 1, stage = 0, microSteps = 1, rows = 2, threads = 1;
  int64_t chunk = 8; // rounded down to a multiple of ranks, at least ranks
  OptimizerDesc optimizer = {.kind = OptimizerKind::Sgd};
  LossMean lossMean = LossMean::Step;
  bool tokenMean = true;
  ElementType type = ElementType::f32;
  std::optional<ElementType> gradType = {}; // the weights' where there is none
  bool evaluates = false;                   // a fourth segment, `eval`

  ElementType gradientType() const { return gradType.value_or(type); }
};

Program tinyProgram(const TinyOptions &options);

/// Write variant, add variant, loss only.
std::vector<GeneratedKernel> tinyKernels(const TinyOptions &options = {});

/// One global step of data, rank-major in each micro-step.
struct TinyBatch {
  TinyBatch(const TinyOptions &options) : options(options) {
    x.resize(size_t(options.microSteps * options.ranks * options.rows * kFeatures));
    labels.resize(size_t(options.microSteps * options.ranks * options.rows));
  }
  /// Small numbers, some labels ignored; a function of the place in the global batch alone.
  void fill(uint32_t seed);
  float &xAt(int64_t microStep, int64_t globalRow, int64_t feature) {
    return x[size_t((microStep * options.ranks * options.rows + globalRow) * kFeatures + feature)];
  }
  int32_t &labelAt(int64_t microStep, int64_t globalRow) {
    return labels[size_t(microStep * options.ranks * options.rows + globalRow)];
  }
  /// The count segment reads [A, rows] per rank: labels in another order.
  StepInput input(double lr, int64_t stepsTaken);
  /// Micro-step 0 as data of the segment `eval`.
  std::vector<std::vector<const void *>> evaluation();

  TinyOptions options;
  std::vector<float> x;
  std::vector<int32_t> labels, countLabels;
};

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_TINYPROGRAM_H
