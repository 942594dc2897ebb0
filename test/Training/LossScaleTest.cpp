//===- LossScaleTest.cpp - halving, doubling, patience ------------------------===//

#include "zero/Training/LossScale.h"

#include "gtest/gtest.h"

#include <string>

using namespace zero::training;

namespace {

/// Runs steps: `o` overflows, `.` is good. The scales that the steps ran with, in log2, and an `x`
/// where the run has to end.
std::string run(LossScale &scale, const std::string &steps) {
  std::string text;
  for (char step : steps) {
    text += std::to_string(__builtin_ctzll(static_cast<uint64_t>(scale.value()))) + " ";
    if (step == '.')
      scale.stepTaken();
    else if (!scale.stepOverflowed())
      return text + "x";
  }
  return text;
}

TEST(LossScale, IsOneForGood) {
  LossScale scale;
  scale.stepTaken();
  EXPECT_EQ(scale.value(), 1.0);
  EXPECT_FALSE(scale.isDynamic());
  EXPECT_FALSE(scale.stepOverflowed());
}

// The start of the golden run gpt2-f16: from 2^22 with interval 8, five overflows down to 2^17;
// eight good steps (5 to 12) make it 2^18 at step 13.
TEST(LossScale, HalvesAtEveryOverflowAndDoublesAfterGoodSteps) {
  LossScale scale({.initial = 0x1p22, .growthInterval = 8});
  EXPECT_EQ(run(scale, "ooooo.........."), "22 21 20 19 18 17 17 17 17 17 17 17 17 18 18 ");
}

// Three good steps are needed in a row: the overflow behind two of them begins the count anew.
TEST(LossScale, GoodStepsAreCountedInARow) {
  LossScale scale({.initial = 16, .growthInterval = 3});
  EXPECT_EQ(run(scale, "..o...."), "4 4 4 3 3 3 4 ");
}

// A dynamic scale comes from 8 to 1 by three halvings, so that three overflows in a row are
// skipped; a good step begins the count anew.
TEST(LossScale, AFixedScaleSkipsAsManyStepsInARowAsHalvingWouldTake) {
  LossScale scale({.initial = 8, .growthInterval = 0});
  EXPECT_EQ(run(scale, "ooo.ooo"), "3 3 3 3 3 3 3 ");
  EXPECT_EQ(scale.skippedInARow(), 3);
  EXPECT_EQ(run(scale, "o"), "3 x");
  EXPECT_EQ(scale.value(), 8.0);
}

// 6, 3, 1.5, 0.75: three halvings; 1 and what lies below take none.
TEST(LossScale, AFixedScaleOfAnySize) {
  LossScale six({.initial = 6, .growthInterval = 0}), one({.initial = 1, .growthInterval = 0}),
      half({.initial = 0.5, .minimum = 0.5, .growthInterval = 0});
  for (bool skips : {true, true, true, false})
    EXPECT_EQ(six.stepOverflowed(), skips);
  EXPECT_FALSE(one.stepOverflowed());
  EXPECT_FALSE(half.stepOverflowed());
}

TEST(LossScale, EndsTheRunAtTheMinimum) {
  LossScale scale({.initial = 4, .minimum = 1, .growthInterval = 8});
  EXPECT_EQ(run(scale, "ooo"), "2 1 0 x");
  EXPECT_EQ(scale.value(), 1.0);
}

// Half of 6 lies below the minimum of 4, which is taken.
TEST(LossScale, StopsAtAMinimumThatHalvingMisses) {
  LossScale scale({.initial = 6, .minimum = 4, .growthInterval = 8});
  EXPECT_TRUE(scale.stepOverflowed());
  EXPECT_EQ(scale.value(), 4.0);
  EXPECT_FALSE(scale.stepOverflowed());
}

// Hysteresis 2: the first overflow is forgiven, and from then on none until the scale has doubled,
// good steps between or not.
TEST(LossScale, HysteresisForgivesUntilTheScaleDoubles) {
  LossScale scale({.initial = 64, .growthInterval = 2, .hysteresis = 2});
  EXPECT_EQ(run(scale, "o.oo..oo."), "6 6 6 5 4 4 5 5 4 ");
}

// Counted anew at every good step: two overflows have to follow each other.
TEST(LossScale, ConsecutiveHysteresisForgivesAfterEveryGoodStep) {
  LossScale scale(
      {.initial = 64, .growthInterval = 8, .hysteresis = 2, .consecutiveHysteresis = true});
  EXPECT_EQ(run(scale, "o.o.oo."), "6 6 6 6 6 6 5 ");
}

TEST(LossScale, NeverDoublesBeyondF32) {
  LossScale scale({.initial = 0x1p125, .growthInterval = 1});
  scale.stepTaken();
  EXPECT_EQ(scale.value(), 0x1p126);
  scale.stepTaken();
  EXPECT_EQ(scale.value(), 0x1p126);
}

TEST(LossScale, GoesOnFromASavedState) {
  LossScaleOptions options{.initial = 64, .growthInterval = 3, .hysteresis = 2};
  LossScale first(options), second(options);
  run(first, "o..");
  second.restore(first.state());
  EXPECT_EQ(second.state().goodSteps, 2);
  EXPECT_EQ(second.state().hysteresis, 1);
  EXPECT_EQ(run(second, ".oo"), run(first, ".oo"));
}

} // namespace
