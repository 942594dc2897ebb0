//===- CheckpointAnneal.cpp - the search for cheap sequences ---------------===//
//
// The energy of a sequence is its cost plus λ times its excess over the budget,
// λ steered so that some of the steps are within the budget and some are not.
// The threshold of acceptance is drawn before the move, so that a move whose cost
// alone passes it ends early.
//
// One cooling ends in one of many valleys, which differ in parts that hardly touch:
// what one layer keeps matters little to another. So in smaller graphs several coolings, from
// different starts, fill a pool, and short ones at little heat then improve it, by turns of
//   a crossing     of two of the pool: the one with a stretch of the other, from one
//                  first computation to another; first occurrences stay in order, so
//                  any such mixture is a plan
//   a neighbourhood  of one: only values near each other in the graph change, at more
//                  heat than all could bear.
// In graphs of hundreds of nodes moves are dearer, and long coolings from more heat get
// further than several short ones.
//
//===----------------------------------------------------------------------===//
#include "CheckpointAnneal.h"

#include "CheckpointMend.h"
#include "CheckpointMoves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

/// −ln u for a uniform u, from IEEE operations alone: ln (1 + x) / (1 − x) = 2 (x + x³/3 + …).
double exponential(Random &random) {
  double u = random.unit() + 0x1p-54;
  uint64_t bits = std::bit_cast<uint64_t>(u);
  int64_t exponent = int64_t(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u);
  double x = (mantissa - 1) / (mantissa + 1), square = x * x, sum = 0;
  for (int k = 15; k >= 1; k -= 2)
    sum = sum * square + 1.0 / k;
  return -(double(exponent) * 0.6931471805599453 + 2 * x * sum);
}

/// Heats are in units of the cost of a node. The first coolings, from the given start and from base
/// order by turns: after `kRepairHeats` where the start is good, `kFirstHeats`.
constexpr double kHeat = 0.35, kHeatBesideDear = 10, kRepairHeats[] = {.03, .1},
                 kFirstHeats[] = {.5, .15};
constexpr int64_t kRepairCycle = 10'000, kFirstCycle = 60'000;
constexpr size_t kPool = 6;
/// Fewer moves than this don't fill a pool: coolings that grow, every other one from the best.
constexpr int64_t kMovesForPool = 500'000, kAloneRepairCycle = 15'000;
/// Where coolings are mended.
constexpr double kMendedGrowth = 1.1, kMostLambda = 300;
constexpr double kCycleGrowth = 1.35, kAloneHeats[] = {1, .3, 3, .3, 1, .5};
constexpr double kAloneRepairHeats[] = {.03, .1, .3};
/// With so many nodes and moves, long coolings, the later one from the best, that end at less heat.
/// More moves than that serve a pool better, and fewer would find nothing from so much heat.
constexpr int32_t kLongFrom = 400, kLongUpTo = 1'500;
constexpr double kLongHeats[] = {1, .5}, kDecay = 1.0 / 60, kLongDecay = 1.0 / 200;
constexpr int64_t kMovesForLong = 200'000, kMovesBeyondLong = 2'000'000;
constexpr double kCrossingHeats[] = {.03, .1, .3};
constexpr int64_t kCrossingCycle = 20'000;
constexpr int64_t kNeighbourhoodCycle = 8'000;
constexpr double kSteering = 1.04;
constexpr int32_t kMovesPerSteering = 500, kHeatSteps = 64;
/// The search ends when so many first coolings found the same best, or this many moves and this
/// multiple of those until the last find are done.
constexpr int32_t kAgreeing = 2;
constexpr int64_t kPatience = 1'200'000, kPatienceGrowth = 2;

/// Whether moves are dear, but not too few.
bool isMiddling(const Graph &graph, const AnnealOptions &options) {
  return !options.mends && graph.size >= kLongFrom && graph.size <= kLongUpTo &&
         options.moves >= kMovesForLong;
}

/// What nodes cost: moves are as hot as their mean allows. Nodes that each cost more than all
/// others together don't count beside others: no one computes them again, and with them every move
/// would look cheap. Their number says little of the others then, whose costs lie far apart: more
/// heat.
struct TypicalCost {
  explicit TypicalCost(const Graph &graph) : sum(graph.baseCost), nodes(graph.size) {
    int64_t most = *std::max_element(graph.cost.begin(), graph.cost.end());
    int64_t dear = std::count(graph.cost.begin(), graph.cost.end(), most);
    if (int64_t others = graph.baseCost - most * dear; others > 0 && others < most) {
      sum = others;
      dearCost = most;
      nodes = graph.size - int32_t(dear);
      heat *= kHeatBesideDear;
    }
  }
  int64_t sum, dearCost = std::numeric_limits<int64_t>::max();
  int32_t nodes;
  double heat = kHeat;
};

