//===- CheckpointMend.cpp - from a sequence above the budget to a plan -----===//
#include "CheckpointMend.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace zero::planning::checkpoint {
namespace {

using Wide = __int128;
using Set = std::vector<int32_t>; // sorted

/// Where the cheapest chain takes too long to find, one soon: estimates count this much.
constexpr int64_t kGreed = 4;

class Mender {
public:
  Mender(const Graph &graph, const std::vector<int32_t> &sequence, const MendLimits &limits);
  bool run();
  std::vector<int32_t> computations;

private:
  struct Event { // of a value, in the sequence
    int32_t position;
    bool isUse;         ///< else a computation
    int64_t again = -1; ///< what computing it for this use costs; -1: not known yet
  };
  struct State {
    Set set; ///< must be live together
    Wide cost;
    int32_t after, computed; ///< the state that computing `computed` leads to
  };
  struct Link { // of a chain
    int32_t computed;
    Set before; ///< live just before
  };

  Event *next(int32_t value);
  bool isLiveAt(int32_t value, int32_t position) const;
  int64_t again(int32_t value);
  bool isCheaper(int32_t one, int32_t other);
  Wide missing(const Set &set);
  int64_t before(const Set &set, int32_t last, Set &result) const;
  int32_t onlyLast(const Set &set) const;
  bool findChain(int32_t node, int64_t sets, int64_t greed);
  bool planChain(int32_t node);
  bool follow();
  void dropAt(size_t index);

  const Graph &graph;
  const std::vector<int32_t> &sequence;
  const MendLimits &limits;
  std::vector<std::vector<Event>> events;
  std::vector<int32_t> nextEvent;
  int32_t position = 0;
  int64_t setsLeft;
  Wide cost = 0;

  std::vector<char> resident, kept, wanted;
  std::vector<int32_t> residents;
  int64_t residentBytes = 0, keptBytes = 0;
  std::vector<Link> chain;
  std::vector<int32_t> seen, pending; ///< seen: in the walk of that number
  int32_t walk = 0;
};

Mender::Mender(const Graph &graph, const std::vector<int32_t> &sequence, const MendLimits &limits)
    : graph(graph), sequence(sequence), limits(limits), events(graph.size),
      nextEvent(graph.size, 0), setsLeft(limits.sets), resident(graph.size, 0), kept(graph.size, 0),
      wanted(graph.size, 0), seen(graph.size, 0) {
  for (size_t i = 0; i < sequence.size(); ++i) {
    for (int32_t input : graph.inputs(sequence[i]))
      events[input].push_back({int32_t(i), true});
    events[sequence[i]].push_back({int32_t(i), false});
  }
}

/// What next happens to `value` after this position; null for nothing.
Mender::Event *Mender::next(int32_t value) {
  int32_t &at = nextEvent[value];
  while (at < int32_t(events[value].size()) && events[value][at].position <= position)
    ++at;
  return at < int32_t(events[value].size()) ? &events[value][at] : nullptr;
}

/// In the sequence, not in what came of it.
bool Mender::isLiveAt(int32_t value, int32_t at) const {
  auto event = std::lower_bound(events[value].begin(), events[value].end(), at,
                                [](const Event &one, int32_t at) { return one.position < at; });
  return event != events[value].end() && event->isUse;
}

/// What it costs to do without `value` from here on. Where the sequence computes it again anyway
/// only that is lost. Room for a chain is not asked for.
int64_t Mender::again(int32_t value) {
  Event *event = next(value);
  if (!event)
    return 0;
  if (!event->isUse)
    return graph.cost[value];
  if (event->again >= 0)
    return event->again;
  int64_t sum = 0;
  pending.assign(1, value);
  seen[value] = ++walk;
  while (!pending.empty()) {
    int32_t node = pending.back();
    pending.pop_back();
    sum += graph.cost[node];
    for (int32_t input : graph.inputs(node))
      if (seen[input] != walk && !isLiveAt(input, event->position)) {
        seen[input] = walk;
        pending.push_back(input);
      }
  }
  return event->again = sum;
}

bool Mender::isCheaper(int32_t one, int32_t other) {
  auto bytes = [&](int32_t value) { return std::max<int64_t>(graph.bytes[value], 1); };
  Wide left = Wide(again(one)) * bytes(other), right = Wide(again(other)) * bytes(one);
  return left != right ? left < right : one < other;
}

/// The cost of computing once whatever `set` needs and is not there.
Wide Mender::missing(const Set &set) {
  Wide sum = 0;
  pending.clear();
  ++walk;
  auto offer = [&](int32_t value) {
    if (resident[value] || seen[value] == walk)
      return;
    seen[value] = walk;
    pending.push_back(value);
  };
  for (int32_t value : set)
    offer(value);
  while (!pending.empty()) {
    int32_t node = pending.back();
    pending.pop_back();
    sum += graph.cost[node];
    for (int32_t input : graph.inputs(node))
      offer(input);
  }
  return sum;
}

/// What must be live before `last` is computed as the last of `set`; returns the bytes live then.
int64_t Mender::before(const Set &set, int32_t last, Set &result) const {
  result.clear();
  for (int32_t value : set)
    if (value != last)
      result.push_back(value);
  for (int32_t input : graph.inputs(last))
    if (auto place = std::lower_bound(result.begin(), result.end(), input);
        place == result.end() || *place != input)
      result.insert(place, input);
  int64_t bytes = keptBytes + graph.bytes[last];
  for (int32_t value : result)
    bytes += kept[value] ? 0 : graph.bytes[value];
  return bytes;
}

/// The last missing member, if its inputs are members or kept; else -1. No other member is computed
/// from it, so nothing is lost by computing it last, and what is left takes no more room.
int32_t Mender::onlyLast(const Set &set) const {
  auto last = std::find_if(set.rbegin(), set.rend(), [&](int32_t v) { return !resident[v]; });
  if (last == set.rend())
    return -1;
  for (int32_t input : graph.inputs(*last))
    if (!kept[input] && !std::binary_search(set.begin(), set.end(), input))
      return -1;
  return *last;
}

/// The cheapest chain that computes `node` beside what is kept; false after so many `sets`.
bool Mender::findChain(int32_t node, int64_t sets, int64_t greed) {
  using Open = std::tuple<Wide, int32_t>; // the least cost, and minus its state: the newest first
  std::vector<State> states{{{node}, 0, -1, -1}};
  std::map<Set, Wide> cheapest;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  open.push({0, 0});
  Set rest;
  while (!open.empty()) {
    int32_t id = -std::get<1>(open.top());
    open.pop();
    State state = states[id];
    if (id > 0 && cheapest[state.set] < state.cost)
      continue;
    bool isThere = id > 0;
    for (int32_t value : state.set)
      isThere &= bool(resident[value]);
    if (isThere) {
      chain.clear();
      for (; states[id].after >= 0; id = states[id].after)
        chain.push_back({states[id].computed, states[id].set});
      return true;
    }
    if (--sets < 0 || --setsLeft < 0)
      return false;
    int32_t only = onlyLast(state.set);
    for (int32_t last : state.set) {
      if ((only >= 0 && last != only) || kept[last] || before(state.set, last, rest) > graph.budget)
        continue;
      Wide cost = state.cost + graph.cost[last];
      auto [known, isNew] = cheapest.try_emplace(rest, cost);
      if (!isNew && known->second <= cost)
        continue;
      known->second = cost;
      open.push({cost + greed * missing(rest), -int32_t(states.size())});
      states.push_back({rest, cost, id, last});
    }
  }
  return false;
}

/// A chain to `node` that leaves as much of what is there as it can, the cheapest given up first.
bool Mender::planChain(int32_t node) {
  std::vector<int32_t> order = residents;
  std::fill(kept.begin(), kept.end(), 0);
  auto keepFrom = [&](size_t given) {
    keptBytes = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      kept[order[k]] = k >= given;
      keptBytes += k >= given ? graph.bytes[order[k]] : 0;
    }
  };
  Set inputs;
  auto succeeds = [&](size_t given, int64_t sets, int64_t greed) {
    keepFrom(given);
    return before({node}, node, inputs) <= graph.budget && findChain(node, sets, greed);
  };
  size_t all = order.size(), fails = 0, given = 0; // `given` works, `fails` < given does not
  if (!succeeds(0, limits.setsBesideKept, 1)) {
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return isCheaper(a, b); });
    for (size_t step = 1;; step *= 2) {
      given = std::min(all, fails + step);
      if (succeeds(given, limits.setsBesideKept, 1))
        break;
      if (given == all) {
        if (!succeeds(all, limits.setsOfChain, 1) && !succeeds(all, limits.setsOfChain, kGreed))
          return false;
        break;
      }
      fails = given;
    }
    std::vector<Link> best = chain;
    while (given - fails > 1) {
      size_t middle = (given + fails) / 2;
      if (succeeds(middle, limits.setsBesideKept, 1)) {
        given = middle;
        best = chain;
      } else {
        fails = middle;
      }
    }
    chain = std::move(best);
  }
  keepFrom(given);
  return true;
}

