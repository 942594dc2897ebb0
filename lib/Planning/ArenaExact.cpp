//===- ArenaExact.cpp - the exact search, capacity by capacity -----------===//
//
// Bytes become units of the search: the greatest common divisor of all sizes and
// fixed offsets, as far as the alignments allow. Pinned buffers that lie on the
// floor, or on others that do, become a raised floor; the rest of them take part
// with one place to go to.
//
//===----------------------------------------------------------------------===//
#include "ArenaExact.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace zero::planning::arena {
namespace {

constexpr int64_t kTighter = 2;      // capacities tried below the one asked for
constexpr int64_t kTurnRestarts = 4; // of one search, before the next has its turn

} // namespace

ExactDescent::ExactDescent(const Problem &problem, const Timeline &timeline,
                           const Incumbent &packing)
    : problem(problem), timeline(timeline), fixedOffsets(problem.buffers.size(), -1) {
  int64_t count = problem.buffers.size();
  if (count == 0 || count > kMaxSearchItems)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (timeline.stretches(i).size() != 1)
      return;
    if (buffer.fixedOffset || buffer.isPersistent())
      fixedOffsets[i] = packing.offsets[i];
  }
  build();
}

void ExactDescent::build() {
  int64_t count = problem.buffers.size();
  unit = 0;
  for (int64_t i = 0; i < count; ++i)
    unit = std::gcd(std::gcd(unit, timeline.items[i].size), std::max<int64_t>(fixedOffsets[i], 0));
  unit = placingUnit(problem, unit);
  for (const Buffer &buffer : problem.buffers)
    if (!std::has_single_bit(uint64_t(std::max<int64_t>(1, buffer.alignmentBytes / unit))))
      return;

  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return fixedOffsets[a] < fixedOffsets[b]; });
  std::vector<int64_t> floor(timeline.sections, 0);
  base.sections = int32_t(timeline.sections);
  std::vector<int32_t> rest;
  for (int32_t i : order) {
    const Stretch &stretch = timeline.stretches(i).front();
    auto begin = floor.begin() + stretch.first, end = floor.begin() + stretch.last;
    if (fixedOffsets[i] >= 0)
      pinnedTop = std::max(pinnedTop, fixedOffsets[i] + timeline.items[i].size);
    if (fixedOffsets[i] >= 0 &&
        std::all_of(begin, end, [&](int64_t top) { return top == fixedOffsets[i]; }))
      std::fill(begin, end, fixedOffsets[i] + timeline.items[i].size);
    else
      rest.push_back(i);
  }
  std::sort(rest.begin(), rest.end());
  for (int32_t i : rest) {
    const Stretch &stretch = timeline.stretches(i).front();
    SearchItem item;
    item.first = stretch.first;
    item.last = stretch.last;
    item.size = timeline.items[i].size / unit;
    item.alignment = std::max<int64_t>(1, problem.buffers[i].alignmentBytes / unit);
    int64_t lowest =
        *std::max_element(floor.begin() + stretch.first, floor.begin() + stretch.last) / unit;
    item.lowest = fixedOffsets[i] >= 0
                      ? fixedOffsets[i] / unit
                      : (lowest + item.alignment - 1) / item.alignment * item.alignment;
    base.items.push_back(item);
    inputIndex.push_back(i);
  }
  usable = true;
}

/// The search for one capacity, in bytes; none where a buffer alone does not fit.
std::unique_ptr<ConflictSearch> ExactDescent::makeSearch(int64_t capacity, bool mirrored) const {
  SearchProblem copy = base;
  copy.capacity = capacity / unit;
  if (copy.capacity * unit < pinnedTop)
    return nullptr;
  for (size_t i = 0; i < copy.items.size(); ++i) {
    SearchItem &item = copy.items[i];
    item.highest = copy.capacity - item.size;
    if (mirrored)
      std::tie(item.first, item.last) =
          std::pair(copy.sections - item.last, copy.sections - item.first);
    if (item.lowest > item.highest)
      return nullptr;
    if (fixedOffsets[inputIndex[i]] >= 0)
      item.highest = item.lowest;
  }
  return makeConflictSearch(copy);
}

