//===- Random.h - what dropout draws ---------------------------------------===//
//
// A mask is a function of (seed, step, site, sample, element) alone, so forward,
// backward and recomputation see the same one, and so do one rank and many (N2).
// `sample` counts through the step's global batch, micro-steps included; `element`
// counts row-major inside one sample; `site` is the number of the op in the model.
//
// Word e of a sample is lane e mod 4 of the Philox4x32-10 block (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4) with counter
// (e div 4, site, sample, step) and the seed as key. An element is dropped where its
// word is below rate·2^32, and else multiplied by 1 / (1 − rate), rounded to f32.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_RANDOM_H
#define ZERO_RUNTIME_RANDOM_H

#include <cstdint>

namespace zrt {

/// The four words of a `random` scalar, as Opcode::SetRandom writes it.
struct RandomState {
  uint32_t seedLow = 0, seedHigh = 0;
  uint32_t step = 0;
  uint32_t firstSample = 0; // of this rank's batch in this run
};

/// rate·2^32, rounded down; rate in [0, 1).
uint32_t dropoutThreshold(double rate);

/// Word `element` (below 2^34) of `sample` at `site`.
uint32_t dropoutWord(const RandomState &state, uint32_t site, uint32_t sample, int64_t element);

} // namespace zrt

#endif // ZERO_RUNTIME_RANDOM_H
