//===- Random.cpp - what dropout draws --------------------------------------===//

#include "zero/Runtime/Random.h"

#include "zero/Runtime/InitialValues.h"

namespace zrt {

uint32_t dropoutThreshold(double rate) { return uint32_t(rate * 0x1p32); }

uint32_t dropoutWord(const RandomState &state, uint32_t site, uint32_t sample, int64_t element) {
  return philox4x32({uint32_t(uint64_t(element) / 4), site, sample, state.step},
                    {state.seedLow, state.seedHigh})[size_t(element % 4)];
}

} // namespace zrt
