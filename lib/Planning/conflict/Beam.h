//===- Beam.h - the best states of one depth, and of the next ------------===//
//
// From all states of one depth to the best of the next, those that have lost the
// fewest bytes for what is still to be placed; equal ones are merged. A beam
// looks at all sections at once where an order does not; it finds packings and
// proves nothing.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_BEAM_H
#define ZERO_LIB_PLANNING_CONFLICT_BEAM_H

#include "SearchTables.h"

namespace zero::planning::arena {

template <typename Lane> class Beam {
public:
  explicit Beam(SearchTables<Lane> &tables) : tables(tables) {}

  struct Shape {
    int64_t width = 8; ///< states of a depth
    BeamRule rule = BeamRule::LowestFloor;
    double margin = 0; ///< units, above zero; the lower, the more a full section counts
  };

  /// From the root's state, in the tables after `start`.
  void begin(const Shape &shape);

  /// One depth on; true where a state has placed all, and the context has its offsets.
  bool step();

  /// Nothing is left to go on with.
  bool isOver() const { return levelCount == 0; }
  int64_t nodesSpent() const { return spent; }

private:
  bool expandAll();
  void keepBest();
  void adopt();

  struct Step {
    int32_t parent, item;
    Lane offset;
  };

  SearchTables<Lane> &tables;
  Shape shape;
  Aligned<Lane> level{0}, nextLevel{0};
  int64_t levelCount = 0, levelCapacity = 0; // states
  std::vector<std::vector<Step>> history;    // how each state of each depth came about
  std::vector<Child> children;
  int64_t spent = 0;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_BEAM_H
