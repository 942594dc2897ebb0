//===- CheckpointReach.cpp - whether a budget can be met at all ------------===//
#include "CheckpointReach.h"

#include <algorithm>
#include <functional>
#include <set>

namespace zero::planning::checkpoint {
namespace {

using Set = std::vector<int32_t>; // sorted

class Search {
public:
  Search(const Graph &graph, int64_t smallest, int64_t steps)
      : graph(graph), smallest(smallest), left(steps), resident(graph.size, 0),
        wanted(graph.size, 0) {}

  /// A path of sets from {node} back to values that are there: Feasible, Infeasible or Unknown.
  Status pathTo(int32_t node, int64_t steps);
  /// Computes what the path says, and keeps what fits.
  void walk(int32_t node);

  bool isOver() const { return left < 0; }
  std::vector<int32_t> computations;

private:
  struct Frame {
    Set set;
    Set untried;      // members to try as the last one computed, from the back
    int32_t computed; // the member that led from here to the frame above
  };
  bool isSmall(int32_t value) const { return graph.bytes[value] < smallest; }
  bool isResident(const Set &set) const {
    return std::all_of(set.begin(), set.end(), [&](int32_t value) { return resident[value]; });
  }
  Frame frameOf(Set set) const;
  bool before(const Set &set, int32_t last, Set &result) const;
  int32_t nextUse(int32_t value, int32_t step) const;
  void drop(int32_t node);

  const Graph &graph;
  int64_t smallest, left;
  std::vector<Frame> path;
  std::set<Set> reachable; // from nothing, where nothing is resident
  std::vector<char> resident, wanted;
  std::vector<int32_t> residents;
  int64_t residentBytes = 0;
};

/// What must be live before `last` is computed as the last of `set`; false above the budget.
bool Search::before(const Set &set, int32_t last, Set &result) const {
  int64_t bytes = isSmall(last) ? graph.bytes[last] : 0;
  result.clear();
  for (int32_t value : set)
    if (value != last)
      result.push_back(value);
  for (int32_t input : graph.inputs(last))
    if (isSmall(input))
      bytes += graph.bytes[input]; // live while it is computed, whatever else is for granted
    else if (auto place = std::lower_bound(result.begin(), result.end(), input);
             place == result.end() || *place != input)
      result.insert(place, input);
  for (int32_t value : result)
    bytes += graph.bytes[value];
  return bytes + (isSmall(last) ? 0 : graph.bytes[last]) <= graph.budget;
}

Search::Frame Search::frameOf(Set set) const {
  Frame frame{std::move(set), {}, -1};
  // One whose inputs are members too leaves a part of the set, which is no harder: only that.
  Set rest;
  for (int32_t value : frame.set) {
    if (resident[value] || !before(frame.set, value, rest))
      continue;
    if (rest.size() < frame.set.size()) {
      frame.untried = {value};
      return frame;
    }
  }
  // What is there already is tried last, and the latest first, which hardly ever turns back.
  for (bool there : {true, false})
    for (int32_t value : frame.set)
      if (bool(resident[value]) == there)
        frame.untried.push_back(value);
  return frame;
}

Status Search::pathTo(int32_t node, int64_t steps) {
  std::set<Set> seen;
  path.clear();
  path.push_back({{node}, {node}, -1});
  Set next;
  while (!path.empty()) {
    Frame &frame = path.back();
    bool known = path.size() > 1 && (isResident(frame.set) || reachable.count(frame.set));
    if (known) {
      if (residents.empty())
        for (const Frame &on : path)
          reachable.insert(on.set);
      return Status::Feasible;
    }
    if (frame.untried.empty()) {
      path.pop_back();
      continue;
    }
    if (--left < 0 || --steps < 0)
      return Status::Unknown;
    int32_t last = frame.untried.back();
    frame.untried.pop_back();
    if (!before(frame.set, last, next) || !seen.insert(next).second)
      continue;
    frame.computed = last;
    path.push_back(frameOf(next));
  }
  return Status::Infeasible;
}

int32_t Search::nextUse(int32_t value, int32_t step) const {
  std::span<const int32_t> readers = graph.readers(value);
  auto next = std::upper_bound(readers.begin(), readers.end(), step);
  return next == readers.end() ? graph.size : *next;
}

void Search::drop(int32_t node) {
  int32_t dropped = -1, furthest = -1;
  for (size_t k = 0; k < residents.size(); ++k)
    if (int32_t use = nextUse(residents[k], node - 1); !wanted[residents[k]] && use > furthest) {
      furthest = use;
      dropped = int32_t(k);
    }
  int32_t value = residents[dropped];
  residents.erase(residents.begin() + dropped);
  resident[value] = 0;
  residentBytes -= graph.bytes[value];
}

void Search::walk(int32_t node) {
  for (size_t at = path.size() - 1; at-- > 0;) {
    const Frame &frame = path[at];
    int32_t computed = frame.computed;
    if (resident[computed])
      continue;
    auto want = [&](char mark) {
      for (int32_t value : frame.set)
        wanted[value] = mark;
      for (int32_t input : graph.inputs(computed))
        wanted[input] = mark;
    };
    want(1);
    while (residentBytes + graph.bytes[computed] > graph.budget)
      drop(node);
    want(0);
    resident[computed] = 1;
    residents.push_back(computed);
    residentBytes += graph.bytes[computed];
    computations.push_back(computed);
  }
}

constexpr int64_t kStepsPerNode = 30'000;

} // namespace

Reach reach(const Graph &graph, int64_t steps) {
  std::vector<int64_t> sizes = graph.bytes;
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (size_t kept : {1, 2, 3, 4, 6, 8, 12, 16}) {
    if (kept >= sizes.size())
      break;
    Search search(graph, sizes[kept - 1], steps / 8);
    for (int32_t node = graph.size - 1; node >= 0 && !search.isOver(); --node)
      if (search.pathTo(node, kStepsPerNode) == Status::Infeasible)
        return {Status::Infeasible, {}, node};
  }
  Search search(graph, 0, steps);
  for (int32_t node = 0; node < graph.size; ++node) {
    Status status = search.pathTo(node, steps);
    if (status != Status::Feasible) {
      // From nothing there are fewer ways, and none of them stands for all.
      bool proved = Search(graph, 0, steps).pathTo(node, steps) == Status::Infeasible;
      return {proved ? Status::Infeasible : Status::Unknown, {}, node};
    }
    search.walk(node);
  }
  return {Status::Feasible, std::move(search.computations), -1};
}

} // namespace zero::planning::checkpoint
