//===- CheckpointTight.h - plans just above what is infeasible --------------===//
//
// Where annealing finds no plan, its coolings are mended; where that fails as well, the
// search backwards proves that there is none or gives one, with very many
// computations, to cool and mend. Where it does neither, a looser budget comes first,
// and steps go down from there: what fits one budget is mended to fit the next, and
// cooled; a step that fails is halved, one that works doubled.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTTIGHT_H
#define ZERO_LIB_PLANNING_CHECKPOINTTIGHT_H

#include "CheckpointAnneal.h"

namespace zero::planning::checkpoint {

struct Tight {
  Found found;
  bool infeasible = false; ///< proved
};

/// A plan for a budget at which annealing from `start` with `options` found none.
Tight tightPlan(const Graph &graph, const std::vector<int32_t> &start, const AnnealOptions &options,
                int64_t reachSteps);

/// The last of these ways: from looser budgets down. Empty where no step leads to the graph's own.
Found fromLooserBudget(const Graph &graph, const std::vector<int32_t> &start,
                       const AnnealOptions &options, int64_t reachSteps);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTTIGHT_H