template <typename Int> class Annealer {
public:
  Annealer(const Graph &graph, const AnnealOptions &options)
      : graph(graph), options(options), typical(graph),
        moves(graph, options.seed, 0.02 * double(typical.sum) / typical.nodes + 1e-9,
              isMiddling(graph, options)),
        lambda(double(std::max<int64_t>(typical.sum, 1)) /
               (double(typical.nodes) * double(std::max<int64_t>(graph.budget, 1)))),
        mostLambda(options.mends ? kMostLambda * lambda : std::numeric_limits<double>::max()),
        unitHeat(typical.heat / typical.nodes * double(typical.sum)) {
    moves.spare(typical.dearCost);
  }

  Found run(const std::vector<int32_t> &start);

private:
  double energy() const {
    return double(sequence.cost() - graph.baseCost) + lambda * double(sequence.excess());
  }
  bool isFinished() const;
  void keepIfBest();
  void begin(const std::vector<int32_t> &computations);
  bool isKnown(const Found &found, int32_t except = -1) const;
  void keepInPool(Found found);
  void coolLong();
  void coolAlone(const std::vector<int32_t> &start);
  void coolMending();
  void fillPool(const std::vector<int32_t> &start);
  void crossTwo();
  void improveNearby();
  void cycle(int64_t length, double heat, double decay = kDecay);

  const Graph &graph;
  const AnnealOptions &options;
  TypicalCost typical;
  Moves<Int> moves;
  Random &random = moves.random;
  Sequence<Int> &sequence = moves.sequence;
  double lambda, mostLambda, unitHeat;
  double current = 0;
  Found best, bestOfCycle; // bestOfCycle: since `begin`
  std::vector<Found> pool;
  int64_t done = 0, bestAt = 0; // moves
  int32_t agreeing = 0;         // first coolings that ended in the best
  int32_t sinceSteering = 0, fitting = 0;
};

template <typename Int> bool Annealer<Int>::isFinished() const {
  int64_t patience = best.computations.empty() ? options.patienceForFirst
                                               : std::max(kPatience, options.moves / 5 * 2);
  return best.cost <= options.stopAtCost || done >= options.moves || agreeing >= kAgreeing ||
         done >= patience + kPatienceGrowth * bestAt;
}

template <typename Int> void Annealer<Int>::keepIfBest() {
  if (sequence.excess() > 0 || sequence.cost() >= bestOfCycle.cost)
    return;
  bestOfCycle = {sequence.computations(), sequence.cost()};
  if (bestOfCycle.cost >= best.cost)
    return;
  best = bestOfCycle;
  bestAt = done;
}

template <typename Int> void Annealer<Int>::cycle(int64_t length, double heat, double decay) {
  // Of the heat `decay` is left at the end, in even steps: the 64th root is six square roots.
  for (int i = 0; i < 6; ++i)
    decay = std::sqrt(decay);
  for (int64_t move = 0; move < length; ++move) {
    if (move > 0 && move % (length / kHeatSteps + 1) == 0)
      heat *= decay;
    if (isFinished())
      return;
    ++done;
    double threshold = exponential(random) * heat, next = 0;
    sequence.forget();
    bool accepted = moves.step(current + threshold) && (next = energy()) - current <= threshold;
    if (accepted) {
      current = next;
      keepIfBest();
    } else {
      sequence.undo(0);
    }
    if (sequence.isCrowded()) {
      sequence.assign(sequence.computations());
      current = energy();
    }
    fitting += sequence.excess() == 0;
    if (++sinceSteering == kMovesPerSteering) {
      if (fitting < kMovesPerSteering / 10)
        lambda = std::min(lambda * kSteering, mostLambda);
      else if (fitting > kMovesPerSteering * 2 / 5)
        lambda /= kSteering;
      sinceSteering = fitting = 0;
      current = energy();
    }
  }
}

template <typename Int> void Annealer<Int>::begin(const std::vector<int32_t> &computations) {
  sequence.assign(computations);
  current = energy();
  bestOfCycle = {};
}

/// Whether one of the pool, but for `except`, is the same: equal costs stand for equal plans.
template <typename Int> bool Annealer<Int>::isKnown(const Found &found, int32_t except) const {
  for (int32_t k = 0; k < int32_t(pool.size()); ++k)
    if (k != except && pool[k].cost == found.cost)
      return true;
  return false;
}

template <typename Int> void Annealer<Int>::keepInPool(Found found) {
  if (!found.computations.empty() && !isKnown(found))
    pool.push_back(std::move(found));
}

/// Without a pool, until the moves are used up.
template <typename Int> void Annealer<Int>::coolAlone(const std::vector<int32_t> &start) {
  if (options.startIsGood)
    for (double heat : kAloneRepairHeats) {
      begin(best.computations.empty() ? start : best.computations);
      cycle(kAloneRepairCycle, unitHeat * heat);
    }
  double length = kFirstCycle;
  for (int32_t count = 0; !isFinished(); ++count) {
    if (count > 0)
      begin(count % 2 && !best.computations.empty() ? best.computations : sequence.computations());
    cycle(int64_t(length), unitHeat * kAloneHeats[count % std::size(kAloneHeats)]);
    length *= kCycleGrowth;
  }
}

