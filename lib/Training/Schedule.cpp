//===- Schedule.cpp - learning rates --------------------------------------===//

#include "zero/Training/Schedule.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zero::training {

std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<ScheduleKind>>(text)
      .Case("constant", ScheduleKind::Constant)
      .Case("linear", ScheduleKind::Linear)
      .Case("cosine", ScheduleKind::Cosine)
      .Case("inverse-sqrt", ScheduleKind::InverseSqrt)
      .Default(std::nullopt);
}

llvm::StringRef name(ScheduleKind kind) {
  switch (kind) {
  case ScheduleKind::Constant:
    return "constant";
  case ScheduleKind::Linear:
    return "linear";
  case ScheduleKind::Cosine:
    return "cosine";
  case ScheduleKind::InverseSqrt:
    return "inverse-sqrt";
  }
  return "";
}

double Schedule::rateAt(int64_t stepsTaken) const {
  if (warmupKind != WarmupKind::Linear)
    return deepSpeedRateAt(stepsTaken);
  double step = static_cast<double>(stepsTaken) + 1.0;
  if (stepsTaken < warmup)
    return peak * step / static_cast<double>(warmup);
  if (kind == ScheduleKind::Constant)
    return peak;
  if (kind == ScheduleKind::InverseSqrt)
    return std::max(floor,
                    peak * std::sqrt(static_cast<double>(std::max<int64_t>(warmup, 1)) / step));
  if (stepsTaken >= totalSteps)
    return floor;
  double gone = static_cast<double>(stepsTaken - warmup);
  double span = static_cast<double>(totalSteps - warmup);
  if (kind == ScheduleKind::Linear)
    return floor + (peak - floor) * (span - gone) / span;
  // The order of operations is that of the golden runs, whose traces hold the rates in full.
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * gone / span));
}

double Schedule::deepSpeedRateAt(int64_t stepsTaken) const {
  int64_t last = stepsTaken - 1, rise = std::max<int64_t>(warmup, 2);
  if (last < 0)
    return kind == ScheduleKind::Cosine ? 0.0 : start;
  if (last < rise) {
    double part =
        warmupKind == WarmupKind::DeepSpeedLog
            ? std::log(static_cast<double>(stepsTaken)) / std::log(static_cast<double>(rise))
            : static_cast<double>(last) / static_cast<double>(rise);
    return start + (peak - start) * part;
  }
  if (kind == ScheduleKind::Constant)
    return peak;
  if (last >= totalSteps)
    return floor;
  double span = static_cast<double>(totalSteps - rise);
  if (kind == ScheduleKind::Linear)
    return floor + (peak - floor) * static_cast<double>(totalSteps - last) / span;
  double gone = static_cast<double>(last - rise + 1);
  return floor + (peak - floor) * 0.5 * (1.0 + std::cos(std::numbers::pi * gone / span));
}

} // namespace zero::training