Verdict ExactDescent::search(ConflictSearch *search, int64_t work, Incumbent &best,
                             const std::function<bool()> &stop) {
  if (!search)
    return Verdict::Impossible;
  int64_t before = search->nodesSpent();
  Verdict verdict = search->run(std::max<int64_t>(work / search->stepsPerNode(), 1), stop);
  stepCount += (search->nodesSpent() - before) * search->stepsPerNode();
  if (verdict == Verdict::Packed) {
    std::vector<int64_t> offsets = fixedOffsets, found = search->offsets();
    for (size_t i = 0; i < found.size(); ++i)
      offsets[inputIndex[i]] = found[i] * unit;
    int64_t height = 0;
    for (size_t i = 0; i < offsets.size(); ++i)
      height = std::max(height, offsets[i] + timeline.items[i].size);
    if (height < best.height)
      best = {std::move(offsets), height};
  }
  return verdict;
}

bool ExactDescent::reach(int64_t capacity, int64_t bound, Incumbent &best, int64_t work,
                         const std::function<bool()> &stop) {
  // With much room above the bound a search may get lost where one with less does not, or one
  // that runs through time backwards: these are tried too, in turns.
  std::vector<int64_t> capacities = {capacity};
  for (int64_t eighths = 1; eighths <= kTighter; ++eighths) {
    int64_t lower = (capacity - (capacity - bound) / 8 * eighths) / unit;
    if (lower < capacities.back() / unit)
      capacities.push_back(lower * unit);
  }
  std::vector<std::unique_ptr<ConflictSearch>> searches(2 * capacities.size());
  int64_t end = stepCount + work;
  for (int64_t turn = 0; stepCount < end && !stop(); ++turn) {
    size_t k = turn % int64_t(searches.size());
    if (turn < int64_t(searches.size()))
      searches[k] = makeSearch(capacities[k / 2], /*mirrored=*/k % 2);
    if (!searches[k] && k > 0)
      continue;
    int64_t share = searches[k] ? kTurnRestarts * searches[k]->stepsPerRestart() : 0;
    Verdict verdict = search(searches[k].get(), std::min(share, end - stepCount), best, stop);
    if (verdict == Verdict::Packed)
      return true;
    if (verdict == Verdict::Impossible) {
      if (k < 2)
        return false;
      searches[k].reset();
    }
  }
  return true;
}

void ExactDescent::descend(Incumbent &best, int64_t &proved, int64_t work,
                           const std::function<bool()> &stop) {
  int64_t end = stepCount + work;
  auto settled = [&] { return best.height <= proved || stepCount >= end || stop(); };
  // One capacity; true where the packing is lower now.
  auto attempt = [&](ConflictSearch *at, int64_t capacity, int64_t budget) {
    Verdict verdict = search(at, std::min(budget, end - stepCount), best, stop);
    if (verdict == Verdict::Impossible)
      proved = std::min(std::max(proved, capacity / unit * unit + unit), best.height);
    return verdict == Verdict::Packed;
  };
  // A packing at the bound may take longer than any turn below; lower ones than the best come
  // sooner.
  if (lowest && lowestCapacity == proved)
    attempt(lowest.get(), lowestCapacity, work / 3);
  for (int64_t budget = std::max<int64_t>(work / 32, 1); !settled(); budget *= 2) {
    if (lowestCapacity != proved) {
      lowestCapacity = proved;
      lowest = makeSearch(proved);
    }
    attempt(lowest.get(), lowestCapacity, budget);
    for (int64_t low = proved / unit, high = best.height / unit; high - low > 1 && !settled();) {
      int64_t middle = low + (high - low) / 2;
      std::unique_ptr<ConflictSearch> between = makeSearch(middle * unit);
      if (attempt(between.get(), middle * unit, budget))
        high = best.height / unit;
      else
        low = std::max(middle, proved / unit);
    }
  }
}

} // namespace zero::planning::arena
