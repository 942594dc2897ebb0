//===- CheckpointChain.h - chains are planned exactly -----------------------===//
//
// A chain: forward nodes, each from the one before; then steps, each from the last
// gradient and up to two forward values, which only ever go back. So is a network
// without branches, whether its backward reads a stage's input, its output or both.
//
// A plan holds forward values as heads. Under a head k it goes forward to some i,
// keeps value i as the next head, does what needs i and later values, and comes back
// to k, with or without value i, for the rest:
//
//   cost(k, u) = min over i of forward(k → i) + cost(i, u) + cost(k, u′)
//
// with u′ the first step that needs a value before i. This is the recursion for
// persistent schedules of Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova
// ("Optimal checkpointing for heterogeneous chains: how to train deep neural networks
// with limited memory", 2019, theorem 1) under the memory model of Checkpoint.h. A
// value that is held stays until its last use, and no gradient is computed twice.
//
// In place of a table over bytes in slots each state has the curve of its peaks and
// costs, with every corner: exact, and for all budgets at once. Curves of more corners
// than a limit are thinned, and all that is left are plans still.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTCHAIN_H
#define ZERO_LIB_PLANNING_CHECKPOINTCHAIN_H

#include "CheckpointAnneal.h"

#include <optional>

namespace zero::planning::checkpoint {

/// Nodes 0 … forwards − 1 read the node before alone; the others are the steps.
struct Chain {
  struct Step {
    int32_t node = -1;           ///< -1 for the one before all others: the end of forward
    int32_t low = -1, high = -1; ///< forward values read, the same where it is one; -1 for none
    int64_t gradientBytes = 0;   ///< live before the step, and while it runs
  };
  int32_t forwards = 0;
  std::vector<Step> steps;
};

/// `graph` as a chain, or nothing. O(nodes + inputs).
std::optional<Chain> chainOf(const Graph &graph);

/// The cheapest persistent plans of a chain.
class ChainCurve {
public:
  /// A corner: this cost needs this peak, in units of the graph.
  struct Point {
    int64_t peak, cost;
    int32_t head;   ///< the next head; kRun or kTail for another way to go on
    bool keepsNext; ///< the next head's value stays for the step that reads it as its `high`
  };

  /// Curves up to the graph's budget, of at most `corners` corners, and of plans that cost less
  /// than `knownCost`. O(forwards² · steps) merges of curves.
  ChainCurve(const Graph &graph, const Chain &chain, int64_t corners, int64_t knownCost);

  /// By rising peak and falling cost; empty where no persistent plan fits.
  const std::vector<Point> &points() const { return at({-1, 0, false, false}); }
  /// The cheapest plan whose peak is at most `budget` units; empty where there is none.
  Found within(int64_t budget) const;

private:
  using Curve = std::vector<Point>;
  static constexpr int32_t kRun = -2, kTail = -3;
  struct State {
    int32_t head, step;
    bool tail;  ///< what the next step with inputs reads as its `high` is live already
    bool keeps; ///< the head's value is needed behind the state, too
  };

  struct Growing {
    Curve curve;
    int64_t mostCost; ///< more would make any plan as dear as the known one
  };

  size_t index(const State &state) const;
  const Curve &at(const State &state) const { return curves[index(state)]; }
  int64_t bytes(int32_t forward) const { return forward < 0 ? 0 : graph.bytes[forward]; }
  int64_t forwardCost(int32_t head, int32_t to) const { return costs[to + 1] - costs[head + 1]; }
  int64_t heldAround(const State &state, int32_t next) const;
  int64_t liveBytes(const State &state) const;
  State behind(const State &state, int32_t next, bool keepsNext) const;
  bool canKeep(int32_t head, int32_t next) const;
  void solve(const State &state);
  void solveHeads(const State &state, Growing &growing);
  int64_t leastCost(const State &state) const;
  void join(Growing &growing, const Curve &first, int64_t held, const Curve &rest, Point point);
  void thin(Curve &curve) const;
  void write(State state, int64_t budget, std::vector<int32_t> &computations) const;

  const Graph &graph;
  const Chain &chain;
  int64_t corners;
  std::vector<int32_t> needing;  ///< by step: the first at or after it that needs a forward value
  std::vector<int32_t> ends;     ///< by head + 1: behind the last step that needs no earlier value
  std::vector<char> isReadAtEnd; ///< by head + 1: by the step before its end
  std::vector<int64_t> costs, stepCosts; ///< by forward and by step: of all before
  int64_t slack = 0;                     ///< what a plan may cost more than every node once
  std::vector<Curve> curves;
  Curve joined, merged; // what `join` works on
};

/// The cheapest persistent plan of `graph` within its budget, if it costs less than `knownCost`;
/// empty where none does, or the graph is no chain, or a longer one than the programme takes.
Found chainPlan(const Graph &graph, int64_t knownCost = kMaxTotal);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTCHAIN_H
