//===- Update.cpp - optimizer steps -----------------------------------------===//
#include "Isa.h"
#include "Parts.h"
#include "Types.h"

namespace zrt::ZRT_ISA {
namespace {

/// −1, 0 or 1; NaN stays.
Float16 signOf(Float16 x) {
  return select(x > 0.0f, splat(1.0f), select(x < 0.0f, splat(-1.0f), x));
}

/// Weights `p`, of the elements from `at` on, after their step.
template <OptimizerKind K>
ZRT_INLINE Float16 stepOf(const UpdateScalars &with, Float16 p, Float16 g, float *moment1,
                          float *moment2, int64_t at, int64_t count) {
  if constexpr (K == OptimizerKind::AdamW || K == OptimizerKind::Lion)
    p *= with.decayFactor;
  else
    g = multiplyAdd(splat(with.weightDecay), p, g);
  if constexpr (K == OptimizerKind::Sgd) {
    Float16 step = g;
    if (with.momentum != 0.0f) {
      if (!with.firstStep)
        step = multiplyAdd(splat(with.momentum), loadFirst(moment1 + at, count), g);
      storeFirst(moment1 + at, step, count);
    }
    return multiplyAdd(splat(-with.lr), step, p);
  } else if constexpr (K == OptimizerKind::Lion) {
    Float16 m = loadFirst(moment1 + at, count);
    Float16 direction = signOf(multiplyAdd(splat(with.oneMinusBeta1), g, m * with.beta1));
    storeFirst(moment1 + at, multiplyAdd(splat(with.oneMinusBeta2), g, m * with.beta2), count);
    return multiplyAdd(splat(-with.lr), direction, p);
  } else {
    Float16 m = loadFirst(moment1 + at, count), v = loadFirst(moment2 + at, count);
    m = multiplyAdd(splat(with.oneMinusBeta1), g - m, m);
    v = multiplyAdd(g * with.oneMinusBeta2, g, v * with.beta2);
    storeFirst(moment1 + at, m, count);
    storeFirst(moment2 + at, v, count);
    Float16 root =
        multiplyAdd(__builtin_elementwise_sqrt(v), splat(with.rootCorrection), splat(with.eps));
    return multiplyAdd(splat(-with.stepSize), m / root, p);
  }
}

template <OptimizerKind K, typename Grad, typename Param>
void update(const UpdateScalars &with, int64_t count, float *weights, const Grad *grad,
            float *moment1, float *moment2, Param *rounded) {
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t rest = count - j;
    Float16 g = loadFirst(grad + j, rest) * with.gradScale;
    Float16 p = stepOf<K>(with, loadFirst(weights + j, rest), g, moment1, moment2, j, rest);
    storeFirst(weights + j, p, rest);
    if (rounded)
      storeFirst(rounded + j, p, rest);
  }
}

template <typename Grad, typename Param>
void update(const UpdateScalars &with, int64_t count, float *weights, const Grad *grad,
            float *moment1, float *moment2, Param *rounded) {
  switch (with.kind) {
  case OptimizerKind::Sgd:
    return update<OptimizerKind::Sgd>(with, count, weights, grad, moment1, moment2, rounded);
  case OptimizerKind::Adam:
    return update<OptimizerKind::Adam>(with, count, weights, grad, moment1, moment2, rounded);
  case OptimizerKind::AdamW:
    return update<OptimizerKind::AdamW>(with, count, weights, grad, moment1, moment2, rounded);
  case OptimizerKind::Lion:
    return update<OptimizerKind::Lion>(with, count, weights, grad, moment1, moment2, rounded);
  }
}

} // namespace

void updateElements(const UpdateScalars &scalars, int64_t count, float *weights, const void *grad,
                    ElementType gradType, float *moment1, float *moment2, void *rounded,
                    ElementType roundedType) {
  withType(gradType, [&]<typename Grad>(Grad) {
    withType(roundedType, [&]<typename Param>(Param) {
      update(scalars, count, weights, static_cast<const Grad *>(grad), moment1, moment2,
             static_cast<Param *>(rounded));
    });
  });
}

} // namespace zrt::ZRT_ISA
