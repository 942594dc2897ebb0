//===- CheckpointSequence.h - a plan that can be changed and taken back ---===//
//
// A plan is any sequence of computations whose first occurrences keep the given
// order: every input is then computed before its readers, and lifetimes follow
// from last uses. So a search needs no rule beyond "never remove a first
// occurrence", and only memory and cost change.
//
// Occurrences sit in a slot array with gaps, so that one can be put before
// another without moving the rest; the bytes live at each slot are a plain
// array, relative to the budget, and a lifetime that grows or shrinks is one
// vector loop over it that also keeps the total excess over the budget. Every
// change goes into a journal.
//
// All figures are integers: bytes in units of their greatest common divisor.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTSEQUENCE_H
#define ZERO_LIB_PLANNING_CHECKPOINTSEQUENCE_H

#include "zero/Planning/Checkpoint.h"

#include <span>

namespace zero::planning::checkpoint {

/// The problem with flat adjacency, and bytes divided by their greatest common divisor.
struct Graph {
  explicit Graph(const Problem &problem);

  std::span<const int32_t> inputs(int32_t node) const {
    return {inputList.data() + inputBegin[node], inputList.data() + inputBegin[node + 1]};
  }
  std::span<const int32_t> readers(int32_t node) const {
    return {readerList.data() + readerBegin[node], readerList.data() + readerBegin[node + 1]};
  }

  int32_t size = 0;
  std::vector<int64_t> cost, bytes;
  std::vector<int32_t> inputBegin, inputList, readerBegin, readerList;
  int64_t unit = 1;   ///< bytes in the problem for one here
  int64_t budget = 0; ///< rounded down to units: no peak lies between
  int64_t baseCost = 0, totalBytes = 0;
};

/// Adds `change` to each of `values`; returns by how much the sum of those above zero grew.
int64_t addAboveZero(int32_t *values, int64_t count, int32_t change);
int64_t addAboveZero(int64_t *values, int64_t count, int64_t change);
/// The index of the first of `values` above zero; `count` where there is none.
int64_t firstAboveZero(const int32_t *values, int64_t count);
int64_t firstAboveZero(const int64_t *values, int64_t count);

/// `Int` is int32_t where all bytes together fit in it, else int64_t.
template <typename Int> class Sequence {
public:
  struct Instance {
    int32_t slot, end; ///< the end is the slot of the last use, or its own
  };

  /// Every node once. `slotsPerNode` gaps and all.
  Sequence(const Graph &graph, int32_t slotsPerNode);

  /// Starts again from `computations`, evenly spread; empties the journal.
  void assign(const std::vector<int32_t> &computations);
  std::vector<int32_t> computations() const;

  /// A free slot right before `slot`, made by moving neighbours where there is none; -1 where the
  /// neighbourhood is full, and then `isCrowded` asks for a new `assign`.
  int32_t makeRoomBefore(int32_t slot);
  bool isCrowded() const { return crowded; }

  /// A further computation of `node` in a free slot after its first.
  void insert(int32_t node, int32_t slot);
  /// Takes out a computation that isn't its node's first.
  void remove(int32_t slot);

  /// Undoes everything since the journal had `mark` entries.
  void undo(size_t mark);
  size_t mark() const { return journal.size(); }
  void forget() { journal.clear(); }

  int32_t slots() const { return int32_t(nodeAt.size()); }
  int32_t at(int32_t slot) const { return nodeAt[slot]; } ///< a node, or -1
  bool isAbove(int32_t slot) const { return live[slot] > 0; }
  /// The first slot of [from, to) above the budget; `to` where there is none.
  int32_t firstAbove(int32_t from, int32_t to) const {
    return from < to ? from + int32_t(firstAboveZero(live.data() + from, to - from)) : to;
  }
  int64_t excess() const { return excessSum; }
  int64_t cost() const { return costSum; }
  const std::vector<Instance> &instances(int32_t node) const { return instancesOf[node]; }
  int32_t firstSlot(int32_t node) const { return firstSlots[node]; }
  /// The last of `node`'s instances before `slot`, as an index; -1 for none.
  int32_t before(int32_t node, int32_t slot) const {
    const std::vector<Instance> &list = instancesOf[node];
    int32_t k = int32_t(list.size()) - 1;
    while (k >= 0 && list[k].slot >= slot)
      --k;
    return k;
  }
  /// Slots that hold a computation other than its node's first.
  const std::vector<int32_t> &extras() const { return extraSlots; }
  bool isExtra(int32_t slot) const { return extraIndex[slot] >= 0; }

private:
  enum class Kind : uint8_t { Insert, Remove, MoveLeft };
  struct Entry {
    Kind kind;
    int32_t node, slot;
  };
  void add(int32_t from, int32_t to, int64_t change) { // slots [from, to]
    if (from <= to)
      excessSum += addAboveZero(live.data() + from, to - from + 1, Int(change));
  }
  int32_t lastUse(int32_t node, int32_t slot, int32_t next) const;
  void insertAt(int32_t node, int32_t slot);
  void removeAt(int32_t slot);
  /// Moves the occupant of `slot` one to the left or right, into a free slot.
  void moveLeft(int32_t slot);
  void moveRight(int32_t slot);
  void place(int32_t node, int32_t from, int32_t to);

  const Graph &graph;
  std::vector<Int> live; ///< bytes live at a slot, less the budget
  std::vector<int32_t> nodeAt, extraIndex, extraSlots;
  std::vector<int32_t> firstSlots; ///< those of `instancesOf`: most questions end there
  std::vector<std::vector<Instance>> instancesOf;
  std::vector<Entry> journal;
  int64_t excessSum = 0, costSum = 0;
  bool crowded = false;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTSEQUENCE_H
