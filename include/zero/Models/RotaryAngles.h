//===- RotaryAngles.h - how fast rotary positions turn ----------------------===//
//
// A pair of elements d of a head turns by frequencies[d] radians a position. All is
// formed in f64. With n = depth and base θ:
//
//   default  θ^(−2d/n) (Su et al., arXiv 2104.09864, section 3.2.2).
//   linear   that ÷ factor (Chen et al., arXiv 2306.15595).
//   dynamic  the default with θ·(factor·L/positions − (factor − 1))^(n/(n − 2)), where the
//            sequence length L is larger than the positions, and θ elsewhere. A graph has one
//            L, so nothing is left that changes with the input.
//   llama3   by the wave length w = 2π ÷ default: that ÷ factor above originalPositions ÷
//            lowFrequencyFactor, unchanged below originalPositions ÷ highFrequencyFactor, and
//            between them blended linearly in originalPositions ÷ w (Llama 3.1).
//   yarn     a blend of the default and it ÷ factor, linear in d between the dimensions that
//            turn betaFast and betaSlow times over originalPositions; sines and cosines times
//            0.1·ln(factor) + 1 (Peng et al., arXiv 2309.00071, section 3).
//
// The kinds are those of transformers' modeling_rope_utils.py (5.24).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_MODELS_ROTARYANGLES_H
#define ZERO_MODELS_ROTARYANGLES_H

#include "zero/Training/HfConfig.h"

#include <vector>

namespace zero::models {

struct RotaryAngles {
  std::vector<double> frequencies; // depth / 2, radians a position
  double factor = 1.0;             // of sines and cosines
};

RotaryAngles rotaryAngles(const training::RopeConfig &rope, int64_t depth, int64_t positions,
                          int64_t seqLen);

} // namespace zero::models

#endif // ZERO_MODELS_ROTARYANGLES_H
