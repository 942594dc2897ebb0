//===- CheckpointAnneal.cpp - the search for cheap sequences ---------------===//
//
// The energy of a sequence is its cost plus λ times its excess over the budget,
// λ steered so that some of the steps are within the budget and some are not.
// Moves:
//   evict    drop a value that is live at a slot above the budget, and compute it
//            again before its next use; where that keeps an input live for longer,
//            above the budget, go on with the input
//   extend   the same for an input of a recomputation that is kept for it alone
//   remove   take out a recomputation, and those that served it alone; perhaps
//            evict something else instead
//   shift    move a recomputation between its neighbours
//
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

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

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
constexpr double kCycleGrowth = 1.35, kAloneHeats[] = {1, .3, 3, .3, 1, .5};
constexpr double kAloneRepairHeats[] = {.03, .1, .3};
/// With so many nodes and moves, long coolings, the later one from the best, that end at less heat.
/// More moves than that serve a pool better, and fewer would find nothing from so much heat.
constexpr int32_t kLongFrom = 400, kLongUpTo = 1'500;
constexpr double kLongHeats[] = {3, 2}, kDecay = 1.0 / 60, kLongDecay = 1.0 / 200;
constexpr int64_t kMovesForLong = 200'000, kMovesBeyondLong = 2'000'000;
constexpr double kCrossingHeats[] = {.03, .1, .3};
constexpr int64_t kCrossingCycle = 20'000;
constexpr int64_t kNeighbourhoodCycle = 8'000;
constexpr int32_t kNeighbours = 120; // up to three times as many
constexpr double kSteering = 1.04;
constexpr int32_t kMovesPerSteering = 500, kHeatSteps = 64;
/// The search ends when so many first coolings found the same best, or this many moves and this
/// multiple of those until the last find are done.
constexpr int32_t kAgreeing = 2;
constexpr int64_t kPatience = 1'200'000, kPatienceGrowth = 2, kPatienceForFirst = 1'000'000;
constexpr size_t kMaxChanges = 14; // in one move
constexpr int32_t kPrunings = 4;
constexpr int32_t kMaxDepth = 20;

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
      nodes = graph.size - int32_t(dear);
      heat *= kHeatBesideDear;
    }
  }
  int64_t sum;
  int32_t nodes;
  double heat = kHeat;
};

template <typename Int> class Annealer {
public:
  Annealer(const Graph &graph, const AnnealOptions &options)
      : graph(graph), options(options), random(options.seed),
        sequence(graph, graph.size < 4000 ? 4 : 2), typical(graph),
        lambda(double(std::max<int64_t>(typical.sum, 1)) /
               (double(typical.nodes) * double(std::max<int64_t>(graph.budget, 1)))),
        unitHeat(typical.heat / typical.nodes * double(typical.sum)),
        costBias(0.02 * double(typical.sum) / typical.nodes + 1e-9) {}

  Found run(const std::vector<int32_t> &start);

private:
  struct Victim {
    int32_t node = -1, nextUse = 0;
  };
  double energy() const {
    return double(sequence.cost() - graph.baseCost) + lambda * double(sequence.excess());
  }
  bool isFinished() const;
  void keepIfBest();
  void begin(const std::vector<int32_t> &computations);
  void keepInPool(Found found);
  void coolLong();
  void coolAlone(const std::vector<int32_t> &start);
  void fillPool(const std::vector<int32_t> &start);
  void crossTwo();
  void improveNearby();
  void chooseNeighbourhood();
  int32_t anyExtra();
  void cycle(int64_t moves, double heat, double decay = kDecay);
  bool step();
  bool evictSomewhere();
  bool removeOne(int32_t slot);
  bool extendOne();
  bool shiftOne();
  void prune();
  bool recompute(int32_t node, int32_t before, int32_t depth);
  int32_t slotAbove(int32_t low, int32_t high);
  Victim victimAt(int32_t slot, int32_t wanted);
  int32_t firstUse(int32_t node, int32_t after) const;

  const Graph &graph;
  const AnnealOptions &options;
  Random random;
  Sequence<Int> sequence;
  TypicalCost typical;
  double lambda, unitHeat, costBias;
  double current = 0, threshold = 0;
  size_t moveBegin = 0;
  Found best, bestOfCycle; // bestOfCycle: since `begin`
  std::vector<Found> pool;
  std::vector<int32_t> neighbourhood; ///< the values that may change; empty: all
  std::vector<char> isNear;
  int64_t done = 0, bestAt = 0; // moves
  int32_t agreeing = 0;         // first coolings that ended in the best
  int32_t sinceSteering = 0, fitting = 0;
  std::vector<int32_t> pending;
};

