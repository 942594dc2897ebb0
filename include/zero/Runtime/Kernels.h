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
#include "zero/Runtime/Random.h"

namespace zrt {

/// Runs fn(context, part) for part in [0, parts) on the rank's threads and joins them.
class ThreadTeam {
public:
  virtual ~ThreadTeam() = default;
  virtual int64_t size() const = 0;
  virtual void run(int64_t parts, void (*fn)(void *context, int64_t part), void *context) = 0;
};

// Operands whose type is the descriptor's are `void`. Arithmetic is f32, and what is stored is
// rounded once to its type. Denormal values of 16 bits are values like others, but for products in
// bf16 on processors with AMX, where they count as 0.

/// `accumulate`: add the finished value (after rounding to C's type) to what C holds, in f32, and
/// round. C may be the residual where both are of one type.
void gemm(const GemmDesc &desc, const void *a, const void *b, const void *bias,
          const void *residual, void *c, bool accumulate, char *workspace, ThreadTeam &team);

/// `random` is read where the descriptor drops probabilities, and may be null elsewhere.
void attentionForward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                      void *out, float *logSumExp, const RandomState *random, char *workspace,
                      ThreadTeam &team);
void attentionBackward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                       const void *out, const float *logSumExp, const void *dOut, void *dQ,
                       void *dK, void *dV, const RandomState *random, char *workspace,
                       ThreadTeam &team);

/// dLogits may equal logits, and is null without a gradient.
void crossEntropy(const CrossEntropyDesc &desc, const void *logits, const int32_t *labels,
                  float seed, float *loss, void *dLogits, char *workspace, ThreadTeam &team);

/// `accumulate` as in gemm.
void scatterAdd(const ScatterDesc &desc, const int32_t *indices, const void *updates,
                void *destination, bool accumulate, char *workspace, ThreadTeam &team);

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
  /// Values of f32, bf16 or f16.
  void add(const void *values, ElementType type, int64_t count);
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
/// clipping; `stepsTaken` counts earlier steps; `lr` and `weightDecay` are those of the slot's
/// group.
UpdateScalars makeUpdateScalars(const OptimizerDesc &desc, double lr, int64_t stepsTaken,
                                double gradNorm, double lossScale, double weightDecay);

/// `weights`: the master, or the parameter itself in f32. `rounded`: the 16-bit parameter, which
/// takes the rounded weights, or null. moment1 may be null without momentum, moment2 except for
/// Adam and AdamW.
/// Sgd, Adam and AdamW are torch.optim's. Lion is algorithm 2 of Chen et al., "Symbolic discovery
/// of optimization algorithms" (arXiv 2302.06675), with its decay taken off the weights before:
/// p = p·(1 − lr·wd) − lr·sign(β1·m + (1 − β1)·g), m = β2·m + (1 − β2)·g, and sign(0) = 0.
void updateElements(const UpdateScalars &scalars, int64_t count, float *weights, const void *grad,
                    ElementType gradType, float *moment1, float *moment2, void *rounded,
                    ElementType roundedType);

} // namespace zrt

#endif // ZERO_RUNTIME_KERNELS_H
