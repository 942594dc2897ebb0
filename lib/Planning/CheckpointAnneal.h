//===- CheckpointAnneal.h - the search for cheap sequences -----------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTANNEAL_H
#define ZERO_LIB_PLANNING_CHECKPOINTANNEAL_H

#include "CheckpointSequence.h"

namespace zero::planning::checkpoint {

struct AnnealOptions {
  int64_t moves = 0; ///< at most; a search that finds nothing more ends before
  uint64_t seed = 1;
  int64_t stopAtCost = 0; ///< no plan is cheaper: end there
  /// Looks near the start first, which is then nearly within the budget and nearly best.
  bool startIsGood = false;
  /// Moves after which a search that found no plan ends.
  int64_t patienceForFirst = 1'000'000;
  /// For budgets that few sequences fit: what a cooling ends with is mended, and the search ends
  /// where that fails before there is a plan.
  bool mends = false;
};

/// A sequence within the graph's budget; empty, with a cost of kMaxTotal, where there is none.
struct Found {
  std::vector<int32_t> computations;
  int64_t cost = kMaxTotal;
};

/// Simulated annealing from `start`, any sequence whose first occurrences are in order: it need not
/// fit the budget. The cheapest sequence that fits, `start` included. Deterministic: integers, and
/// IEEE additions, products, quotients and square roots. Nodes that each cost more than all others
/// together are computed again only where the start does so: one that fits with them would hardly
/// get rid of them.
Found anneal(const Graph &graph, const std::vector<int32_t> &start, const AnnealOptions &options);

/// The sequence `one` with the stretch of `other` between the first computations of nodes `from`
/// and `to`, `from` no later than `to`: a sequence again, since first computations stay in order.
std::vector<int32_t> crossed(const std::vector<int32_t> &one, const std::vector<int32_t> &other,
                             int32_t from, int32_t to);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTANNEAL_H
