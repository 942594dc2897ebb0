//===- CheckpointExact.h - the cheapest plan of a small problem ------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTEXACT_H
#define ZERO_LIB_PLANNING_CHECKPOINTEXACT_H

#include "CheckpointAnneal.h"

namespace zero::planning::checkpoint {

inline constexpr int32_t kMostExact = 11;

/// For graphs of up to kMostExact nodes. A state is how many nodes were computed once and which
/// values are live; Dijkstra's algorithm goes from state to state by computing a node, at its cost,
/// or dropping a value, at none. Empty where no plan fits the budget: proved. O(n² 2ⁿ).
Found exact(const Graph &graph);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTEXACT_H