void Mender::dropAt(size_t index) {
  int32_t value = residents[index];
  residents.erase(residents.begin() + int64_t(index));
  resident[value] = 0;
  residentBytes -= graph.bytes[value];
}

/// Computes the chain, and keeps what fits.
bool Mender::follow() {
  for (const Link &link : chain) {
    int32_t node = link.computed;
    if (resident[node])
      continue;
    for (int32_t value : residents)
      wanted[value] = kept[value];
    for (int32_t value : link.before)
      wanted[value] = 1;
    while (residentBytes + graph.bytes[node] > graph.budget) {
      size_t cheapest = residents.size();
      for (size_t k = 0; k < residents.size(); ++k)
        if (!wanted[residents[k]] &&
            (cheapest == residents.size() || isCheaper(residents[k], residents[cheapest])))
          cheapest = k;
      dropAt(cheapest);
    }
    for (int32_t value : link.before)
      wanted[value] = 0;
    resident[node] = 1;
    residents.push_back(node);
    residentBytes += graph.bytes[node];
    computations.push_back(node);
    if ((cost += graph.cost[node]) > kMaxTotal)
      return false;
  }
  return true;
}

bool Mender::run() {
  for (; position < int32_t(sequence.size()); ++position) {
    int32_t node = sequence[position];
    if (resident[node])
      continue;
    if (!planChain(node) || !follow())
      return false;
    for (size_t k = residents.size(); k-- > 0;)
      if (!next(residents[k]))
        dropAt(k);
  }
  return true;
}

} // namespace

std::vector<int32_t> mend(const Graph &graph, const std::vector<int32_t> &sequence,
                          const MendLimits &limits) {
  Mender mender(graph, sequence, limits);
  return mender.run() ? std::move(mender.computations) : std::vector<int32_t>();
}

} // namespace zero::planning::checkpoint
