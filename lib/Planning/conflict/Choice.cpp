//===- Choice.cpp - bottom up, or where the fewest are candidates --------===//
#include "Choice.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {
namespace {

/// The first of the open buffers with `member` (of group) true, by the restart's order.
template <typename Member>
int pick(const Context &c, const State &s, const uint16_t *groups, int count,
         const Member &member) {
  uint32_t open[kMaxGroups];
  V best = splat(kPlaced);
  for (int k = 0; k < count; ++k) {
    int group = groups ? groups[k] : k;
    open[k] = bits(member(group)) & ~s.closed(group);
    if (!open[k])
      continue;
    V value = c.firstBy == First::Rank           ? load(c.rank + group * kLanes)
              : c.firstBy == First::LowestBottom ? lowestOf(s, group)
                                                 : topOf(c, s, group);
    best = min(best, keep(maskOf(open[k]), value));
  }
  Lane value = least(best);
  if (value == kPlaced)
    return -1;
  if (c.firstBy == First::Rank)
    return c.byRank[value];
  best = splat(kPlaced);
  for (int k = 0; k < count; ++k) {
    if (!open[k])
      continue;
    int group = groups ? groups[k] : k;
    V mine = c.firstBy == First::LowestBottom ? lowestOf(s, group) : topOf(c, s, group);
    best = min(best, keep(maskOf(open[k]) & (mine == splat(value)), load(c.rank + group * kLanes)));
  }
  return c.byRank[least(best)];
}

/// The arena fills like a vessel: only those are tried that lie below the lowest top.
int chooseBottomUp(const Context &c, const State &s, Lane begin, Lane end) {
  V tops = splat(kPlaced);
  for (int group = 0; group < c.groups; ++group) {
    uint32_t open = bits((lowestOf(s, group) != splat(kPlaced)) & startsIn(c, group, begin, end)) &
                    ~s.closed(group);
    if (open)
      tops = min(tops, keep(maskOf(open), topOf(c, s, group)));
  }
  Lane top = least(tops);
  if (top == kPlaced)
    return -1;
  return pick(c, s, nullptr, c.groups, [&](int group) {
    return (lowestOf(s, group) < splat(top)) & startsIn(c, group, begin, end);
  });
}

bool hasOpenCandidate(const Context &c, const State &s, int section) {
  for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
    int group = c.sectionGroups[k];
    if (bits(candidatesIn(c, s, group, section)) & ~s.closed(group))
      return true;
  }
  return false;
}

/// The open buffer with the lowest top that fits under `item`, or −1.
int lowestBelow(const Context &c, const State &s, int item) {
  Lane first = c.first[item], last = c.last[item], limit = s.lowest[item];
  int best = -1;
  for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
    int group = c.itemGroups[k];
    uint32_t open =
        bits(overlapping(c, group, first, last) & (lowestOf(s, group) != splat(kPlaced)) &
             (topOf(c, s, group) <= splat(limit))) &
        ~s.closed(group);
    for (; open; open &= open - 1) {
      int other = group * kLanes + __builtin_ctz(open);
      Lane itsTop = Lane(s.lowest[other] + c.size[other]);
      if (best < 0 || itsTop < Lane(s.lowest[best] + c.size[best]))
        best = other;
    }
  }
  return best;
}

/// Few candidates make a narrow tree. Where there is slack, a candidate may leave
/// room for another below it, and so on: that one goes first.
int chooseInSection(const Context &c, const State &s, int begin, int end) {
  int best = -1;
  int64_t bestKey = INT64_MAX;
  for (int section = begin; section < end; ++section) {
    if (isEmpty(c, s, section))
      continue;
    int64_t key = c.weighted ? int64_t(s.candidates[section]) * c.inverseWeight[section]
                             : int64_t(s.candidates[section]) << 48 | int64_t(s.room[section]);
    if (key < bestKey && hasOpenCandidate(c, s, section)) {
      bestKey = key;
      best = section;
    }
  }
  if (best < 0)
    return -1;
  int groupsBegin = c.sectionGroupsBegin[best];
  int item = pick(c, s, c.sectionGroups + groupsBegin, c.sectionGroupsBegin[best + 1] - groupsBegin,
                  [&](int group) { return candidatesIn(c, s, group, best); });
  return lowestBeneath(c, s, item);
}

} // namespace

int lowestBeneath(const Context &c, const State &s, int item) {
  for (int below; (below = lowestBelow(c, s, item)) >= 0;)
    item = below;
  return item;
}

int choose(const Context &c, const State &s, int begin, int end) {
  return c.rule == Rule::BottomUp ? chooseBottomUp(c, s, Lane(begin), Lane(end))
                                  : chooseInSection(c, s, begin, end);
}

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL
