//===- Choice.h - the buffer to branch on --------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_CHOICE_H
#define ZERO_LIB_PLANNING_CONFLICT_CHOICE_H

#include "State.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

/// By the restart's rule, among the buffers of the sections [begin, end) that are open; −1 where
/// all are closed.
int choose(const Context &c, const State &s, int begin, int end);

/// An open buffer that fits beneath `item` and under which no other fits, found by going down from
/// lowest top to lowest top; `item` itself where there is none.
int lowestBeneath(const Context &c, const State &s, int item);

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_CHOICE_H
