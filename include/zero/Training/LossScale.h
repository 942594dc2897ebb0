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
// Sources: P. Micikevicius et al., Mixed Precision Training (ICLR 2018), section 3.2;
// DeepSpeed's fp16/loss_scaler.py.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_LOSSSCALE_H
#define ZERO_TRAINING_LOSSSCALE_H

#include <cstdint>

namespace zero::training {

struct LossScaleOptions {
  double initial = 65536.0;      // positive; powers of two are applied and taken off exactly
  double minimum = 1.0;          // positive
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
  /// The step is to be skipped; or, where false, the run has to end: the scale is fixed, or can't
  /// become any smaller.
  [[nodiscard]] bool stepOverflowed();

  const State &state() const { return current; }
  void restore(const State &state) { current = state; }

private:
  LossScaleOptions options = {.initial = 1.0, .growthInterval = 0};
  State current;
};

} // namespace zero::training

#endif // ZERO_TRAINING_LOSSSCALE_H
