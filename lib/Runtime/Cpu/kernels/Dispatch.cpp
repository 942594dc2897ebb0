//===- Dispatch.cpp - the kernels of the instruction set in use -----------===//
#include "Table.h"

#include <cmath>

namespace zrt {

static KernelTable withTiles() {
  KernelTable table = avx512::table;
  table.gemm = amx::gemm;
  return table;
}

const KernelTable &tableOf(InstructionSet set) {
  switch (set) {
  case InstructionSet::Amx: {
    static const KernelTable table = withTiles();
    return table;
  }
  case InstructionSet::Avx512:
    return avx512::table;
  case InstructionSet::Avx2:
    return avx2::table;
  case InstructionSet::Baseline:
    break;
  }
  return baseline::table;
}

static const KernelTable &kernels() { return tableOf(instructionSet()); }

void gemm(const GemmDesc &desc, const void *a, const void *b, const void *bias,
          const void *residual, void *c, bool accumulate, char *workspace, ThreadTeam &team) {
  kernels().gemm(desc, a, b, bias, residual, c, accumulate, workspace, team);
}

void attentionForward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                      void *out, float *logSumExp, const RandomState *random, char *workspace,
                      ThreadTeam &team) {
  kernels().attentionForward(desc, q, k, v, out, logSumExp, random, workspace, team);
}

void attentionBackward(const AttentionDesc &desc, const void *q, const void *k, const void *v,
                       const void *out, const float *logSumExp, const void *dOut, void *dQ,
                       void *dK, void *dV, const RandomState *random, char *workspace,
                       ThreadTeam &team) {
  kernels().attentionBackward(desc, q, k, v, out, logSumExp, dOut, dQ, dK, dV, random, workspace,
                              team);
}

void crossEntropy(const CrossEntropyDesc &desc, const void *logits, const int32_t *labels,
                  float seed, float *loss, void *dLogits, char *workspace, ThreadTeam &team) {
  kernels().crossEntropy(desc, logits, labels, seed, loss, dLogits, workspace, team);
}

void scatterAdd(const ScatterDesc &desc, const int32_t *indices, const void *updates,
                void *destination, bool accumulate, char *workspace, ThreadTeam &team) {
  kernels().scatterAdd(desc, indices, updates, destination, accumulate, workspace, team);
}

void updateElements(const UpdateScalars &scalars, int64_t count, float *weights, const void *grad,
                    ElementType gradType, float *moment1, float *moment2, void *rounded,
                    ElementType roundedType) {
  kernels().updateElements(scalars, count, weights, grad, gradType, moment1, moment2, rounded,
                           roundedType);
}

static float one(void (*function)(const float *, float *, int64_t), float x) {
  float result;
  function(&x, &result, 1);
  return result;
}
float expApprox(float x) { return one(kernels().exp, x); }
float tanhApprox(float x) { return one(kernels().tanh, x); }
float erfApprox(float x) { return one(kernels().erf, x); }
float logApprox(float x) { return one(kernels().log, x); }

UpdateScalars makeUpdateScalars(const OptimizerDesc &desc, double lr, int64_t stepsTaken,
                                double gradNorm, double lossScale, double weightDecay) {
  double steps = double(stepsTaken + 1);
  double clip = desc.clip > 0.0 ? std::fmin(1.0, desc.clip / (gradNorm + 1e-6)) : 1.0;
  UpdateScalars scalars;
  scalars.kind = desc.kind;
  scalars.lr = float(lr);
  scalars.beta1 = float(desc.beta1);
  scalars.beta2 = float(desc.beta2);
  scalars.oneMinusBeta1 = float(1.0 - desc.beta1);
  scalars.oneMinusBeta2 = float(1.0 - desc.beta2);
  scalars.eps = float(desc.eps);
  scalars.decayFactor = float(1.0 - lr * weightDecay);
  scalars.weightDecay = float(weightDecay);
  scalars.momentum = float(desc.momentum);
  scalars.stepSize = float(lr / (1.0 - std::pow(desc.beta1, steps)));
  scalars.rootCorrection = float(1.0 / std::sqrt(1.0 - std::pow(desc.beta2, steps)));
  scalars.gradScale = float(clip / lossScale);
  scalars.firstStep = stepsTaken == 0;
  return scalars;
}

} // namespace zrt
