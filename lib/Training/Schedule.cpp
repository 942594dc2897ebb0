//===- Schedule.cpp - learning rates --------------------------------------===//

#include "zero/Training/Schedule.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <numbers>

namespace zero::training {

std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<ScheduleKind>>(text)
      .Case("constant", ScheduleKind::Constant)
      .Case("linear", ScheduleKind::Linear)
      .Case("cosine", ScheduleKind::Cosine)
      .Default(std::nullopt);
}

double Schedule::rateAt(int64_t stepsTaken) const {
  if (stepsTaken < warmup)
    return peak * static_cast<double>(stepsTaken + 1) / static_cast<double>(warmup);
  if (kind == ScheduleKind::Constant)
    return peak;
  if (stepsTaken >= totalSteps)
    return 0.0;
  double gone = static_cast<double>(stepsTaken - warmup);
  double span = static_cast<double>(totalSteps - warmup);
  if (kind == ScheduleKind::Linear)
    return peak * (span - gone) / span;
  // The order of operations is that of the golden runs, whose traces hold the rates in full.
  return peak * 0.5 * (1.0 + std::cos(std::numbers::pi * gone / span));
}

} // namespace zero::training
