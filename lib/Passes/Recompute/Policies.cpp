//===- Policies.cpp - what to compute again, asked of the planners ---------===//

#include "zero/Passes/Recompute.h"

namespace zero {

Sequence recomputeCheap(const JointGraph &graph) { return keepAll(graph); }

std::optional<Sequence> recomputeWithin(const JointGraph &, int64_t) { return std::nullopt; }

} // namespace zero
