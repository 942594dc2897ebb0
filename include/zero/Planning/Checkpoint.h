//===- Checkpoint.h - what is kept for backward, and what is computed again ===//
//
// Checkpoint placement: nodes are computed in a fixed topological order, and any
// may be computed again later from inputs that are live then, so that its value
// need not be kept in between. The planner finds the cheapest sequence of
// computations whose peak stays within a budget.
//
//   a 1 byte, b 4 bytes from a, c 1 byte from b, d 1 byte from a and c:
//   a b c d      peak 6 at c (a, b and c are live), every value computed once
//
// The model is that of Checkmate (Jain et al., "Checkmate: Breaking the Memory
// Wall with Optimal Tensor Rematerialization", MLSys 2020) and Moccasin (Bartan et
// al., 2023): the value of an instance is live from its computation to its last
// use before the next instance of the same node; while a node runs its inputs and
// its output are live. The peak is the most bytes live at once. The floor, the
// largest inputs and output of one node, bounds every budget from below.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_CHECKPOINT_H
#define ZERO_PLANNING_CHECKPOINT_H

#include "zero/Planning/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::checkpoint {

/// Sums of costs, and of bytes, of all nodes together are refused beyond this.
inline constexpr int64_t kMaxTotal = int64_t(1) << 60;

struct Node {
  int64_t id = 0;                   ///< unique; names the node in files and messages
  int64_t cost = 0;                 ///< of one computation, at least 0, in any unit
  int64_t bytes = 0;                ///< of its value, at least 0
  bool backward = false;            ///< told apart in reports; the model does not care
  std::vector<int64_t> inputs = {}; ///< indices of earlier nodes, each once
};

struct Problem {
  std::vector<Node> nodes = {}; ///< in their order of computation
  int64_t budgetBytes = kMaxTotal;
};

using planning::name;
using planning::Status;

struct Plan {
  /// Indices of nodes in the order of their computations: each node at least once, first
  /// computations in the order of the problem. Empty where no plan was found.
  std::vector<int64_t> computations;
  int64_t cost = 0; ///< of all computations
  int64_t peakBytes = 0;
  int64_t lowerBoundCost = 0; ///< no plan within the budget is cheaper
  Status status = Status::Unknown;
  /// The node whose inputs and output alone exceed the budget; -1 where there is none.
  int64_t floorNode = -1;
};

/// How long to look; counted in moves, branches and steps and never in seconds, so that the same
/// problem gets the same plan on every machine. The search ends before where it finds nothing more.
struct Options {
  int64_t moves = 3'000'000; ///< of each annealing
  /// Branches of the search that raises the lower bound.
  int64_t branches = 20'000;
  /// Steps of the search that proves that no plan exists, or finds one where annealing does not.
  int64_t reachSteps = 2'000'000;
};

/// What is wrong with `problem`, or nothing: duplicate ids, negative costs or bytes, inputs that do
/// not come before their reader or are named twice, sums beyond kMaxTotal. O(nodes + inputs).
std::optional<std::string> check(const Problem &problem);

/// Cost and peak of computing every node once.
int64_t baseCost(const Problem &problem);
int64_t basePeakBytes(const Problem &problem);

/// The largest inputs and output of one node, and which: the first of several.
struct Floor {
  int64_t bytes = 0, node = -1;
};
Floor floorOf(const Problem &problem);

/// Within the budget as cheap as the search gets; `computations` is empty where none was found.
/// Needs a problem that `check` accepts. Deterministic.
Plan plan(const Problem &problem, const Options &options = {});

/// A plan for each of `budgets`, in their order, `problem`'s own left aside. Of two budgets the larger
/// one's plan never costs more, whatever the search finds: a plan for less memory is one for more.
/// Nor is its lower bound higher.
std::vector<Plan> planOver(const Problem &problem, const std::vector<int64_t> &budgets,
                           const Options &options = {});

/// What is wrong with `plan`, or nothing. Recomputes everything from its arguments, without a line
/// of the planner: that every computation finds its inputs, order, cost, peak, budget, status.
/// Whether a claimed bound is one it cannot tell: an optimal plan whose bound is its cost is
/// accepted, and a bound above the cost refused. O(computations · inputs).
std::optional<std::string> verify(const Problem &problem, const Plan &plan);

/// The bytes live while each computation runs, by the rules above; what `verify` takes the maximum
/// of. The sequence must find its inputs.
std::vector<int64_t> liveBytes(const Problem &problem, const std::vector<int64_t> &computations);

} // namespace zero::planning::checkpoint

#endif // ZERO_PLANNING_CHECKPOINT_H
