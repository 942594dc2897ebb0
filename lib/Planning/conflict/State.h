//===- State.h - what is placed, and what can still be -------------------===//
//
// A state holds the lower bound of each buffer; for each section the room h =
// capacity − sizes still to be placed, the count of candidates (unplaced, lower
// bound ≤ h; the lowest of a section is one of them), the lowest top among these,
// and how many unplaced buffers cross from the section before. Copied whole from
// depth to depth.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_STATE_H
#define ZERO_LIB_PLANNING_CONFLICT_STATE_H

#include "Kernel.h"
#include "Lanes.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

using Context = arena::Context<Lane>;

/// Groups of the most items that a search takes.
inline constexpr int kMaxGroups = 2048 / kLanes;

struct State {
  Lane *lowest;          // by item
  Lane *room;            // by section
  Lane *candidates;      // by section
  Lane *lowestTop;       // by section, of the candidates
  Lane *crossing;        // by section
  uint32_t *notLowest;   // a bit an item
  uint32_t *behindATwin; // a bit an item; the twin before it is not placed

  /// Unplaced buffers that the tree does not branch on are closed.
  uint32_t closed(int group) const { return notLowest[group] | behindATwin[group]; }
};

inline State stateAt(const Context &c, Lane *lanes) {
  State s;
  s.lowest = lanes;
  s.room = s.lowest + int64_t(c.groups) * kLanes;
  s.candidates = s.room + c.sectionLanes;
  s.lowestTop = s.candidates + c.sectionLanes;
  s.crossing = s.lowestTop + c.sectionLanes;
  s.notLowest = reinterpret_cast<uint32_t *>(s.crossing + c.sectionLanes);
  s.behindATwin = s.notLowest + c.groups;
  return s;
}
inline State stateOfDepth(const Context &c, int64_t depth) {
  return stateAt(c, c.states + depth * c.stateLanes);
}
inline void copy(const Context &c, const State &from, const State &to) {
  memcpy(to.lowest, from.lowest, c.stateLanes * sizeof(Lane));
}

inline V lowestOf(const State &s, int group) { return load(s.lowest + group * kLanes); }
inline V topOf(const Context &c, const State &s, int group) {
  return add(lowestOf(s, group), load(c.size + group * kLanes));
}
inline bool isEmpty(const Context &c, const State &s, int section) {
  return s.room[section] == c.capacity;
}

inline V inSection(const Context &c, int group, Lane section) {
  return (load(c.first + group * kLanes) <= splat(section)) &
         (load(c.last + group * kLanes) > splat(section));
}
inline V overlapping(const Context &c, int group, Lane first, Lane last) {
  return (load(c.first + group * kLanes) < splat(last)) &
         (load(c.last + group * kLanes) > splat(first));
}
inline V startsIn(const Context &c, int group, Lane begin, Lane end) {
  V first = load(c.first + group * kLanes);
  return (first >= splat(begin)) & (first < splat(end));
}
/// A placed buffer lies above any room.
inline V candidatesIn(const Context &c, const State &s, int group, Lane section) {
  return inSection(c, group, section) & (lowestOf(s, group) <= splat(s.room[section]));
}

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_STATE_H
