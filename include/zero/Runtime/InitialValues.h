//===- InitialValues.h - initial weights from a seed ----------------------===//
//
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011) as a function of (seed, parameter name, element) and nothing else,
// so that each rank fills its own pieces and every stage, bucket size and rank
// count starts from the same bits.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_INITIALVALUES_H
#define ZERO_RUNTIME_INITIALVALUES_H

#include "zero/Runtime/Program.h"

#include <array>

namespace zrt {

/// One block of four random words.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Writes elements [begin, begin + count) of the slot's parameter. The key is the FNV-1a of the
/// name; the counter holds element / 4 in its low half and the seed in its high half. Normal values
/// come from pairs of words by Box–Muller, uniform ones lie in (-initScale, initScale); both are
/// formed in f64 and rounded once. The slot's zero row is 0 whatever the others are.
void fillInitialValues(const Slot &slot, uint64_t seed, int64_t begin, int64_t count,
                       float *values);

} // namespace zrt

#endif // ZERO_RUNTIME_INITIALVALUES_H
