//===- RotaryAngles.cpp - how fast rotary positions turn -------------------===//

#include "zero/Models/RotaryAngles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zero::models {
namespace {

using training::RopeConfig;
using training::RopeKind;

std::vector<double> powers(double base, int64_t depth) {
  std::vector<double> frequencies;
  for (int64_t d = 0; d < depth; d += 2)
    frequencies.push_back(std::pow(base, -static_cast<double>(d) / static_cast<double>(depth)));
  return frequencies;
}

double dynamicBase(const RopeConfig &rope, int64_t depth, int64_t positions, int64_t seqLen) {
  double n = static_cast<double>(depth);
  double ratio = static_cast<double>(std::max(seqLen, positions)) / static_cast<double>(positions);
  return rope.base * std::pow(rope.factor * ratio - (rope.factor - 1.0), n / (n - 2.0));
}

double llama3(const RopeConfig &rope, double frequency) {
  double original = static_cast<double>(rope.originalPositions);
  double turns = original * frequency / (2.0 * std::numbers::pi); // positions ÷ wave length
  if (turns > rope.highFrequencyFactor)
    return frequency;
  if (turns < rope.lowFrequencyFactor)
    return frequency / rope.factor;
  double share =
      (turns - rope.lowFrequencyFactor) / (rope.highFrequencyFactor - rope.lowFrequencyFactor);
  return (1.0 - share) * frequency / rope.factor + share * frequency;
}

/// The dimension, as a real number, that turns so often over the original positions.
double dimensionOf(const RopeConfig &rope, int64_t depth, double turns) {
  double waves = static_cast<double>(rope.originalPositions) / (turns * 2.0 * std::numbers::pi);
  return static_cast<double>(depth) * std::log(waves) / (2.0 * std::log(rope.base));
}

void blendYarn(const RopeConfig &rope, int64_t depth, std::vector<double> &frequencies) {
  double low = dimensionOf(rope, depth, rope.betaFast);
  double high = dimensionOf(rope, depth, rope.betaSlow);
  if (rope.truncate)
    low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(depth - 1));
  if (low == high)
    high += 0.001; // as transformers does, so that the ramp is a step
  for (size_t d = 0; d < frequencies.size(); ++d) {
    double slow = std::clamp((static_cast<double>(d) - low) / (high - low), 0.0, 1.0);
    frequencies[d] = frequencies[d] / rope.factor * slow + frequencies[d] * (1.0 - slow);
  }
}

double yarnFactor(const RopeConfig &rope) {
  auto grown = [&](double scale) {
    return rope.factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(rope.factor) + 1.0;
  };
  if (rope.attentionFactor)
    return *rope.attentionFactor;
  if (rope.mscale != 0.0 && rope.mscaleAllDim != 0.0)
    return grown(rope.mscale) / grown(rope.mscaleAllDim);
  return grown(1.0);
}

} // namespace

RotaryAngles rotaryAngles(const RopeConfig &rope, int64_t depth, int64_t positions,
                          int64_t seqLen) {
  bool isDynamic = rope.kind == RopeKind::Dynamic;
  double base = isDynamic ? dynamicBase(rope, depth, positions, seqLen) : rope.base;
  RotaryAngles angles{powers(base, depth)};
  switch (rope.kind) {
  case RopeKind::Default:
  case RopeKind::Dynamic:
    break;
  case RopeKind::Linear:
    for (double &frequency : angles.frequencies)
      frequency /= rope.factor;
    break;
  case RopeKind::Llama3:
    for (double &frequency : angles.frequencies)
      frequency = llama3(rope, frequency);
    break;
  case RopeKind::Yarn:
    blendYarn(rope, depth, angles.frequencies);
    angles.factor = yarnFactor(rope);
    break;
  }
  return angles;
}

} // namespace zero::models
