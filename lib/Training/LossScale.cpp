//===- LossScale.cpp - the factor that keeps f16 gradients in range ------===//

#include "zero/Training/LossScale.h"

#include <algorithm>

namespace zero::training {

/// Twice as much would not be an f32, which gradients are scaled in.
constexpr double kMostScale = 0x1p126;

LossScale::LossScale(const LossScaleOptions &options)
    : options(options), current{options.initial, 0, options.hysteresis} {}

void LossScale::stepTaken() {
  if (!isDynamic())
    return;
  if (options.consecutiveHysteresis)
    current.hysteresis = options.hysteresis;
  if (++current.goodSteps < options.growthInterval)
    return;
  current.goodSteps = 0;
  current.hysteresis = options.hysteresis;
  if (current.scale <= kMostScale / 2.0)
    current.scale *= 2.0;
}

bool LossScale::stepOverflowed() {
  if (!isDynamic())
    return false;
  current.goodSteps = 0;
  if (current.hysteresis > 1) {
    --current.hysteresis;
    return true;
  }
  if (current.scale <= options.minimum)
    return false;
  current.scale = std::max(current.scale / 2.0, options.minimum);
  return true;
}

} // namespace zero::training
