//===- CheckpointMend.h - from a sequence above the budget to a plan -------===//
//
// Follows a sequence that is too large here and there, with the budget's room alone.
// What no longer fits is dropped, by the least cost a byte of computing it again
// where the sequence next uses it, given what is live there; what was dropped is
// computed again, with its chain, where it is used; and what is still there is not
// computed a second time. The values that are kept over all of a use's chain are
// found by bisection, the cheapest given up first.
//
// The chain is the cheapest within the room left: A* (Hart, Nilsson, Raphael, 1968)
// backwards over sets of values that must be live together, as in CheckpointReach.
// From below its cost is that of everything that is not there, once.
//
// So a search that is nearly within the budget, stuck where one more drop wants a
// chain of thirty computations in one piece, gets a plan for little more.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTMEND_H
#define ZERO_LIB_PLANNING_CHECKPOINTMEND_H

#include "CheckpointSequence.h"

namespace zero::planning::checkpoint {

/// How many sets are looked at: over all, for one chain, and for one chain beside values that are
/// kept.
struct MendLimits {
  int64_t sets = 5'000, setsOfChain = 2'000, setsBesideKept = 300;
};

/// A sequence within the budget, of first computations in order, from any such `sequence`; empty
/// where a limit is met, or no chain fits. With limits high enough one is found if there is any.
/// Deterministic.
std::vector<int32_t> mend(const Graph &graph, const std::vector<int32_t> &sequence,
                          const MendLimits &limits = {});

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTMEND_H