template <typename Int> void Annealer<Int>::coolLong() {
  int64_t length = (options.moves + 1) / 2;
  for (size_t count = 0; !isFinished(); ++count) {
    if (count > 0)
      begin(best.computations.empty() ? sequence.computations() : best.computations);
    cycle(length, unitHeat * kLongHeats[count % std::size(kLongHeats)], kLongDecay);
  }
}

/// Each cooling goes on from the plan that the one before was mended to.
template <typename Int> void Annealer<Int>::coolMending() {
  double length = kFirstCycle;
  for (int32_t count = 0; !isFinished(); ++count) {
    cycle(int64_t(length), unitHeat * kAloneHeats[count % std::size(kAloneHeats)]);
    length *= kMendedGrowth;
    if (std::vector<int32_t> mended = mend(graph, sequence.computations()); !mended.empty()) {
      begin(mended);
      moves.prune();
      current = energy();
      keepIfBest();
    } else if (best.computations.empty()) {
      return;
    }
  }
}

template <typename Int> void Annealer<Int>::fillPool(const std::vector<int32_t> &start) {
  std::vector<int32_t> base(graph.size);
  std::iota(base.begin(), base.end(), 0);
  for (size_t count = 0; count < kPool && !isFinished(); ++count) {
    bool fromStart = count % 2 == 0;
    begin(fromStart ? start : base);
    int64_t before = best.cost;
    if (fromStart && options.startIsGood)
      for (double heat : kRepairHeats)
        cycle(kRepairCycle, unitHeat * heat);
    for (double heat : kFirstHeats)
      cycle(kFirstCycle, unitHeat * heat);
    if (isFinished())
      return;
    agreeing = best.cost < before ? 1 : agreeing + (bestOfCycle.cost == best.cost);
    keepInPool(bestOfCycle);
  }
}

template <typename Int> void Annealer<Int>::crossTwo() {
  int32_t one = random.below(int64_t(pool.size())), other = random.below(int64_t(pool.size()) - 1);
  other += other >= one;
  int32_t from = random.below(graph.size), to = random.below(graph.size);
  begin(crossed(pool[one].computations, pool[other].computations, std::min(from, to),
                std::max(from, to)));
  cycle(kCrossingCycle, unitHeat * kCrossingHeats[random.below(std::size(kCrossingHeats))]);
  int32_t dearer = pool[one].cost > pool[other].cost ? one : other;
  if (!isKnown(bestOfCycle) && bestOfCycle.cost < pool[dearer].cost)
    pool[dearer] = bestOfCycle;
}

template <typename Int> void Annealer<Int>::improveNearby() {
  int64_t size = int64_t(pool.size());
  int32_t one = random.below(size);
  begin(pool[one].computations);
  moves.enterNeighbourhood();
  cycle(kNeighbourhoodCycle, unitHeat * (.5 + .4 * random.unit()));
  moves.leaveNeighbourhood();
  if (!isKnown(bestOfCycle, one) && bestOfCycle.cost <= pool[one].cost)
    pool[one] = bestOfCycle;
}

template <typename Int> Found Annealer<Int>::run(const std::vector<int32_t> &start) {
  begin(start);
  if (sequence.excess() == 0)
    moves.prune();
  keepIfBest();
  if (options.mends) {
    coolMending();
    return best;
  }
  if (isMiddling(graph, options) && options.moves < kMovesBeyondLong) {
    coolLong();
    return best;
  }
  if (options.moves < kMovesForPool) {
    coolAlone(start);
    return best;
  }
  fillPool(start);
  while (!isFinished()) {
    if (pool.size() < 2) { // none fits yet, or all found the same
      begin(pool.empty() ? sequence.computations() : start);
      cycle(kFirstCycle, unitHeat);
      keepInPool(bestOfCycle);
    } else if (random.below(2) == 0) {
      crossTwo();
    } else {
      improveNearby();
    }
  }
  return best;
}

} // namespace

std::vector<int32_t> crossed(const std::vector<int32_t> &one, const std::vector<int32_t> &other,
                             int32_t from, int32_t to) {
  auto first = [](const std::vector<int32_t> &list, int32_t node) {
    return std::find(list.begin(), list.end(), node);
  };
  std::vector<int32_t> child(one.begin(), first(one, from));
  child.insert(child.end(), first(other, from), first(other, to));
  child.insert(child.end(), first(one, to), one.end());
  return child;
}

Found anneal(const Graph &graph, const std::vector<int32_t> &start, const AnnealOptions &options) {
  if (graph.totalBytes <= INT32_MAX)
    return Annealer<int32_t>(graph, options).run(start);
  return Annealer<int64_t>(graph, options).run(start);
}

} // namespace zero::planning::checkpoint
