// The frequencies of each kind of rotary positions, worked by hand.
#include "zero/Models/RotaryAngles.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace zero::models {
namespace {

using training::RopeConfig;
using training::RopeKind;

void expectFrequencies(const RopeConfig &rope, int64_t depth, int64_t positions, int64_t seqLen,
                       const std::vector<double> &want) {
  std::vector<double> got = rotaryAngles(rope, depth, positions, seqLen).frequencies;
  ASSERT_EQ(got.size(), want.size());
  for (size_t d = 0; d < want.size(); ++d)
    EXPECT_NEAR(got[d], want[d], 1e-15 * want[d]) << "pair " << d;
}

// 16^(-0/4) and 16^(-2/4).
TEST(RotaryAngles, Default) {
  expectFrequencies({.base = 16.0}, 4, 8, 8, {1.0, 0.25});
  EXPECT_EQ(rotaryAngles({.base = 16.0}, 4, 8, 8).factor, 1.0);
}

TEST(RotaryAngles, LinearDividesByTheFactor) {
  expectFrequencies({.kind = RopeKind::Linear, .base = 16.0, .factor = 2.0}, 4, 8, 8, {0.5, 0.125});
}

// Twice as long as the positions at factor 2: base 16 · (2·2 − 1)^(4/2) = 144.
TEST(RotaryAngles, DynamicFollowsTheSequence) {
  RopeConfig rope{.kind = RopeKind::Dynamic, .base = 16.0, .factor = 2.0};
  expectFrequencies(rope, 4, 8, 16, {1.0, 1.0 / 12.0});
  expectFrequencies(rope, 4, 8, 8, {1.0, 0.25});
  expectFrequencies(rope, 4, 8, 3, {1.0, 0.25});
}

// Frequencies 1, 1/10, 1/100 and 1/1000 turn 100 / 2π = 15.9, 1.59, 0.159 and 0.0159 times over 100
// positions: more than 4 times stays, less than once is divided by 8, and between them the share
// (1.59 − 1) / (4 − 1) of what stays.
TEST(RotaryAngles, Llama3BlendsByTurns) {
  RopeConfig rope{.kind = RopeKind::Llama3, .base = 1e4, .factor = 8.0, .originalPositions = 100};
  double share = (10.0 / (2.0 * std::numbers::pi) - 1.0) / 3.0;
  expectFrequencies(rope, 8, 800, 800,
                    {1.0, 0.1 * share + 0.1 / 8.0 * (1.0 - share), 0.01 / 8.0, 0.001 / 8.0});
}

// At base e and depth 8 the pair d turns e^(-d/4)·L/2π times. With L = 2π·e rounded to 17
// positions, waves = 17/2π = 2.7056: pair 4·ln 2.7056 = 3.98 turns once; so the ramp goes from
// ⌊4·ln(2.7056/2)⌋ = ⌊1.21⌋ = 1 for two turns to ⌈3.98⌉ = 4: shares of the slow half 0, 0, 1/3,
// 2/3.
TEST(RotaryAngles, YarnBlendsByDimension) {
  RopeConfig rope{.kind = RopeKind::Yarn,
                  .base = std::numbers::e,
                  .factor = 4.0,
                  .originalPositions = 17,
                  .betaFast = 2.0,
                  .betaSlow = 1.0};
  auto fast = [](double d) { return std::exp(-d / 4.0); };
  auto blend = [&](double d, double slow) { return fast(d) / 4.0 * slow + fast(d) * (1.0 - slow); };
  expectFrequencies(rope, 8, 68, 68, {1.0, fast(1), blend(2, 1.0 / 3.0), blend(3, 2.0 / 3.0)});
  // Without rounding the ramp goes from 1.21 to 3.98.
  rope.truncate = false;
  double waves = 17.0 / (2.0 * std::numbers::pi);
  double low = 4.0 * std::log(waves / 2.0), high = 4.0 * std::log(waves);
  expectFrequencies(
      rope, 8, 68, 68,
      {1.0, fast(1), blend(2, (2 - low) / (high - low)), blend(3, (3 - low) / (high - low))});
}

TEST(RotaryAngles, YarnScalesSinesAndCosines) {
  RopeConfig rope{.kind = RopeKind::Yarn, .factor = 4.0, .originalPositions = 16};
  auto factor = [&] { return rotaryAngles(rope, 8, 64, 64).factor; };
  EXPECT_DOUBLE_EQ(factor(), 0.1 * std::log(4.0) + 1.0);
  rope.mscale = 2.0; // alone it changes nothing
  EXPECT_DOUBLE_EQ(factor(), 0.1 * std::log(4.0) + 1.0);
  rope.mscaleAllDim = 0.5;
  EXPECT_DOUBLE_EQ(factor(), (0.2 * std::log(4.0) + 1.0) / (0.05 * std::log(4.0) + 1.0));
  rope.attentionFactor = 1.5;
  EXPECT_EQ(factor(), 1.5);
  rope = {.kind = RopeKind::Yarn, .factor = 0.5, .originalPositions = 16};
  EXPECT_EQ(factor(), 1.0); // nothing grows where nothing is longer
}

} // namespace
} // namespace zero::models
