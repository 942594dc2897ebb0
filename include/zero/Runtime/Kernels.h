//===- Kernels.h - the CPU runtime's own kernels --------------------------===//
//
// Pure functions of their operands' bits and their descriptor (N0): the same
// bits whatever the alignment, the thread count or the place of the result.
// `threads` splits work over independent units only. None of them allocates.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_KERNELS_H
#define ZERO_RUNTIME_KERNELS_H

#include "zero/Runtime/Program.h"

namespace zrt {

/// Runs fn(context, part) for part in [0, parts) on the rank's threads and joins them.
class ThreadTeam {
public:
  virtual ~ThreadTeam() = default;
  virtual int64_t size() const = 0;
  virtual void run(int64_t parts, void (*fn)(void *context, int64_t part), void *context) = 0;
};

/// `accumulate`: add the finished value (after rounding to f32) to what C holds.
void gemm(const GemmDesc &desc, const float *a, const float *b, const float *bias,
          const float *residual, float *c, bool accumulate, char *workspace, ThreadTeam &team);

void attentionForward(const AttentionDesc &desc, const float *q, const float *k, const float *v,
                      float *out, float *logSumExp, char *workspace, ThreadTeam &team);
void attentionBackward(const AttentionDesc &desc, const float *q, const float *k, const float *v,
                       const float *out, const float *logSumExp, const float *dOut, float *dQ,
                       float *dK, float *dV, char *workspace, ThreadTeam &team);

/// dLogits may equal logits.
void crossEntropyWithGrad(const CrossEntropyDesc &desc, const float *logits, const int32_t *labels,
                          float seed, float *loss, float *dLogits, char *workspace,
                          ThreadTeam &team);

void scatterAdd(const ScatterDesc &desc, const int32_t *indices, const float *updates,
                float *destination, bool accumulate, char *workspace, ThreadTeam &team);

/// Elementary functions used by the kernels above; vectorised inside, one element here for tests.
/// Relative error ≤ 2.7e-7 over the whole range (N3).
float expApprox(float x);
float tanhApprox(float x);
float erfApprox(float x);
float logApprox(float x);

/// Order-independent sum of squares (N4): one exact 48-bit integer product per element, binned by
/// exponent; any split into calls and ranks gives the same bits.
class SquareSum {
public:
  SquareSum() { clear(); }
  void clear();
  void add(const float *values, int64_t count);
  void merge(const SquareSum &other);
  double sum() const; // rounded once, ties to even; inf if any value was inf or NaN
  bool finite() const { return nonFinite == 0; }

  /// 554 bits of exact fixed point in units of 2^-298, the square of the least denormal, and room
  /// for 2^63 terms, in 64-bit limbs from the lowest up, for the control reduction.
  static constexpr int kLimbs = 10;
  uint64_t limbs[kLimbs];
  int64_t nonFinite;
};

/// One call per (segment of a bucket ∩ owned piece): elementwise, run-time length.
struct UpdateScalars {
  OptimizerKind kind;
  float lr, beta1, beta2, oneMinusBeta1, oneMinusBeta2, eps, decayFactor /* 1 − lr·wd */,
      weightDecay, momentum, stepSize /* lr / (1 − β1^t) */, rootCorrection /* 1 / √(1 − β2^t) */,
      gradScale /* clip factor ÷ loss scale */;
  bool firstStep;
};
/// Everything in f64, rounded once. `gradNorm` is the norm after division by `lossScale`, before
/// clipping; `stepsTaken` counts earlier steps; `decay`: whether the segment's group is decayed.
UpdateScalars makeUpdateScalars(const OptimizerDesc &desc, double lr, int64_t stepsTaken,
                                double gradNorm, double lossScale, bool decay);

/// moment1 may be null without momentum, moment2 except for Adam and AdamW.
void updateElements(const UpdateScalars &scalars, int64_t count, float *param, const float *grad,
                    float *moment1, float *moment2);

} // namespace zrt

#endif // ZERO_RUNTIME_KERNELS_H
