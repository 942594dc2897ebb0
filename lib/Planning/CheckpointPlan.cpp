//===- CheckpointPlan.cpp - from a budget to a plan ------------------------===//
//
// Small problems are solved exactly. For others the covering programme gives a lower
// bound and a place to begin, annealing the plan; chains have an exact programme of
// their own, and the better of the two plans wins. Where none is found, the budget is
// tight: searches for those follow, and may prove that there is none.
//
// Cost must not rise with the budget. A plan for less memory is a plan for more, so
// next to the budget itself a few rungs below it are looked at: fixed budgets, the
// same for all. Rungs whose lower bound is no less than the cost in hand cannot do
// better, nor can those below them. Over several budgets at once each plan is held
// against that of the budget before, which leaves nothing to chance.
//
//===----------------------------------------------------------------------===//
#include "CheckpointAnneal.h"
#include "CheckpointBound.h"
#include "CheckpointChain.h"
#include "CheckpointExact.h"
#include "CheckpointPeriods.h"
#include "CheckpointTight.h"

#include <algorithm>
#include <numeric>

namespace zero::planning::checkpoint {
namespace {

using Wide = __int128;
constexpr int32_t kRungs = 20;
/// How many rungs below are looked at, and in graphs whose searches are short.
constexpr size_t kRungsBelow = 1, kRungsBelowSmall = 3, kSmall = 128;
/// Rungs seldom win, so they get this part of the moves.
constexpr int64_t kPartForRungs = 8;

/// Graphs of this many nodes on share out the moves, look at no rung, and branch little, for
/// their linear programmes take long.
constexpr int64_t kLarge = 400;
constexpr int64_t kMoveWork = 500'000'000'000, kFewestMoves = 2'000, kNodeMoves = 500'000'000;
/// Periodic problems of more nodes than kDirect are solved for about kShortNodes nodes.
constexpr int64_t kDirect = 1'500, kShortNodes = 400, kFewestBlocks = 6, kMovesForPart = 80'000;
constexpr int64_t kBranchesOfLarge = 20, kBoundWorkOfLarge = 300'000'000;
constexpr int32_t kSharings = 6;
/// Where so many moves find no plan, the budget is tight.
constexpr int64_t kPatienceForFirst = 300'000;

struct Outcome {
  Found found;
  int64_t bound = 0;
  bool infeasible = false;
  bool isStretched = false; ///< from equal blocks solved once
};

std::vector<int32_t> everyNodeOnce(const Graph &graph) {
  std::vector<int32_t> order(graph.size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Outcome solve(const Problem &problem, const Options &options,
              const std::optional<Bound> &known = {});

/// Of large graphs the first few branches raise the bound, and the others take long.
Bound boundOf(const Graph &graph, const Options &options, int64_t knownCost = kMaxTotal) {
  int64_t branches =
      graph.size >= kLarge ? std::min(options.branches, kBranchesOfLarge) : options.branches;
  return coveringBound(graph, branches, knownCost,
                       graph.size >= kLarge ? kBoundWorkOfLarge : kUsualBoundWork);
}

void keepCheaper(Found &found, Found other) {
  if (other.cost < found.cost)
    found = std::move(other);
}

/// Moves over long lifetimes cost more: of the default moves so many that a usual machine needs a
/// few seconds at most, and of more a like share.
int64_t movesFor(const Graph &graph, const Options &options) {
  int64_t size = graph.size, usual = Options().moves;
  int64_t most = kMoveWork / (size * size);
  if (size >= kLarge)
    most = std::min(most, kNodeMoves / size);
  most = std::max(most, kFewestMoves);
  if (options.moves > usual)
    most = int64_t(Wide(std::min(most, usual)) * options.moves / usual);
  return std::min(options.moves, most);
}

/// A sequence from equal blocks solved once, as a start; empty where the problem has none. Budgets
/// are shared out by block, and tightened until the whole fits.
std::vector<int32_t> fromPeriods(const Problem &problem, const Options &options) {
  std::optional<Periods> periods = periodsOf(problem);
  if (!periods)
    return {};
  int64_t kept = kShortNodes / (periods->forward + periods->backward);
  kept = std::max<int64_t>(kept, kFewestBlocks);
  if (kept >= periods->blocks)
    return {};
  std::optional<Problem> part = shortened(problem, *periods, kept);
  if (!part)
    return {};
  int64_t blocks = periods->blocks, removed = blocks - kept;
  int64_t peak = basePeakBytes(problem), partPeak = basePeakBytes(*part);
  int64_t perBlock = (peak - partPeak) / removed;
  int64_t outside = peak - blocks * perBlock;
  part->budgetBytes = outside + int64_t(Wide(problem.budgetBytes - outside) * kept / blocks);
  Options quick = options;
  quick.moves = std::min(options.moves, kMovesForPart);
  // Bytes that only one block at a time takes don't grow with the blocks, and what does is known
  // once a plan is stretched: what the whole leaves or lacks is shared out, and the part planned
  // again, between the budgets that proved too loose and too tight.
  std::vector<int32_t> best;
  int64_t bestOver = kMaxTotal, bestCost = kMaxTotal;
  int64_t loose = 0, overOfLoose = 0, tight = 0, overOfTight = 0; // 0: none yet
  for (int32_t tries = 0; tries < kSharings && part->budgetBytes > 0; ++tries) {
    Outcome outcome = solve(*part, quick);
    int64_t over = -problem.budgetBytes, cost = 0; // no plan at all: too tight
    if (!outcome.found.computations.empty()) {
      std::vector<int32_t> whole = stretched(problem, *periods, kept, outcome.found.computations);
      std::vector<int64_t> live = liveBytes(problem, {whole.begin(), whole.end()});
      over += *std::max_element(live.begin(), live.end());
      for (int32_t node : whole)
        cost += problem.nodes[node].cost;
      bool better = over <= 0 ? bestOver > 0 || cost < bestCost : over < bestOver;
      if (better) {
        bestOver = over;
        bestCost = cost;
        best = std::move(whole);
      }
    }
    if (over <= 0 && -over <= problem.budgetBytes / 400)
      break;
    (over > 0 ? loose : tight) = part->budgetBytes;
    (over > 0 ? overOfLoose : overOfTight) = over;
    if (loose && tight) {
      Wide width = loose - tight;
      Wide step = width * -overOfTight / (overOfLoose - overOfTight);
      part->budgetBytes = tight + int64_t(std::clamp(step, width / 6, width - width / 6));
    } else {
      int64_t share = int64_t(Wide(over) * kept / blocks);
      part->budgetBytes -= share + (over > 0 ? part->budgetBytes / 1000 + 1 : 0);
    }
  }
  return best;
}

Outcome solve(const Problem &problem, const Options &options, const std::optional<Bound> &known) {
  Graph graph(problem);
  Outcome outcome;
  outcome.bound = graph.baseCost;
  if (graph.size <= kMostExact) {
    outcome.found = exact(graph);
    outcome.infeasible = outcome.found.computations.empty();
    outcome.bound = outcome.infeasible ? graph.baseCost : outcome.found.cost;
    return outcome;
  }
  Bound bound = known ? *known : boundOf(graph, options);
  outcome.bound = bound.cost;
  if (bound.infeasible) {
    outcome.infeasible = true;
    return outcome;
  }
  AnnealOptions anneals;
  anneals.moves = movesFor(graph, options);
  anneals.stopAtCost = bound.cost;
  anneals.startIsGood = bound.found;
  if (graph.size > kDirect)
    if (std::vector<int32_t> start = fromPeriods(problem, options); !start.empty()) {
      anneals.startIsGood = true;
      outcome.found = anneal(graph, start, anneals);
      outcome.isStretched = !outcome.found.computations.empty();
      if (outcome.isStretched)
        return outcome;
    }
  std::vector<int32_t> start =
      bound.found ? sequenceOf(graph, bound.evicted) : everyNodeOnce(graph);
  if (graph.size < kLarge)
    anneals.patienceForFirst = kPatienceForFirst;
  outcome.found = anneal(graph, start, anneals);
  if (outcome.found.cost > bound.cost)
    keepCheaper(outcome.found, chainPlan(graph, outcome.found.cost));
  if (!outcome.found.computations.empty())
    return outcome;
  Tight tight = tightPlan(graph, start, anneals, options.reachSteps);
  outcome.found = std::move(tight.found);
  outcome.infeasible = tight.infeasible;
  return outcome;
}

/// Twentieths of the base peak, and of the way to it from the floor; those below the budget, the
/// highest first.
std::vector<int64_t> rungsBelow(const Problem &problem, int64_t floor) {
  int64_t peak = basePeakBytes(problem);
  std::vector<int64_t> rungs;
  for (int32_t k = 0; k < kRungs; ++k) {
    auto part = [k](int64_t bytes, int32_t parts) {
      return bytes / parts * k + bytes % parts * k / parts;
    };
    rungs.push_back(part(peak, kRungs));
    rungs.push_back(floor + part(peak - floor, kRungs));
    rungs.push_back(floor + part(peak - floor, kRungs - 1));
  }
  std::erase_if(rungs, [&](int64_t rung) { return rung < floor || rung >= problem.budgetBytes; });
  std::sort(rungs.begin(), rungs.end(), std::greater<>());
  rungs.erase(std::unique(rungs.begin(), rungs.end()), rungs.end());
  size_t size = problem.nodes.size();
  size_t most = size <= kSmall ? kRungsBelowSmall : int64_t(size) < kLarge ? kRungsBelow : 0;
  rungs.resize(std::min(rungs.size(), most));
  return rungs;
}

Plan planAt(const Problem &problem, const Options &options, bool looksBelow) {
  Plan result;
  Floor floor = floorOf(problem);
  result.lowerBoundCost = baseCost(problem);
  if (problem.budgetBytes < floor.bytes) {
    result.status = Status::Infeasible;
    result.floorNode = floor.node;
    return result;
  }
  Outcome outcome;
  if (basePeakBytes(problem) <= problem.budgetBytes) {
    outcome.found = {everyNodeOnce(Graph(problem)), baseCost(problem)};
    outcome.bound = outcome.found.cost;
  } else {
    outcome = solve(problem, options);
    Problem tighter = problem;
    Options quick = options;
    quick.moves = std::max<int64_t>(options.moves / kPartForRungs, 1);
    if (looksBelow && !outcome.infeasible && !outcome.isStretched)
      for (int64_t rung : rungsBelow(problem, floor.bytes)) {
        if (outcome.found.cost <= outcome.bound)
          break;
        tighter.budgetBytes = rung;
        Graph graph(tighter);
        Bound bound = boundOf(graph, options, outcome.found.cost);
        if (bound.cost >= outcome.found.cost)
          break;
        Outcome lower = solve(tighter, quick, bound);
        if (lower.infeasible)
          break;
        keepCheaper(outcome.found, std::move(lower.found));
      }
  }
  result.lowerBoundCost = outcome.bound;
  if (outcome.found.computations.empty()) {
    result.status = outcome.infeasible ? Status::Infeasible : Status::Unknown;
    return result;
  }
  result.computations.assign(outcome.found.computations.begin(), outcome.found.computations.end());
  result.cost = outcome.found.cost;
  std::vector<int64_t> live = liveBytes(problem, result.computations);
  result.peakBytes = *std::max_element(live.begin(), live.end());
  result.status = result.cost == result.lowerBoundCost ? Status::Optimal : Status::Feasible;
  return result;
}

} // namespace

Plan plan(const Problem &problem, const Options &options) { return planAt(problem, options, true); }

std::vector<Plan> planOver(const Problem &problem, const std::vector<int64_t> &budgets,
                           const Options &options) {
  std::vector<size_t> order(budgets.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return budgets[a] != budgets[b] ? budgets[a] < budgets[b] : a < b;
  });
  std::vector<Plan> plans(budgets.size());
  Problem here = problem;
  const Plan *before = nullptr; // the last that was found, and the cheapest
  for (size_t k : order) {
    here.budgetBytes = budgets[k];
    plans[k] = planAt(here, options, false); // the budgets themselves are rungs
    if (before && (plans[k].computations.empty() || before->cost < plans[k].cost)) {
      int64_t bound = std::min(plans[k].lowerBoundCost, before->cost);
      plans[k] = *before;
      plans[k].lowerBoundCost = bound;
    }
    if (!plans[k].computations.empty())
      before = &plans[k];
  }
  int64_t bound = 0;
  for (size_t i = order.size(); i-- > 0;) {
    Plan &plan = plans[order[i]];
    bound = plan.lowerBoundCost = std::max(plan.lowerBoundCost, bound);
    if (!plan.computations.empty())
      plan.status = plan.cost == bound ? Status::Optimal : Status::Feasible;
  }
  return plans;
}

} // namespace zero::planning::checkpoint
