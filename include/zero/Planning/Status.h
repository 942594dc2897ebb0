//===- Status.h - how good a plan is ---------------------------------------===//
//
// What the arena's planner and the placement of checkpoints can say of a plan.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_STATUS_H
#define ZERO_PLANNING_STATUS_H

#include <cstdint>

namespace zero::planning {

enum class Status : uint8_t {
  Optimal,    ///< nothing is better: height, or cost, is the proved bound
  Feasible,   ///< within the capacity, or budget, if there is one; above the bound
  Infeasible, ///< nothing fits: proved
  Unknown     ///< none was found, and none is ruled out
};

/// `optimal`, `feasible`, `infeasible` or `unknown`.
const char *name(Status status);

} // namespace zero::planning

#endif // ZERO_PLANNING_STATUS_H
