//===- Schedule.h - learning rates ----------------------------------------===//
//
// A learning rate is a function of the number of steps taken, in f64. All kinds
// rise linearly over the warm-up, s/W of the peak at step s of W counted from 1, so
// that its last step has the full rate; then
//
//   constant       stays
//   linear         falls to the floor at `totalSteps`
//   cosine         falls to the floor at `totalSteps` along half a cosine
//   inverse-sqrt   falls as √(W/s) (as √(1/s) without a warm-up), down to the floor
//
// DeepSpeed's schedulers count otherwise: they are set behind a step, so a rate lags
// by one; a warm-up goes from `start` to the peak along a line or a logarithm, takes
// at least two steps, and reaches the peak one step after its last. WarmupLR is
// `constant` here, WarmupDecayLR `linear` with its start as the floor, and
// WarmupCosineLR `cosine`, whose rate at step 0 is 0 and whose fall begins a step
// early. Behind the horizon WarmupCosineLR would rise again; here it stays.
//
// Sources: I. Loshchilov and F. Hutter, SGDR (2017), equation 5, for the cosine;
// A. Vaswani et al., Attention Is All You Need (2017), equation 3, for the inverse
// square root; DeepSpeed's runtime/lr_schedules.py.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_SCHEDULE_H
#define ZERO_TRAINING_SCHEDULE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace zero::training {

enum class ScheduleKind : uint8_t { Constant, Linear, Cosine, InverseSqrt };

std::optional<ScheduleKind> parseScheduleKind(llvm::StringRef text);
llvm::StringRef name(ScheduleKind kind);

enum class WarmupKind : uint8_t { Linear, DeepSpeedLinear, DeepSpeedLog };

struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double peak = 0.0;      // the rate after warm-up
  int64_t warmup = 0;     // steps
  int64_t totalSteps = 0; // the horizon, warm-up included
  double floor = 0.0;     // at most the peak; the warm-up may lie below
  WarmupKind warmupKind = WarmupKind::Linear;
  double start = 0.0; // only with DeepSpeed's warm-ups

  /// The rate of the step that follows `stepsTaken` ≥ 0 others; a skipped step isn't taken.
  /// From the horizon on, linear and cosine give the floor.
  double rateAt(int64_t stepsTaken) const;

private:
  double deepSpeedRateAt(int64_t stepsTaken) const;
};

} // namespace zero::training

#endif // ZERO_TRAINING_SCHEDULE_H
