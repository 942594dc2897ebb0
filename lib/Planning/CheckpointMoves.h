//===- CheckpointMoves.h - small changes of a sequence ---------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTMOVES_H
#define ZERO_LIB_PLANNING_CHECKPOINTMOVES_H

#include "CheckpointSequence.h"

#include <limits>

namespace zero::planning::checkpoint {

/// splitmix64 (Steele, Lea, Flood, 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double unit() { return double(next() >> 11) * 0x1p-53; }
  int32_t below(int64_t bound) { return int32_t((next() >> 32) * uint64_t(bound) >> 32); }

private:
  uint64_t state;
};

/// Random changes of a sequence, which stays one: first occurrences keep their order.
template <typename Int> class Moves {
public:
  /// Of values that lie idle, those of little cost are preferred, beside `costBias`. With
  /// `keepsInputs`, inputs that are small beside what makes room stay live rather than be computed
  /// again.
  Moves(const Graph &graph, uint64_t seed, double costBias, bool keepsInputs)
      : random(seed), sequence(graph, graph.size < 4000 ? 4 : 2), graph(graph), costBias(costBias),
        keepsInputs(keepsInputs) {}

  /// Nodes of this cost or more are not computed again.
  void spare(int64_t cost) { sparedCost = cost; }
  /// One move, within what the journal of `sequence` can undo. False where it came to nothing, or
  /// to more than `mostCost` above that of computing each node once: then it is to be undone.
  bool step(double mostCost);
  /// Takes out of a sequence within the budget every recomputation that it fits without.
  void prune();
  /// From now on only values around one, by steps along inputs and readers, change.
  void enterNeighbourhood();
  void leaveNeighbourhood() { neighbourhood.clear(); }

  Random random;
  Sequence<Int> sequence;

private:
  struct Victim {
    int32_t node = -1, nextUse = 0;
  };
  int32_t firstUse(int32_t node, int32_t after) const;
  int32_t slotAbove(int32_t low, int32_t high);
  Victim victimAt(int32_t slot, int32_t wanted);
  bool isAffordable(int32_t node) const;
  bool keepsLive(int32_t input);
  bool recompute(int32_t node, int32_t before, int32_t depth);
  bool evictSomewhere();
  bool removeOne(int32_t slot);
  int32_t anyExtra();
  bool extendOne();
  bool shiftOne();

  const Graph &graph;
  double costBias;
  bool keepsInputs;
  int64_t sparedCost = std::numeric_limits<int64_t>::max();
  double room = 0; ///< bytes that inputs of this move's recomputations may take meanwhile
  double mostCost = std::numeric_limits<double>::infinity();
  std::vector<int32_t> neighbourhood; ///< the values that may change; empty: all
  std::vector<char> isNear;
  std::vector<int32_t> pending;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTMOVES_H
