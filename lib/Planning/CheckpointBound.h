//===- CheckpointBound.h - what any plan must cost -------------------------===//
//
// While node j is computed for the first time, a value that base order keeps from
// one use, before j, to the next, behind j, either is live or is computed again in
// between: evicted over that gap. Gaps of one value don't meet, so the recomputations
// differ. With y = 1 for an evicted gap every plan satisfies, for each j,
//
//   Σ over gaps around j of bytes · y  ≥  bytes live at j in base order − budget
//
// and costs Σ cost · y more than base order at least. The cheapest y is a lower bound,
// and a good place to begin: evict just these gaps. CheckpointProgramme.h has further
// rows, for what evicted values are computed from.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTBOUND_H
#define ZERO_LIB_PLANNING_CHECKPOINTBOUND_H

#include "CheckpointSequence.h"

namespace zero::planning::checkpoint {

/// A value from one use in base order to the next; the first use is its computation.
struct Gap {
  int32_t node, from, to;
};

struct Bound {
  int64_t cost = 0;        ///< of all computations: none fits the budget for less
  bool infeasible = false; ///< evicting everything doesn't make room
  /// The cheapest gaps that were found, if any; they cost the bound where it was met.
  std::vector<Gap> evicted;
  bool found = false;
  int64_t work = 0; ///< that it took
};

inline constexpr int64_t kUsualBoundWork = 500'000'000;

/// Branch and bound over linear programmes, the least bound first. Plans that cost `knownCost` or
/// more are of no interest. Bounds are evaluated in integers from the programmes' multipliers, so
/// rounding can only weaken them. Deterministic; ends after `branches`, or about so much `work`, in
/// nanoseconds of a usual machine; and before where the bound hardly rises any more, or won't get
/// to `knownCost`.
Bound coveringBound(const Graph &graph, int64_t branches, int64_t knownCost,
                    int64_t work = kUsualBoundWork);

/// Base order with every evicted value computed again right before its next use, and before that
/// whichever of its inputs are evicted there. It may still pass the budget: inputs live for longer.
std::vector<int32_t> sequenceOf(const Graph &graph, const std::vector<Gap> &evicted);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTBOUND_H
