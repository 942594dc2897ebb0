//===- BeamStates.cpp - a state's children, and what each has lost -------===//
//
// Bytes between the lowest unplaced buffer of a section and what is placed there
// are lost. A section can lose what the capacity leaves it and no more, and is the
// harder to fill the more it still has to take and the less it can lose.
//
//===----------------------------------------------------------------------===//
#include "BeamStates.h"
#include "Choice.h"
#include "FailedStates.h"
#include "Propagation.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {
namespace {

/// The lowest unplaced buffer's lower bound.
Lane floorOf(const Context &c, const State &s, int section) {
  V floor = splat(kPlaced);
  for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
    int group = c.sectionGroups[k];
    floor = min(floor, keep(inSection(c, group, section), lowestOf(s, group)));
  }
  return least(floor);
}

/// The sum over sections of what is still to be placed ÷ (bytes that may still be lost + margin).
double waste(const Context &c, const State &s, double margin) {
  double sum = 0;
  for (int section = 0; section < c.sections; ++section)
    if (!isEmpty(c, s, section))
      sum += (double(c.capacity) - double(s.room[section])) /
             (double(s.room[section]) - double(floorOf(c, s, section)) + margin);
  return sum;
}

/// −1 where all is placed.
int branchSection(const Context &c, const State &s, BeamRule rule) {
  int best = -1;
  Lane first = 0, second = 0;
  for (int section = 0; section < c.sections; ++section) {
    if (isEmpty(c, s, section))
      continue;
    Lane candidates = s.candidates[section];
    Lane a = rule == BeamRule::LowestFloor ? floorOf(c, s, section) : candidates;
    Lane b = rule == BeamRule::LowestFloor ? candidates : s.room[section];
    if (best < 0 || a < first || (a == first && b < second)) {
      best = section;
      first = a;
      second = b;
    }
  }
  return best;
}

} // namespace

int32_t expand(Context &c, Lane *lanes, BeamRule rule, double margin, Child *children) {
  const State s = stateAt(c, lanes), child = stateOfDepth(c, 1);
  int section = branchSection(c, s, rule);
  if (section < 0)
    return -1;
  int32_t count = 0;
  for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
    int group = c.sectionGroups[k];
    uint32_t open = bits(candidatesIn(c, s, group, section)) & ~s.closed(group);
    for (; open; open &= open - 1) {
      int item = lowestBeneath(c, s, group * kLanes + __builtin_ctz(open));
      bool known = false;
      for (int32_t i = 0; i < count; ++i)
        known |= children[i].item == item;
      if (known)
        continue;
      ++c.nodes;
      copy(c, s, child);
      children[count].item = item;
      children[count].waste = -1;
      if (place(c, child, item)) {
        FailedState key = hash(c, child, 0, Lane(c.sections));
        children[count].waste = waste(c, child, margin);
        children[count].low = key.low;
        children[count].high = key.high;
      }
      ++count;
    }
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < count; ++i)
    if (children[i].waste >= 0)
      children[kept++] = children[i];
  return kept;
}

void advance(Context &c, Lane *lanes, int32_t item) { place(c, stateAt(c, lanes), item); }

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL
