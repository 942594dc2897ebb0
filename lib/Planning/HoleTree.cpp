//===- HoleTree.cpp - which bytes are taken, by time ---------------------===//
//
// See HoleTree.h. Node 1 is the root, 2i and 2i + 1 are the halves of i.
//
//===----------------------------------------------------------------------===//
#include "HoleTree.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace zero::planning::arena {

HoleTree::HoleTree(int64_t sections)
    : width(std::bit_ceil(uint64_t(std::max<int64_t>(sections, 1)))), nodes(2 * width) {}

void HoleTree::clear() {
  for (Node &node : nodes) {
    node.below.clear();
    node.cover.clear();
  }
}

void HoleTree::add(std::vector<Run> &runs, int64_t begin, int64_t end) {
  // The runs from `first` up to `last` touch [begin, end) and become one.
  auto first = std::lower_bound(runs.begin(), runs.end(), begin,
                                [](const Run &run, int64_t value) { return run.end < value; });
  if (first == runs.end() || first->begin > end) {
    stepCount += (runs.end() - first) / 16 + 1;
    runs.insert(first, Run{begin, end});
    return;
  }
  auto last = first;
  while (last != runs.end() && last->begin <= end)
    ++last;
  stepCount += last - first;
  *first = {std::min(begin, first->begin), std::max(end, std::prev(last)->end)};
  runs.erase(std::next(first), last);
}

void HoleTree::collect(const std::vector<Run> &runs) {
  if (!runs.empty())
    cursors.push_back({runs.data(), runs.data() + runs.size()});
}

void HoleTree::collect(size_t node, int64_t lower, int64_t upper, const Stretch &stretch) {
  ++stepCount;
  if (stretch.first <= lower && upper <= stretch.last)
    return collect(nodes[node].below);
  collect(nodes[node].cover);
  int64_t middle = lower + (upper - lower) / 2;
  if (stretch.first < middle)
    collect(2 * node, lower, middle, stretch);
  if (stretch.last > middle)
    collect(2 * node + 1, middle, upper, stretch);
}

void HoleTree::take(size_t node, int64_t lower, int64_t upper, const Stretch &stretch,
                    int64_t begin, int64_t end) {
  stepCount += 2;
  add(nodes[node].below, begin, end);
  if (upper - lower == 1) // nothing covers a part of a section
    return;
  if (stretch.first <= lower && upper <= stretch.last)
    return add(nodes[node].cover, begin, end);
  int64_t middle = lower + (upper - lower) / 2;
  if (stretch.first < middle)
    take(2 * node, lower, middle, stretch, begin, end);
  if (stretch.last > middle)
    take(2 * node + 1, middle, upper, stretch, begin, end);
}

void HoleTree::take(std::span<const Stretch> stretches, int64_t begin, int64_t end) {
  for (const Stretch &stretch : stretches)
    take(1, 0, width, stretch, begin, end);
}

std::optional<int64_t> HoleTree::find(std::span<const Stretch> stretches, int64_t size,
                                      int64_t alignment, int64_t limit, Fit fit, int64_t depth) {
  constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
  cursors.clear();
  for (const Stretch &stretch : stretches)
    collect(1, 0, width, stretch);

  std::optional<int64_t> best;
  int64_t bestHole = kNoEnd;
  int64_t top = 0;
  for (const Cursor &cursor : cursors)
    top = std::max(top, std::prev(cursor.end)->end);
  int64_t bottom = std::max<int64_t>(0, top - depth);
  if (bottom > 0)
    for (Cursor &cursor : cursors)
      cursor.next = std::partition_point(cursor.next, cursor.end,
                                         [&](const Run &run) { return run.end <= bottom; });
  for (int64_t position = bottom;;) {
    // Past everything that is taken at `position`; a raise may uncover more.
    int64_t holeEnd = kNoEnd;
    for (bool raised = true; raised;) {
      raised = false;
      holeEnd = kNoEnd;
      stepCount += cursors.size();
      for (size_t i = 0; i < cursors.size();) {
        Cursor &cursor = cursors[i];
        while (cursor.next != cursor.end && cursor.next->begin <= position) {
          if (cursor.next->end > position) {
            position = cursor.next->end;
            raised = true;
          }
          ++cursor.next;
          ++stepCount;
        }
        if (cursor.next == cursor.end) {
          cursor = cursors.back();
          cursors.pop_back();
          continue;
        }
        holeEnd = std::min(holeEnd, cursor.next->begin);
        ++i;
      }
    }
    int64_t begin = (position + alignment - 1) / alignment * alignment;
    if (begin > limit - size)
      return best;
    if (holeEnd - begin >= size) {
      if (fit == Fit::Lowest)
        return begin;
      if (holeEnd == kNoEnd)
        return best ? best : begin;
      if (holeEnd - position < bestHole) {
        bestHole = holeEnd - position;
        best = begin;
        if (bestHole == size)
          return best;
      }
    }
    if (holeEnd == kNoEnd)
      return best;
    position = holeEnd;
  }
}

} // namespace zero::planning::arena
