//===- Policies.cpp - what to compute again, asked of the planners ---------===//

#include "zero/Passes/Recompute.h"
#include "zero/Planning/MinCut.h"

namespace zero {

namespace {

/// Moves of the search: few seconds at most, as it is asked several times for one budget.
constexpr int64_t kMoveWork = 60'000'000, kFewestMoves = 20'000, kMostMoves = 200000;

/// Launches of `again` run before the first launch of backward that reads them, or that reads what
/// one of them is needed for.
class LatePlacement {
public:
  LatePlacement(const JointGraph &graph, std::vector<bool> again)
      : graph(graph), again(std::move(again)) {}

  Sequence run() {
    for (int64_t i = 0; i < static_cast<int64_t>(graph.launches.size()); ++i) {
      if (i > graph.firstBackward)
        placeInputs(i);
      sequence.push_back(i);
    }
    return sequence;
  }

private:
  /// Depth first, inputs before what reads them.
  void placeInputs(int64_t reader) {
    std::vector<int64_t> stack(1, reader);
    while (!stack.empty()) {
      int64_t top = stack.back();
      bool isReady = true;
      for (int64_t input : graph.launches[top].inputs)
        if (again[input]) {
          stack.push_back(input);
          isReady = false;
        }
      if (!isReady)
        continue;
      stack.pop_back();
      if (top != reader && again[top]) {
        again[top] = false;
        sequence.push_back(top);
      }
    }
  }

  const JointGraph &graph;
  std::vector<bool> again;
  Sequence sequence;
};

/// Takes out each repetition, the costliest first, without which the sequence stays within the
/// budget: the search may leave some where it was glad to fit at all.
/// O(repetitions · computations · inputs).
Sequence withoutNeedless(const JointGraph &graph, const CheckpointProblem &asked,
                         int64_t budgetBytes, Sequence sequence) {
  std::vector<std::pair<int64_t, size_t>> repetitions; // −cost, place
  std::vector<bool> met(graph.launches.size()), taken(sequence.size());
  for (size_t at = 0; at < sequence.size(); ++at)
    if (met[sequence[at]])
      repetitions.push_back({-graph.launches[sequence[at]].cost, at});
    else
      met[sequence[at]] = true;
  llvm::sort(repetitions);
  Sequence least = sequence;
  for (auto [cost, place] : repetitions) {
    taken[place] = true;
    Sequence shorter;
    for (size_t at = 0; at < sequence.size(); ++at)
      if (!taken[at])
        shorter.push_back(sequence[at]);
    if (asked.peakBytes(shorter) <= budgetBytes)
      least = std::move(shorter);
    else
      taken[place] = false;
  }
  return least;
}

} // namespace

std::vector<bool> repeatsOfCheap(const JointGraph &graph) {
  namespace cp = planning::checkpoint;
  size_t count = graph.launches.size(), first = static_cast<size_t>(graph.firstBackward);
  cp::Problem problem = graph.problem(cp::kMaxTotal);
  std::vector<bool> mayRepeat(count), saved(count), again(count);
  if (first >= count || cp::check(problem))
    return again;
  problem.nodes[first].backward = false; // what it reads is there for forward's sake
  for (size_t i = 0; i < first; ++i)
    mayRepeat[i] = graph.launches[i].isCheap && graph.launches[i].isRepeatable;
  for (int64_t node : cp::leastSaved(problem, mayRepeat).nodes)
    saved[node] = true;
  for (size_t i = count; i-- > 0;)
    if (i > first || again[i])
      for (int64_t input : graph.launches[i].inputs)
        again[input] = again[input] || (mayRepeat[input] && !saved[input]);
  return again;
}

Sequence placeLate(const JointGraph &graph, std::vector<bool> repeats) {
  return LatePlacement(graph, std::move(repeats)).run();
}

std::optional<Sequence> recomputeWithin(const JointGraph &graph, const CheckpointProblem &asked,
                                        int64_t budgetBytes) {
  namespace cp = planning::checkpoint;
  cp::Problem problem = asked.problem;
  problem.budgetBytes = budgetBytes - asked.fixedBytes;
  if (cp::check(problem))
    return std::nullopt;
  cp::Options options; // how good a plan is, no one reads
  options.moves = std::clamp<int64_t>(kMoveWork / problem.nodes.size(), kFewestMoves, kMostMoves);
  options.branches = 0;
  options.reachSteps = 100'000;
  cp::Plan plan = cp::plan(problem, options);
  if (plan.computations.empty() || cp::verify(problem, plan))
    return std::nullopt;
  Sequence sequence = asked.launchesOf(plan.computations);
  std::vector<bool> met(graph.launches.size());
  for (int64_t number : sequence) {
    if (met[number] && (number >= graph.firstBackward || !graph.launches[number].isRepeatable))
      return std::nullopt;
    met[number] = true;
  }
  return withoutNeedless(graph, asked, budgetBytes, std::move(sequence));
}

} // namespace zero
