//===- BeamStates.h - a beam's steps in one state ------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_BEAMSTATES_H
#define ZERO_LIB_PLANNING_CONFLICT_BEAMSTATES_H

#include "State.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

/// These two as in the kernel's table.
int32_t expand(Context &c, Lane *lanes, BeamRule rule, double margin, Child *children);
void advance(Context &c, Lane *lanes, int32_t item);

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_BEAMSTATES_H
