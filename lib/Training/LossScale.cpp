//===- LossScale.cpp - the factor that keeps f16 gradients in range ------===//

#include "zero/Training/LossScale.h"

#include <algorithm>
#include <cmath>

namespace zero::training {

LossScale::LossScale(const LossScaleOptions &options)
    : options(options), current{options.initial, 0, options.hysteresis} {}

/// Halvings of a scale until it is at most 1.
static int64_t halvingsToOne(double scale) {
  return scale <= 1.0 ? 0 : static_cast<int64_t>(std::ceil(std::log2(scale)));
}

void LossScale::stepTaken() {
  skipped = 0;
  if (!isDynamic())
    return;
  if (options.consecutiveHysteresis)
    current.hysteresis = options.hysteresis;
  if (++current.goodSteps < options.growthInterval)
    return;
  current.goodSteps = 0;
  current.hysteresis = options.hysteresis;
  if (current.scale <= kMostLossScale / 2.0)
    current.scale *= 2.0;
}

bool LossScale::stepOverflowed() {
  if (!isDynamic()) {
    if (skipped >= halvingsToOne(current.scale))
      return false;
    ++skipped;
    return true;
  }
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
