//===- CheckpointChain.cpp - chains are planned exactly ---------------------===//
//
// A state is a head k and the step u that comes next. With a tail, the later of the
// two values that the next step with inputs reads is live as well, and stays until
// then. A state's peak counts the head, the tail, the gradient and what they lead to;
// what is held around it is added where curves are joined.
//
//===----------------------------------------------------------------------===//
#include "CheckpointChain.h"

#include <algorithm>

namespace zero::planning::checkpoint {
namespace {

/// Forwards of the longest chain that is solved, and merged corners in all: half a second or so.
constexpr int32_t kMostForwards = 256;
constexpr int64_t kWork = 30'000'000, kFewestCorners = 24, kMostCorners = 4'000;

/// With the first `forwards` nodes for its forward.
std::optional<Chain> chainOf(const Graph &graph, int32_t forwards) {
  Chain chain;
  chain.forwards = forwards;
  chain.steps.push_back({-1, forwards - 1, forwards - 1, 0});
  int32_t gradient = -1, low = forwards - 1;
  for (int32_t node = forwards; node < graph.size; ++node) {
    Chain::Step step;
    step.node = node;
    bool readsGradient = false;
    for (int32_t input : graph.inputs(node)) {
      if (input >= forwards) {
        if (input != gradient)
          return std::nullopt;
        readsGradient = true;
      } else if (step.high < 0) {
        step.low = step.high = input;
      } else if (step.low == step.high) {
        step.low = std::min(step.low, input);
        step.high = std::max(step.high, input);
      } else {
        return std::nullopt;
      }
    }
    if (readsGradient != (gradient >= 0) || step.high > low)
      return std::nullopt;
    if (step.low >= 0)
      low = step.low;
    step.gradientBytes = gradient < 0 ? 0 : graph.bytes[gradient];
    chain.steps.push_back(step);
    if (!graph.readers(node).empty())
      gradient = node;
  }
  return chain;
}

} // namespace

std::optional<Chain> chainOf(const Graph &graph) {
  int32_t forwards = std::min(1, graph.size);
  while (forwards < graph.size && graph.inputs(forwards).size() == 1 &&
         graph.inputs(forwards)[0] == forwards - 1)
    ++forwards;
  // The first gradient may read the end of forward alone, and looks like more of it.
  if (std::optional<Chain> chain = chainOf(graph, forwards))
    return chain;
  return forwards > 1 ? chainOf(graph, forwards - 1) : std::nullopt;
}

ChainCurve::ChainCurve(const Graph &graph, const Chain &chain, int64_t corners, int64_t knownCost)
    : graph(graph), chain(chain), corners(corners) {
  auto steps = int32_t(chain.steps.size());
  needing.assign(steps + 1, steps);
  for (int32_t step = steps - 1; step >= 0; --step)
    needing[step] = chain.steps[step].low >= 0 ? step : needing[step + 1];
  ends.assign(chain.forwards + 1, 0);
  isReadAtEnd.assign(chain.forwards + 1, 0);
  for (int32_t head = 0; head < chain.forwards; ++head)
    for (int32_t step = 0; step < steps; ++step)
      if (chain.steps[step].low >= head) {
        ends[head + 1] = step + 1;
        isReadAtEnd[head + 1] = chain.steps[step].low == head;
      }
  ends[0] = steps; // with no head at all, everything is left
  costs.assign(1, 0);
  for (int32_t node = 0; node < chain.forwards; ++node)
    costs.push_back(costs.back() + graph.cost[node]);
  stepCosts.assign(1, 0);
  for (const Chain::Step &step : chain.steps)
    stepCosts.push_back(stepCosts.back() + (step.node < 0 ? 0 : graph.cost[step.node]));
  slack = knownCost - 1 - leastCost({-1, 0, false, false});
  curves.resize(size_t(chain.forwards + 1) * (steps + 1) * 4);
  for (int32_t head = chain.forwards - 1; head >= -1; --head)
    for (int32_t step = ends[head + 1]; step >= 0; --step)
      for (bool keeps : {false, true})
        for (bool tail : {true, false}) // a tail may be taken up on the way
          if (!keeps || !isReadAtEnd[head + 1])
            solve({head, step, tail, keeps});
}

/// A head that is read at the end stays until then, needed behind it or not.
size_t ChainCurve::index(const State &state) const {
  size_t place = size_t(state.head + 1) * (chain.steps.size() + 1) + state.step;
  bool keeps = state.keeps && !isReadAtEnd[state.head + 1];
  return place * 4 + size_t(state.tail) * 2 + keeps;
}

/// The bytes of the state's head, where it stays live behind the way to `next`.
int64_t ChainCurve::heldAround(const State &state, int32_t next) const {
  bool stays = state.keeps || ends[next + 1] < ends[state.head + 1];
  return stays ? bytes(state.head) : 0;
}

int64_t ChainCurve::liveBytes(const State &state) const {
  int64_t live = bytes(state.head) + chain.steps[state.step].gradientBytes;
  return live + (state.tail ? bytes(chain.steps[needing[state.step]].high) : 0);
}

/// What is left when all that needs `next` or later values is done.
ChainCurve::State ChainCurve::behind(const State &state, int32_t next, bool keepsNext) const {
  return {state.head, ends[next + 1], keepsNext, state.keeps};
}

/// Whether the step that comes then reads `next` beside an earlier value.
bool ChainCurve::canKeep(int32_t head, int32_t next) const {
  int32_t step = needing[ends[next + 1]];
  return step < ends[head + 1] && chain.steps[step].high == next;
}

/// With everything that is computed kept.
int64_t ChainCurve::leastCost(const State &state) const {
  int64_t cost = stepCosts[ends[state.head + 1]] - stepCosts[state.step];
  if (int32_t next = needing[state.step]; next < ends[state.head + 1]) {
    const Chain::Step &needs = chain.steps[next];
    cost += forwardCost(state.head, std::max(state.head, state.tail ? needs.low : needs.high));
  }
  return cost;
}

/// Adds to `growing` the corners of `first`, with `held` bytes around it, and then `rest`: of
/// `point`, at least its peak, and its cost more.
void ChainCurve::join(Growing &growing, const Curve &first, int64_t held, const Curve &rest,
                      Point point) {
  joined.clear();
  for (size_t i = 0, k = 0; i < first.size() && k < rest.size();) {
    int64_t peak = std::max({point.peak, first[i].peak + held, rest[k].peak});
    if (peak > graph.budget)
      break;
    // Of both, the last corners that need no more.
    while (i + 1 < first.size() && first[i + 1].peak + held <= peak)
      ++i;
    while (k + 1 < rest.size() && rest[k + 1].peak <= peak)
      ++k;
    int64_t cost = point.cost + first[i].cost + rest[k].cost;
    if (cost <= growing.mostCost)
      joined.push_back({peak, cost, point.head, point.keepsNext});
    // What needs least more goes on.
    bool firstGoesOn = k + 1 == rest.size() ||
                       (i + 1 < first.size() && first[i + 1].peak + held < rest[k + 1].peak);
    ++(firstGoesOn ? i : k);
  }
  // Of equal corners the older stays.
  merged.clear();
  const Curve &curve = growing.curve;
  for (size_t i = 0, k = 0; i < curve.size() || k < joined.size();) {
    bool older =
        k == joined.size() ||
        (i < curve.size() && (curve[i].peak < joined[k].peak || (curve[i].peak == joined[k].peak &&
                                                                 curve[i].cost <= joined[k].cost)));
    const Point &next = older ? curve[i++] : joined[k++];
    if (merged.empty() || next.cost < merged.back().cost)
      merged.push_back(next);
  }
  growing.curve.swap(merged);
}

/// Of more corners than the limit the lowest stays, and the cheapest of each of equal slots.
void ChainCurve::thin(Curve &curve) const {
  size_t size = curve.size();
  if (int64_t(size) <= corners)
    return;
  int64_t low = curve.front().peak, width = (curve.back().peak - low) / (corners - 1) + 1;
  size_t left = 1;
  for (size_t k = 1; k < size; ++k)
    if (k + 1 == size || (curve[k + 1].peak - low) / width != (curve[k].peak - low) / width)
      curve[left++] = curve[k];
  curve.resize(left);
}

/// Goes on to each later head that the next step with inputs allows.
void ChainCurve::solveHeads(const State &state, Growing &growing) {
  int32_t low = chain.steps[needing[state.step]].low;
  int64_t live = liveBytes(state), peak = 0;
  for (int32_t next = state.head + 1; next <= low; ++next) {
    int64_t before = next - 1 > state.head ? bytes(next - 1) : 0;
    peak = std::max(peak, live + before + bytes(next));
    if (peak > graph.budget)
      return;
    if (ends[next + 1] <= state.step)
      continue;
    int64_t cost = forwardCost(state.head, next), held = heldAround(state, next);
    for (bool keepsNext : {false, true})
      if (!keepsNext || canKeep(state.head, next))
        join(growing, at({next, state.step, state.tail, keepsNext}), held,
             at(behind(state, next, keepsNext)), {peak, cost, next, keepsNext});
  }
}

void ChainCurve::solve(const State &state) {
  static const Curve nothing = {{0, 0, kRun, false}};
  auto [head, step, tail, keeps] = state;
  if (step == ends[head + 1]) {
    if (!tail)
      curves[index(state)] = nothing;
    return;
  }
  const Chain::Step &run = chain.steps[step];
  const Chain::Step *needs = needing[step] < ends[head + 1] ? &chain.steps[needing[step]] : nullptr;
  if (tail && (!needs || needs->low == needs->high))
    return;
  Growing growing = {{}, leastCost(state) + slack};
  int64_t live = liveBytes(state);
  bool needsNothing = run.low < 0;
  if (needsNothing || (run.low == head && (tail || run.high == head))) {
    int64_t output = run.node < 0 ? 0 : graph.bytes[run.node];
    int64_t cost = run.node < 0 ? 0 : graph.cost[run.node];
    State rest = {head, step + 1, tail && needsNothing, keeps};
    join(growing, nothing, 0, at(rest), {live + output, cost, kRun, false});
  }
  if (needs && !tail && needs->low == head && needs->high > head) {
    int64_t peak = live + bytes(head + 1);
    for (int32_t node = head + 2; node <= needs->high; ++node)
      peak = std::max(peak, live + bytes(node - 1) + bytes(node));
    join(growing, nothing, 0, at({head, step, true, keeps}),
         {peak, forwardCost(head, needs->high), kTail, false});
  }
  if (needs)
    solveHeads(state, growing);
  thin(growing.curve);
  curves[index(state)] = growing.curve;
}

void ChainCurve::write(State state, int64_t budget, std::vector<int32_t> &computations) const {
  while (state.step != ends[state.head + 1]) {
    const Curve &curve = at(state);
    auto above =
        std::upper_bound(curve.begin(), curve.end(), budget,
                         [](int64_t bytes, const Point &point) { return bytes < point.peak; });
    const Point &point = *std::prev(above);
    const Chain::Step &run = chain.steps[state.step];
    if (point.head == kRun) {
      if (run.node >= 0)
        computations.push_back(run.node);
      state.tail &= run.low < 0;
      ++state.step;
      continue;
    }
    bool isTail = point.head == kTail;
    int32_t to = isTail ? chain.steps[needing[state.step]].high : point.head;
    for (int32_t node = state.head + 1; node <= to; ++node)
      computations.push_back(node);
    if (isTail) {
      state.tail = true;
      continue;
    }
    write({to, state.step, state.tail, point.keepsNext}, point.peak - heldAround(state, to),
          computations);
    state = behind(state, to, point.keepsNext);
    budget = point.peak;
  }
}

Found ChainCurve::within(int64_t budget) const {
  Found found;
  if (points().empty() || points().front().peak > budget)
    return found;
  write({-1, 0, false, false}, budget, found.computations);
  found.cost = 0;
  for (int32_t node : found.computations)
    found.cost += graph.cost[node];
  return found;
}

Found chainPlan(const Graph &graph, int64_t knownCost) {
  std::optional<Chain> chain = chainOf(graph);
  if (!chain || chain->forwards > kMostForwards)
    return {};
  int64_t forwards = chain->forwards, merges = forwards * forwards * int64_t(chain->steps.size());
  int64_t corners = std::clamp(kWork / (merges / 6 + 1), kFewestCorners, kMostCorners);
  return ChainCurve(graph, *chain, corners, knownCost).within(graph.budget);
}

} // namespace zero::planning::checkpoint