template <typename Int> bool Annealer<Int>::isFinished() const {
  int64_t patience =
      best.computations.empty() ? kPatienceForFirst : std::max(kPatience, options.moves / 5 * 2);
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

/// The first use of `node`'s value after slot `after`, before its next instance; -1 for none, or
/// where it is used at `after` itself.
template <typename Int> int32_t Annealer<Int>::firstUse(int32_t node, int32_t after) const {
  int32_t first = INT32_MAX;
  for (int32_t reader : graph.readers(node)) {
    const auto &list = sequence.instances(reader);
    for (int32_t k = int32_t(list.size()) - 1; k >= 0 && list[k].slot >= after; --k) {
      if (list[k].slot == after)
        return -1;
      first = std::min(first, list[k].slot);
    }
  }
  return first == INT32_MAX ? -1 : first;
}

/// A slot of [low, high) above the budget; -1 where there seems to be none.
template <typename Int> int32_t Annealer<Int>::slotAbove(int32_t low, int32_t high) {
  for (int32_t tries = 0; tries < 40; ++tries)
    if (int32_t slot = low + random.below(high - low); sequence.isAbove(slot))
      return slot;
  int32_t begin = low + random.below(high - low);
  for (int32_t slot = begin; slot < high; ++slot)
    if (sequence.isAbove(slot))
      return slot;
  for (int32_t slot = low; slot < begin; ++slot)
    if (sequence.isAbove(slot))
      return slot;
  return -1;
}

/// A value that lies idle at `slot`, drawn by bytes a cost from up to `wanted`.
template <typename Int>
typename Annealer<Int>::Victim Annealer<Int>::victimAt(int32_t slot, int32_t wanted) {
  Victim victim;
  double most = -1;
  for (int32_t tries = 0, found = 0; tries < 60 && found < wanted; ++tries) {
    int32_t node = neighbourhood.empty()
                       ? random.below(graph.size)
                       : neighbourhood[random.below(int64_t(neighbourhood.size()))];
    const auto &list = sequence.instances(node);
    if (list[0].slot >= slot)
      continue;
    int32_t k = list.size() == 1 ? 0 : sequence.before(node, slot);
    if (list[k].end <= slot)
      continue;
    int32_t use = firstUse(node, slot);
    if (use < 0)
      continue;
    ++found;
    double weight =
        random.unit() * double(graph.bytes[node]) / (double(graph.cost[node]) + costBias);
    if (weight > most) {
      most = weight;
      victim = {node, use};
    }
  }
  return victim;
}

template <typename Int> bool Annealer<Int>::recompute(int32_t node, int32_t before, int32_t depth) {
  if (sequence.mark() - moveBegin > kMaxChanges ||
      double(sequence.cost() + graph.cost[node] - graph.baseCost) > current + threshold)
    return false;
  int32_t slot = sequence.makeRoomBefore(before);
  if (slot < 0 || sequence.instances(node)[0].slot >= slot)
    return false;
  constexpr int32_t kMaxInputs = 64;
  std::span<const int32_t> inputs = graph.inputs(node);
  int32_t ends[kMaxInputs];
  size_t count = std::min<size_t>(inputs.size(), kMaxInputs);
  for (size_t i = 0; i < count; ++i)
    ends[i] = sequence.instances(inputs[i])[sequence.before(inputs[i], slot)].end;
  sequence.insert(node, slot);
  if (depth >= kMaxDepth)
    return true;
  for (size_t i = 0; i < count; ++i) {
    // Room made for one input may have moved the node; its slot is found again.
    int32_t input = inputs[i];
    int32_t here = sequence.at(slot) == node ? slot : slot - 1;
    if (ends[i] + 1 >= here || !sequence.anyAbove(ends[i] + 1, here) || random.below(8) == 0)
      continue;
    if (!recompute(input, here, depth + 1))
      return false;
  }
  return true;
}

template <typename Int> bool Annealer<Int>::evictSomewhere() {
  int32_t slot =
      sequence.excess() > 0 ? slotAbove(0, sequence.slots()) : random.below(sequence.slots());
  Victim victim = slot < 0 ? Victim{} : victimAt(slot, 6);
  return victim.node >= 0 && recompute(victim.node, victim.nextUse, 0);
}

template <typename Int> bool Annealer<Int>::removeOne(int32_t slot) {
  pending.assign(1, slot);
  for (int32_t count = 0; !pending.empty() && count < 30; ++count) {
    int32_t taken = pending.back();
    pending.pop_back();
    if (!sequence.isExtra(taken))
      continue;
    int32_t node = sequence.at(taken);
    size_t first = pending.size();
    for (int32_t input : graph.inputs(node)) {
      int32_t at = sequence.instances(input)[sequence.before(input, taken)].slot;
      if (sequence.isExtra(at))
        pending.push_back(at);
    }
    sequence.remove(taken);
    // Only those that nothing reads any more.
    size_t kept = first;
    for (size_t i = first; i < pending.size(); ++i) {
      int32_t at = pending[i], input = sequence.at(at);
      if (sequence.instances(input)[sequence.before(input, at + 1)].end == at)
        pending[kept++] = at;
    }
    pending.resize(kept);
  }
  return true;
}

/// A recomputation, of the neighbourhood if a few draws find one.
template <typename Int> int32_t Annealer<Int>::anyExtra() {
  const std::vector<int32_t> &extras = sequence.extras();
  int32_t slot = extras[random.below(int64_t(extras.size()))];
  for (int32_t tries = 0; tries < 20 && !neighbourhood.empty() && !isNear[sequence.at(slot)];
       ++tries)
    slot = extras[random.below(int64_t(extras.size()))];
  return slot;
}

template <typename Int> bool Annealer<Int>::extendOne() {
  int32_t slot = anyExtra(), node = sequence.at(slot);
  std::span<const int32_t> inputs = graph.inputs(node);
  if (inputs.empty())
    return false;
  int32_t input = inputs[random.below(int64_t(inputs.size()))];
  // Idle since its last other use, if this is its last one.
  const auto &instance = sequence.instances(input)[sequence.before(input, slot)];
  if (instance.end != slot || slot - instance.slot < 3)
    return false;
  return recompute(input, slot, 0);
}

template <typename Int> bool Annealer<Int>::shiftOne() {
  int32_t slot = anyExtra(), node = sequence.at(slot);
  int32_t k = sequence.before(node, slot);
  int32_t low = std::max(sequence.instances(node)[k].slot + 1, slot - 40);
  int32_t high = firstUse(node, slot);
  if (high < 0)
    high = slot;
  sequence.remove(slot);
  if (high <= low)
    return true;
  int32_t to = low + random.below(high - low);
  if (sequence.at(to) >= 0)
    return false;
  sequence.insert(node, to);
  return true;
}

template <typename Int> bool Annealer<Int>::step() {
  int32_t kind = random.below(20);
  if (kind < 8 || sequence.extras().empty())
    return evictSomewhere();
  if (kind < 12)
    return extendOne();
  if (kind < 18) {
    int32_t slot = anyExtra();
    removeOne(slot);
    if (kind < 15)
      return true;
    for (int32_t repairs = 0; repairs < 2 && sequence.excess() > 0; ++repairs) {
      int32_t reach = sequence.slots() / 8;
      int32_t low = std::max(0, slot - reach), high = std::min(sequence.slots(), slot + reach);
      int32_t above = slotAbove(low, high);
      if (above < 0)
        break;
      Victim victim = victimAt(above, 3);
      if (victim.node >= 0 && !recompute(victim.node, victim.nextUse, 0))
        return false;
    }
    return true;
  }
  return shiftOne();
}

template <typename Int> void Annealer<Int>::cycle(int64_t moves, double heat, double decay) {
  // Of the heat `decay` is left at the end, in even steps: the 64th root is six square roots.
  for (int i = 0; i < 6; ++i)
    decay = std::sqrt(decay);
  for (int64_t move = 0; move < moves; ++move) {
    if (move > 0 && move % (moves / kHeatSteps + 1) == 0)
      heat *= decay;
    if (isFinished())
      return;
    ++done;
    threshold = exponential(random) * heat;
    sequence.forget();
    moveBegin = 0;
    double next = 0;
    bool accepted = step() && (next = energy()) - current <= threshold;
    if (accepted) {
      current = next;
      keepIfBest();
    } else {
      sequence.undo(moveBegin);
    }
    if (sequence.isCrowded()) {
      sequence.assign(sequence.computations());
      current = energy();
    }
    fitting += sequence.excess() == 0;
    if (++sinceSteering == kMovesPerSteering) {
      if (fitting < kMovesPerSteering / 10)
        lambda *= kSteering;
      else if (fitting > kMovesPerSteering * 2 / 5)
        lambda /= kSteering;
      sinceSteering = fitting = 0;
      current = energy();
    }
  }
}

/// Takes out of a sequence within the budget every recomputation that it fits without, the last
/// ones first: early ones serve what follows.
template <typename Int> void Annealer<Int>::prune() {
  bool changed = true;
  for (int32_t pass = 0; changed && pass < kPrunings; ++pass) {
    changed = false;
    std::vector<int32_t> slots = sequence.extras();
    std::sort(slots.begin(), slots.end(), std::greater<>());
    for (int32_t slot : slots) {
      if (!sequence.isExtra(slot))
        continue;
      sequence.forget();
      removeOne(slot);
      if (sequence.excess() > 0)
        sequence.undo(0);
      else
        changed = true;
    }
  }
}

template <typename Int> void Annealer<Int>::begin(const std::vector<int32_t> &computations) {
  sequence.assign(computations);
  current = energy();
  bestOfCycle = {};
}

/// Equal costs stand for equal plans.
template <typename Int> void Annealer<Int>::keepInPool(Found found) {
  bool known = std::any_of(pool.begin(), pool.end(),
                           [&](const Found &other) { return other.cost == found.cost; });
  if (!found.computations.empty() && !known)
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
  bool known = std::any_of(pool.begin(), pool.end(),
                           [&](const Found &found) { return found.cost == bestOfCycle.cost; });
  if (!known && bestOfCycle.cost < pool[dearer].cost)
    pool[dearer] = bestOfCycle;
}

/// Values around one, by steps along inputs and readers.
template <typename Int> void Annealer<Int>::chooseNeighbourhood() {
  size_t wanted = size_t(kNeighbours + random.below(2 * kNeighbours));
  neighbourhood.assign(1, random.below(graph.size));
  isNear.assign(graph.size, 0);
  isNear[neighbourhood[0]] = 1;
  auto offer = [&](std::span<const int32_t> nodes) {
    for (int32_t node : nodes)
      if (!isNear[node] && neighbourhood.size() < wanted) {
        isNear[node] = 1;
        neighbourhood.push_back(node);
      }
  };
  for (size_t k = 0; k < neighbourhood.size() && neighbourhood.size() < wanted; ++k) {
    int32_t node = neighbourhood[k];
    offer(graph.inputs(node));
    offer(graph.readers(node));
  }
}

template <typename Int> void Annealer<Int>::improveNearby() {
  int64_t size = int64_t(pool.size());
  int32_t one = random.below(size);
  begin(pool[one].computations);
  chooseNeighbourhood();
  cycle(kNeighbourhoodCycle, unitHeat * (.5 + .4 * random.unit()));
  neighbourhood.clear();
  bool known = std::any_of(pool.begin(), pool.end(), [&](const Found &found) {
    return &found != &pool[one] && found.cost == bestOfCycle.cost;
  });
  if (!known && bestOfCycle.cost <= pool[one].cost)
    pool[one] = bestOfCycle;
}

template <typename Int> Found Annealer<Int>::run(const std::vector<int32_t> &start) {
  begin(start);
  if (sequence.excess() == 0)
    prune();
  keepIfBest();
  if (graph.size >= kLongFrom && graph.size <= kLongUpTo && options.moves >= kMovesForLong &&
      options.moves < kMovesBeyondLong) {
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
