//===- CheckpointReach.h - whether a budget can be met at all --------------===//
//
// A set of values X that must be live together has a member x that was computed
// last; just then X and the inputs of x were live, and before it the set X − x +
// inputs(x). So a search backwards from {v} over such sets, each within the budget,
// reaches the empty set if and only if v can be computed from scratch; and if every
// node can, so can all, one after the other. Where the search ends without, no plan
// exists.
//
// Taking small values for granted, at no bytes, leaves far fewer sets, and what cannot
// be done then cannot be done at all: so the search for a proof begins with the large
// values alone.
//
// Going forwards along the path that it found gives a plan: what is still there from
// before need not be computed, and what is in the way is dropped, the value whose
// next use in base order is furthest first (Belady, 1966).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTREACH_H
#define ZERO_LIB_PLANNING_CHECKPOINTREACH_H

#include "CheckpointSequence.h"

namespace zero::planning::checkpoint {

struct Reach {
  Status status = Status::Unknown; ///< Feasible, Infeasible or Unknown
  std::vector<int32_t> computations;
  int32_t node = -1; ///< where infeasible: one that cannot be computed
};

/// A plan, or a proof that there is none, or neither after some `steps`.
Reach reach(const Graph &graph, int64_t steps);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTREACH_H
