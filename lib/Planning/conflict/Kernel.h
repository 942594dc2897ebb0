//===- Kernel.h - what the driver and the kernels share ------------------===//
//
// A kernel is compiled once per instruction set and width of a lane, each time in a
// namespace of its own: Lanes.h, State.h, Propagation, Choice, FailedStates.h,
// Tree.cpp and BeamStates.cpp. The driver knows it by this table. Plain data with raw pointers,
// as a kernel must not instantiate library templates, which the linker would merge
// across instruction sets.
//
// Items stand in groups of as many lanes as a 64-byte vector holds; a section,
// and an item's conflict set, keep the list of groups that have members in them.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_KERNEL_H
#define ZERO_LIB_PLANNING_CONFLICT_KERNEL_H

#include <cstdint>

namespace zero::planning::arena {

/// How the buffer to branch on is found.
enum class Rule : uint8_t {
  BottomUp,        ///< among those that lie below every other's top
  FewestCandidates ///< in the section with the fewest that can be its lowest
};

/// Which of several goes first; ties go by rank.
enum class First : uint8_t { Rank, LowestBottom, LowestTop };

enum class RunResult : uint8_t { Failed, Packed, OutOfNodes };

struct FailedState {
  uint64_t low, high; ///< both zero: the slot is free
};

/// Which section a beam's state branches on.
enum class BeamRule : uint8_t {
  LowestFloor,     ///< where the lowest unplaced buffer lies lowest
  FewestCandidates ///< where the fewest can be the lowest
};

/// What a beam may go on with: `item` placed in a parent.
struct Child {
  double waste;       ///< the lower, the better the rest fits
  uint64_t low, high; ///< equal for equal states
  int32_t parent, item;
};

template <typename Lane> struct Context {
  // The problem: one entry a lane, padded to whole groups.
  int32_t groups, sections, sectionLanes;
  Lane capacity;
  const Lane *first, *last, *size, *highest, *alignmentMask;
  const int32_t *sectionGroupsBegin; // CSR, sections + 1
  const uint16_t *sectionGroups;
  const int32_t *itemGroupsBegin; // CSR, items + 1
  const uint16_t *itemGroups;
  const int32_t *nextTwin; // the next of equal buffers, or −1

  // One restart.
  const Lane *rank;
  const int32_t *byRank;
  const int32_t *inverseWeight; // of sections
  Rule rule;
  First firstBy;
  bool weighted; // sections by candidates ÷ weight rather than by candidates
  int64_t nodes, nodeLimit;

  // Scratch and results.
  Lane *states; // one a depth, `stateLanes` each
  int64_t stateLanes;
  int32_t *weight; // failures of a section
  Lane *offset;
  uint64_t *dirty; // sections to look at again
  FailedState *trail;
  int64_t trailSize, trailCapacity;
  int32_t *ranges; // pairs; independent parts still to be searched
  int64_t rangeCount;
  FailedState *table;
  uint64_t tableMask;
  int64_t tableCount, tableLimit;
};

template <typename Lane> struct Kernel {
  /// Fills the state of depth 0 from its lower bounds; false if that is a contradiction.
  bool (*start)(Context<Lane> &);
  /// One restart from there.
  RunResult (*search)(Context<Lane> &);
  /// Children of a state, at most one an item; −1 where nothing is left to be placed.
  int32_t (*expand)(Context<Lane> &, Lane *state, BeamRule, double margin, Child *);
  /// Places the item in the state; the child of `expand` again.
  void (*advance)(Context<Lane> &, Lane *state, int32_t item);
};

/// Lanes of a state: lower bounds, then four rows by section, then two bit sets.
template <typename Lane> int64_t stateLanes(int64_t groups, int64_t sectionLanes) {
  constexpr int64_t kLanes = 64 / sizeof(Lane);
  int64_t bitLanes = (groups * 2 * 4 + 63) / 64 * kLanes;
  return groups * kLanes + 4 * sectionLanes + bitLanes;
}

#define ZERO_ARENA_KERNELS(isa)                                                                    \
  namespace isa##_16 {                                                                             \
    extern const Kernel<int16_t> kernel;                                                           \
  }                                                                                                \
  namespace isa##_32 {                                                                             \
    extern const Kernel<int32_t> kernel;                                                           \
  }                                                                                                \
  namespace isa##_64 {                                                                             \
    extern const Kernel<int64_t> kernel;                                                           \
  }
ZERO_ARENA_KERNELS(baseline)
ZERO_ARENA_KERNELS(avx2)
ZERO_ARENA_KERNELS(avx512)
#undef ZERO_ARENA_KERNELS

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_KERNEL_H
