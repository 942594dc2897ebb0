//===- HoleTree.cpp - which bytes are taken, by time ---------------------===//
//
// See HoleTree.h. Node i of level l stands for F = 2^(l · kFan) sections from i · F.
// A stretch splits into the highest nodes that lie in it; their ancestors that do
// not are visited as well.
//
// Most of the time goes into memory that is not in the cache. So lists take 8 bytes
// and share one block, and both are asked for in advance.
//
//===----------------------------------------------------------------------===//
#include "HoleTree.h"

#include "RunLists.h"

#include <algorithm>
#include <array>
#include <vector>

namespace zero::planning::arena {
namespace {

/// Nodes have 2^kFan children: few levels to touch when something is taken, against more lists to
/// walk together when a hole is looked for.
constexpr int kFan = 2;
constexpr uint32_t kFanMask = (1u << kFan) - 1;
constexpr int kMaxLevels = 32 / kFan; // sections are counted in 31 bits

template <typename Word> class Tree final : public HoleTree {
public:
  static constexpr int64_t kTop =
      sizeof(Word) == 8 ? kAllHoles : (int64_t(1) << 8 * sizeof(Word) % 64) - 2;

  Tree(int64_t sections, std::span<const Stretch> stretches);

  int64_t top() const override { return kTop; }
  void clear() override { lists.clear(); }
  std::optional<int64_t> find(std::span<const Stretch> stretches, int64_t size, int64_t alignment,
                              int64_t limit, Fit fit, int64_t depth) override;
  void take(std::span<const Stretch> stretches, int64_t begin, int64_t end) override;
  void prefetchNodes(const Stretch &stretch) const override;
  void prefetchLists(const Stretch &stretch) const override;

private:
  struct Cursor {
    const Run<Word> *next, *end;
  };

  /// What covers a node whole, and what is taken in parts of it.
  size_t cover(int level, uint32_t index) const {
    return base[level] + (level > 0 ? 2 * size_t(index) : index);
  }
  size_t inside(int level, uint32_t index) const { return cover(level, index) + 1; }

  /// `whole(level, index)` for the nodes that the stretch splits into, `part(level, index)` for
  /// their ancestors, below `levels`.
  template <typename Whole, typename Part>
  void visit(const Stretch &stretch, Whole whole, Part part) const;

  void add(size_t list, int64_t begin, int64_t end);

  int levels = 0; // with nodes that some stretch takes as a whole at the highest
  std::array<size_t, kMaxLevels + 1> base = {};
  RunLists<Word> lists;
  std::vector<Cursor> cursors;
};

template <typename Word>
template <typename Whole, typename Part>
void Tree<Word>::visit(const Stretch &stretch, Whole whole, Part part) const {
  uint32_t first = uint32_t(stretch.first), last = uint32_t(stretch.last);
  int level = 0;
  for (uint32_t from = first, to = last; from < to; ++level, from >>= kFan, to >>= kFan) {
    while (from < to && (from & kFanMask))
      whole(level, from++);
    while (from < to && (to & kFanMask))
      whole(level, --to);
  }
  // Ends of the stretch that do not fall on a node's.
  for (int above = 1; above < levels; ++above) {
    int shift = above * kFan;
    uint32_t left = first >> shift, right = (last - 1) >> shift, mask = (1u << shift) - 1;
    bool leftCut = (first & mask) != 0, rightCut = (last & mask) != 0;
    if (left == right) {
      if (leftCut || rightCut)
        part(above, left);
      continue;
    }
    if (leftCut)
      part(above, left);
    if (rightCut)
      part(above, right);
  }
}

template <typename Word> Tree<Word>::Tree(int64_t sections, std::span<const Stretch> stretches) {
  for (const Stretch &stretch : stretches)
    visit(
        stretch, [&](int level, uint32_t) { levels = std::max(levels, level + 1); },
        [](int, uint32_t) {});
  size_t count = 0;
  for (int level = 0; level < levels; ++level) {
    base[level] = count;
    count += size_t((sections >> (level * kFan)) + 1) * (level > 0 ? 2 : 1);
  }
  lists.resize(count);
  for (const Stretch &stretch : stretches)
    visit(
        stretch,
        [&](int level, uint32_t index) {
          lists.open(cover(level, index));
          if (level > 0) // nothing is taken in a part of a section
            lists.open(inside(level, index));
        },
        [](int, uint32_t) {});
}

template <typename Word> void Tree<Word>::add(size_t list, int64_t begin, int64_t end) {
  // The runs from `first` up to `last` touch [begin, end) and become one.
  Run<Word> *from = lists.begin(list), *to = lists.end(list);
  Run<Word> *first = std::lower_bound(from, to, begin, [](const Run<Word> &run, int64_t value) {
    return int64_t(run.end) < value;
  });
  if (first == to || int64_t(first->begin) > end) {
    int64_t moved = to - first;
    stepCount += moved / 16 + 1;
    lists.lengthen(list);
    first = lists.end(list) - moved - 1;
    std::memmove(first + 1, first, size_t(moved) * sizeof(Run<Word>));
    *first = {Word(begin), Word(end)};
    return;
  }
  Run<Word> *last = first;
  while (last != to && int64_t(last->begin) <= end)
    ++last;
  stepCount += last - first;
  *first = {Word(std::min(begin, int64_t(first->begin))),
            Word(std::max(end, int64_t((last - 1)->end)))};
  std::memmove(first + 1, last, size_t(to - last) * sizeof(Run<Word>));
  lists.shorten(list, size_t(last - first - 1));
}

template <typename Word>
void Tree<Word>::take(std::span<const Stretch> stretches, int64_t begin, int64_t end) {
  for (const Stretch &stretch : stretches)
    visit(
        stretch,
        [&](int level, uint32_t index) {
          stepCount += 2;
          add(cover(level, index), begin, end);
        },
        [&](int level, uint32_t index) {
          stepCount += 2;
          if (lists.isOpen(inside(level, index)))
            add(inside(level, index), begin, end);
        });
}

template <typename Word> void Tree<Word>::prefetchNodes(const Stretch &stretch) const {
  for (int level = 0; level < levels; ++level)
    lists.prefetchList(cover(level, uint32_t(stretch.first) >> (level * kFan)));
}

template <typename Word> void Tree<Word>::prefetchLists(const Stretch &stretch) const {
  auto both = [&](int level, uint32_t index) {
    lists.prefetchRuns(cover(level, index));
    if (level > 0)
      lists.prefetchRuns(inside(level, index));
  };
  visit(stretch, both, both);
}

template <typename Word>
std::optional<int64_t> Tree<Word>::find(std::span<const Stretch> stretches, int64_t size,
                                        int64_t alignment, int64_t limit, Fit fit, int64_t depth) {
  constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
  cursors.clear();
  auto collect = [&](size_t list) {
    ++stepCount;
    if (lists.size(list) > 0)
      cursors.push_back({lists.begin(list), lists.end(list)});
  };
  for (const Stretch &stretch : stretches)
    visit(
        stretch,
        [&](int level, uint32_t index) {
          if (level > 0)
            collect(inside(level, index));
          collect(cover(level, index));
        },
        [&](int level, uint32_t index) { collect(cover(level, index)); });

  std::optional<int64_t> best;
  int64_t bestHole = kNoEnd;
  int64_t top = 0;
  for (const Cursor &cursor : cursors)
    top = std::max(top, int64_t((cursor.end - 1)->end));
  int64_t bottom = std::max<int64_t>(0, top - depth);
  if (bottom > 0)
    for (Cursor &cursor : cursors)
      cursor.next = std::partition_point(cursor.next, cursor.end, [&](const Run<Word> &run) {
        return int64_t(run.end) <= bottom;
      });
  std::erase_if(cursors, [](const Cursor &cursor) { return cursor.next == cursor.end; });
  auto aligned = [&](int64_t position) {
    return alignment == 1 ? position : (position + alignment - 1) / alignment * alignment;
  };
  int64_t position = 0, begin = 0, need = 0;
  auto raise = [&](int64_t to) {
    position = to;
    begin = aligned(to);
    need = begin + size;
  };
  for (raise(bottom);;) {
    // The lists are asked in turns, until all of them in a row leave room at `begin`. What is too
    // low for `size` in one list alone is no hole, whatever the others say.
    for (size_t i = 0, agreeing = 0; agreeing < cursors.size();) {
      if (i >= cursors.size())
        i = 0;
      Cursor &cursor = cursors[i];
      const Run<Word> *next = cursor.next;
      if (int64_t(next->begin) < need) {
        const Run<Word> *from = next;
        do
          ++next;
        while (next != cursor.end && int64_t(next->begin) < need);
        if (int64_t((next - 1)->end) > position) {
          agreeing = 0;
          raise(int64_t((next - 1)->end));
          for (; next != cursor.end && int64_t(next->begin) < need; ++next)
            raise(int64_t(next->end));
          if (need > limit)
            return best;
        }
        stepCount += next - from;
        cursor.next = next;
        if (next == cursor.end) {
          // The last one takes its turn, and is asked again should it have agreed.
          agreeing -= agreeing > i;
          cursor = cursors.back();
          cursors.pop_back();
          continue;
        }
      }
      ++agreeing;
      ++i;
    }
    if (begin > limit - size)
      return best;
    if (fit == Fit::Lowest)
      return begin;
    int64_t holeEnd = kNoEnd;
    for (const Cursor &cursor : cursors)
      holeEnd = std::min(holeEnd, int64_t(cursor.next->begin));
    stepCount += cursors.size();
    if (holeEnd == kNoEnd)
      return best ? best : begin;
    if (holeEnd - position < bestHole) {
      bestHole = holeEnd - position;
      best = begin;
      if (bestHole == size)
        return best;
    }
    raise(holeEnd);
  }
}

} // namespace

std::unique_ptr<HoleTree> makeHoleTree(int64_t sections, std::span<const Stretch> stretches,
                                       int64_t top) {
  if (top <= Tree<uint16_t>::kTop)
    return std::make_unique<Tree<uint16_t>>(sections, stretches);
  if (top <= Tree<uint32_t>::kTop)
    return std::make_unique<Tree<uint32_t>>(sections, stretches);
  if (top <= Tree<Word48>::kTop)
    return std::make_unique<Tree<Word48>>(sections, stretches);
  return std::make_unique<Tree<int64_t>>(sections, stretches);
}

} // namespace zero::planning::arena
