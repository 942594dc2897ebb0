//===- Update.cpp - optimizer steps as torch.optim takes them -------------===//
#include "Isa.h"
#include "Parts.h"

namespace zrt::ZRT_ISA {
namespace {

template <OptimizerKind K>
void update(const UpdateScalars &with, int64_t count, float *param, const float *grad,
            float *moment1, float *moment2) {
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t rest = count - j;
    Float16 p = loadFirst(param + j, rest), g = loadFirst(grad + j, rest) * with.gradScale;
    if constexpr (K == OptimizerKind::AdamW)
      p *= with.decayFactor;
    else
      g = multiplyAdd(splat(with.weightDecay), p, g);
    if constexpr (K == OptimizerKind::Sgd) {
      Float16 step = g;
      if (with.momentum != 0.0f) {
        if (!with.firstStep)
          step = multiplyAdd(splat(with.momentum), loadFirst(moment1 + j, rest), g);
        storeFirst(moment1 + j, step, rest);
      }
      p = multiplyAdd(splat(-with.lr), step, p);
    } else {
      Float16 m = loadFirst(moment1 + j, rest), v = loadFirst(moment2 + j, rest);
      m = multiplyAdd(splat(with.oneMinusBeta1), g - m, m);
      v = multiplyAdd(g * with.oneMinusBeta2, g, v * with.beta2);
      storeFirst(moment1 + j, m, rest);
      storeFirst(moment2 + j, v, rest);
      Float16 root =
          multiplyAdd(__builtin_elementwise_sqrt(v), splat(with.rootCorrection), splat(with.eps));
      p = multiplyAdd(splat(-with.stepSize), m / root, p);
    }
    storeFirst(param + j, p, rest);
  }
}

} // namespace

void updateElements(const UpdateScalars &scalars, int64_t count, float *param, const float *grad,
                    float *moment1, float *moment2) {
  switch (scalars.kind) {
  case OptimizerKind::Sgd:
    return update<OptimizerKind::Sgd>(scalars, count, param, grad, moment1, moment2);
  case OptimizerKind::Adam:
    return update<OptimizerKind::Adam>(scalars, count, param, grad, moment1, moment2);
  case OptimizerKind::AdamW:
    return update<OptimizerKind::AdamW>(scalars, count, param, grad, moment1, moment2);
  }
}

} // namespace zrt::ZRT_ISA
