//===- CheckpointTight.cpp - plans just above what is infeasible ------------===//
#include "CheckpointTight.h"

#include "CheckpointMend.h"
#include "CheckpointReach.h"

#include <algorithm>

namespace zero::planning::checkpoint {
namespace {

/// Mending takes a time that grows with the square of the nodes.
constexpr int32_t kLargest = 1'500;
constexpr int64_t kMendedMoves = 1'000'000, kMovesOfStep = 100'000;
/// Looser budgets, by these parts of the budget, and how many steps go down from there.
constexpr int64_t kLooser[] = {40, 20, 10};
constexpr int32_t kFirstSteps = 4, kMostSteps = 16;

Found cooled(const Graph &graph, const std::vector<int32_t> &start, AnnealOptions options,
             int64_t moves) {
  options.moves = std::min(options.moves, moves);
  options.mends = graph.size <= kLargest;
  return anneal(graph, start, options);
}

} // namespace

Found fromLooserBudget(const Graph &graph, const std::vector<int32_t> &start,
                       const AnnealOptions &options, int64_t reachSteps) {
  Graph here = graph;
  Found found;
  for (int64_t part : kLooser) {
    here.budget = std::min(graph.budget + graph.budget / part, graph.totalBytes);
    found = cooled(here, start, options, kMendedMoves);
    if (found.computations.empty())
      if (Reach reached = reach(here, reachSteps); reached.status == Status::Feasible)
        found = cooled(here, reached.computations, options, kMendedMoves);
    if (!found.computations.empty())
      break;
  }
  int64_t step = (here.budget - graph.budget + kFirstSteps - 1) / kFirstSteps;
  Graph next = graph;
  for (int32_t count = 0; !found.computations.empty() && here.budget > graph.budget; ++count) {
    next.budget = std::max(graph.budget, here.budget - step);
    if (count == kMostSteps)
      return {};
    std::vector<int32_t> mended = mend(next, found.computations);
    if (!mended.empty()) {
      here.budget = next.budget;
      step *= 2;
    } else {
      step = std::max<int64_t>(step / 2, 1);
    }
    AnnealOptions other = options;
    other.seed += uint64_t(count); // where a step failed, another sequence may fit
    found = cooled(here, mended.empty() ? found.computations : mended, other, kMovesOfStep);
  }
  return found;
}

Tight tightPlan(const Graph &graph, const std::vector<int32_t> &start, const AnnealOptions &options,
                int64_t reachSteps) {
  bool mends = graph.size <= kLargest;
  Tight tight;
  if (mends)
    tight.found = cooled(graph, start, options, kMendedMoves);
  if (tight.found.computations.empty()) {
    Reach reached = reach(graph, reachSteps);
    if (reached.status == Status::Infeasible)
      return {{}, true};
    if (reached.status == Status::Feasible)
      tight.found = cooled(graph, reached.computations, options, kMendedMoves);
    else if (mends && options.moves >= kMendedMoves)
      tight.found = fromLooserBudget(graph, start, options, reachSteps);
  }
  if (mends && !tight.found.computations.empty()) {
    AnnealOptions further = options;
    further.startIsGood = true;
    tight.found = anneal(graph, tight.found.computations, further);
  }
  return tight;
}

} // namespace zero::planning::checkpoint
