//===- Schedule.h - learning rates ----------------------------------------===//
//
// A learning rate is a function of the number of steps taken, in f64. All kinds
// rise linearly over the warm-up, reaching the full rate at its last step; then
//
//   constant   stays
//   linear     falls to 0 at `totalSteps`
//   cosine     falls to 0 at `totalSteps` along half a cosine
//
// Source: I. Loshchilov and F. Hutter, SGDR (2017), for the cosine.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_SCHEDULE_H
#define ZERO_TRAINING_SCHEDULE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace zero::training {

enum class ScheduleKind : uint8_t { Constant, Linear, Cosine };

std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text);

struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double peak = 0.0;      // the rate after warm-up
  int64_t warmup = 0;     // steps
  int64_t totalSteps = 0; // the horizon, warm-up included

  /// The rate of the step that follows `stepsTaken` ≥ 0 others; a skipped step isn't taken.
  /// From the horizon on, linear and cosine give 0.
  double rateAt(int64_t stepsTaken) const;
};

} // namespace zero::training

#endif // ZERO_TRAINING_SCHEDULE_H
