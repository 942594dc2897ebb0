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

ExactDescent::ExactDescent(const Problem &problem, const Timeline &timeline,
                           const Incumbent &packing)
    : problem(problem), timeline(timeline), fixedOffsets(problem.buffers.size(), -1) {
  int64_t count = problem.buffers.size();
  if (count == 0 || count > kMaxSearchItems)
    return;
  for (int64_t i = 0; i < count; ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (timeline.items[i].stretchCount != 1)
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
  int64_t sizes = unit;
  for (const Buffer &buffer : problem.buffers)
    if (sizes % buffer.alignmentBytes != 0)
      unit = std::gcd(unit, buffer.alignmentBytes);
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

Verdict ExactDescent::search(int64_t capacity, int64_t work, Incumbent &best,
                             const std::function<bool()> &stop) {
  capacity /= unit;
  if (capacity * unit < pinnedTop)
    return Verdict::Impossible;
  std::unique_ptr<ConflictSearch> fresh;
  if (capacity != goalCapacity) {
    SearchProblem copy = base;
    copy.capacity = capacity;
    for (size_t i = 0; i < copy.items.size(); ++i) {
      SearchItem &item = copy.items[i];
      item.highest = capacity - item.size;
      if (item.lowest > item.highest)
        return Verdict::Impossible;
      if (fixedOffsets[inputIndex[i]] >= 0)
        item.highest = item.lowest;
    }
    fresh = makeConflictSearch(copy);
  }
  ConflictSearch &search = fresh ? *fresh : *goalSearch;
  int64_t before = search.nodesSpent();
  Verdict verdict = search.run(std::max<int64_t>(work / search.stepsPerNode(), 1), stop);
  stepCount += (search.nodesSpent() - before) * search.stepsPerNode();
  if (verdict == Verdict::Packed) {
    std::vector<int64_t> offsets = fixedOffsets, found = search.offsets();
    for (size_t i = 0; i < found.size(); ++i)
      offsets[inputIndex[i]] = found[i] * unit;
    int64_t height = 0;
    for (size_t i = 0; i < offsets.size(); ++i)
      height = std::max(height, offsets[i] + timeline.items[i].size);
    if (height < best.height)
      best = {std::move(offsets), height};
  }
  if (fresh && goalCapacity < 0) {
    goalSearch = std::move(fresh);
    goalCapacity = capacity;
  }
  return verdict;
}

void ExactDescent::run(Incumbent &best, int64_t &proved, int64_t goal, bool belowGoal, int64_t work,
                       const std::function<bool()> &stop) {
  auto prove = [&](int64_t capacity) { proved = std::max(proved, capacity / unit * unit + unit); };
  // Nothing is ruled out above the best packing, whatever the rounding says.
  auto settled = [&] { return best.height <= std::max(proved, goal); };
  int64_t end = stepCount + work;
  for (int64_t budget = std::max<int64_t>(work / 32, 1); !settled() && stepCount < end && !stop();
       budget *= 2) {
    int64_t share = belowGoal ? budget : end - stepCount;
    int64_t target = std::max(goal, proved);
    Verdict verdict = search(target, std::min(share, end - stepCount), best, stop);
    if (verdict == Verdict::Impossible) {
      prove(target);
      goalCapacity = -1;
      if (!belowGoal)
        return;
    }
    if (!belowGoal)
      continue;
    for (int64_t low = std::max(goal, proved) / unit, high = best.height / unit;
         high - low > 1 && !settled() && stepCount < end && !stop(); high = best.height / unit) {
      int64_t middle = low + (high - low) / 2;
      verdict = search(middle * unit, std::min(budget, end - stepCount), best, stop);
      if (verdict == Verdict::Impossible)
        prove(middle * unit);
      if (verdict != Verdict::Packed)
        low = middle;
    }
  }
  proved = std::min(proved, best.height);
}

} // namespace zero::planning::arena
