//===- LossScale.h - the factor that keeps f16 gradients in range --------===//
//
// Gradients of f16 below 2^-24 vanish, those from 65520 on overflow. The loss is
// scaled before backward, and its scale taken off in f32 behind it. A dynamic scale
// is halved where a step overflowed, which is then skipped, and doubled after
// `growthInterval` good steps in a row.
//
// `hysteresis` is DeepSpeed's: that many overflows are needed for one halving; those
// that remain are counted anew whenever the scale doubles, or, with
// `consecutiveHysteresis`, at every good step. With 1, every overflow halves.
//
// A fixed scale stays, and steps that overflow are skipped too, as DeepSpeed does; but
// only as many in a row as would bring a dynamic scale down to 1. At 1 there are none.
//
// Sources: P. Micikevicius et al., Mixed Precision Training (ICLR 2018), section 3.2;
// DeepSpeed's fp16/loss_scaler.py.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_LOSSSCALE_H
#define ZERO_TRAINING_LOSSSCALE_H

#include <cstdint>

namespace zero::training {

/// Bounds of a scale, which gradients are multiplied by and divided by in f32.
constexpr double kLeastLossScale = 0x1p-126, kMostLossScale = 0x1p126;

struct LossScaleOptions {
  double initial = 65536.0;      // within the bounds; powers of two are applied exactly
  double minimum = 1.0;          // within the bounds
  int64_t growthInterval = 2000; // steps; 0: the scale stays as it is
  int64_t hysteresis = 1;        // at least 1
  bool consecutiveHysteresis = false;
};

class LossScale {
public:
  /// What a checkpoint holds.
  struct State {
    double scale = 1.0;
    int64_t goodSteps = 0;  // in a row
    int64_t hysteresis = 1; // overflows up to the next halving
    bool operator==(const State &) const = default;
  };

  /// The scale 1, for good.
  LossScale() = default;
  explicit LossScale(const LossScaleOptions &options);

  double value() const { return current.scale; }
  bool isDynamic() const { return options.growthInterval > 0; }

  void stepTaken();
  /// The step is to be skipped; or, where false, the run has to end: the scale can't become any
  /// smaller, or is fixed and too many steps have overflowed in a row.
  [[nodiscard]] bool stepOverflowed();
  /// Steps that were skipped since the last good one, where the scale is fixed.
  int64_t skippedInARow() const { return skipped; }

  const State &state() const { return current; }
  void restore(const State &state) { current = state; }

private:
  LossScaleOptions options = {.initial = 1.0, .growthInterval = 0};
  State current;
  int64_t skipped = 0;
};

} // namespace zero::training

#endif // ZERO_TRAINING_LOSSSCALE_H
