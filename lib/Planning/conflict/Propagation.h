//===- Propagation.h - what a decision says about the others -------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_PROPAGATION_H
#define ZERO_LIB_PLANNING_CONFLICT_PROPAGATION_H

#include "State.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

/// Fills a state from its lower bounds. This and the next two are false where no packing is left;
/// the section where that showed is heavier then.
bool start(Context &c);

/// The item is the lowest of what it overlaps, and lies on its lower bound.
bool place(Context &c, const State &s, int item);

/// The item is not the lowest, and lies on another's top or higher.
bool putOff(Context &c, const State &s, int item);

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_PROPAGATION_H
