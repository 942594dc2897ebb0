//===- HoleTree.cpp - which bytes are taken, by time ---------------------===//
//
// See HoleTree.h. Node i of level l stands for F = 2^(l · kFan) sections from i · F.
// A stretch splits into the highest nodes that lie in it; their ancestors that do
// not are visited as well.
//
// Most of the time goes into memory that is not in the cache. So nodes are two
// lists of 12 bytes, lists share a pool, and both are asked for in advance.
//
//===----------------------------------------------------------------------===//
#include "HoleTree.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace zero::planning::arena {
namespace {

/// Nodes have 2^kFan children: few levels to touch when something is taken, against more lists to
/// walk together when a hole is looked for.
constexpr int kFan = 2;
constexpr uint32_t kFanMask = (1u << kFan) - 1;
constexpr int kMaxLevels = 32 / kFan; // sections are counted in 31 bits

template <typename Word> struct Run {
  Word begin, end;
};

/// Lists of runs in one block of memory, with room for 4, 6, 8, 12, 16 and so on; what a
/// list leaves when it grows is the next one's.
template <typename Word> class Pool {
public:
  struct List {
    uint32_t at = 0, size = 0;
    uint8_t rank = 0; // of its room
    bool used = false;
  };

  Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;
  ~Pool() { std::free(memory); }

  Run<Word> *begin(const List &list) const { return memory + list.at; }
  Run<Word> *end(const List &list) const { return memory + list.at + list.size; }

  /// Makes room for one more.
  void grow(List &list) {
    if (list.size < roomOf(list.rank))
      return;
    uint8_t rank = list.rank + 1;
    uint32_t at = 0;
    if (vacant[rank].empty()) {
      at = claim(roomOf(rank));
    } else {
      at = vacant[rank].back();
      vacant[rank].pop_back();
    }
    std::memcpy(memory + at, memory + list.at, list.size * sizeof(Run<Word>));
    if (list.rank > 0)
      vacant[list.rank].push_back(list.at);
    list.at = at;
    list.rank = rank;
  }

private:
  static uint32_t roomOf(uint8_t rank) {
    return rank == 0 ? 0 : uint32_t(3 - rank % 2) << ((rank + 1) / 2);
  }

  uint32_t claim(uint32_t count) {
    if (room - size < count) {
      // Grown in place by the system, where it can; what is not touched takes no memory.
      room = std::max<size_t>(room + room / 2, size + count + 1024);
      auto *grown = static_cast<Run<Word> *>(std::realloc(memory, room * sizeof(Run<Word>)));
      if (!grown)
        throw std::bad_alloc();
      memory = grown;
    }
    size += count;
    return uint32_t(size - count);
  }

  Run<Word> *memory = nullptr;
  size_t size = 0, room = 0;
  std::array<std::vector<uint32_t>, 64> vacant;
};

template <typename Word> class Tree final : public HoleTree {
public:
  Tree(int64_t sections, std::span<const Stretch> stretches);

  int64_t top() const override { return kTop; }
  void clear() override {
    for (Node &node : nodes)
      node.below.size = node.cover.size = 0;
  }
  std::optional<int64_t> find(std::span<const Stretch> stretches, int64_t size, int64_t alignment,
                              int64_t limit, Fit fit, int64_t depth) override;
  void take(std::span<const Stretch> stretches, int64_t begin, int64_t end) override;
  void prefetchNodes(const Stretch &stretch) const override;
  void prefetchLists(const Stretch &stretch) const override;

private:
  static constexpr int64_t kTop =
      int64_t(std::min<uint64_t>(std::numeric_limits<Word>::max() - 1, kAllHoles));

  using List = typename Pool<Word>::List;
  struct Node {
    List below, cover;
  };
  struct Cursor {
    const Run<Word> *next, *end;
  };

  Node &node(int level, uint32_t index) { return nodes[base[level] + index]; }
  const Node &node(int level, uint32_t index) const { return nodes[base[level] + index]; }

  /// `whole(level, index)` for the nodes that the stretch splits into, `part(level, index)` for
  /// their ancestors, below `levels`.
  template <typename Whole, typename Part>
  void visit(const Stretch &stretch, Whole whole, Part part) const;

  void add(List &list, Word begin, Word end);

  int levels = 0; // with nodes that some stretch takes as a whole at the highest
  std::array<size_t, kMaxLevels + 1> base = {};
  std::vector<Node> nodes;
  Pool<Word> pool;
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
    count += size_t((sections >> (level * kFan)) + 1);
  }
  nodes.resize(count);
  for (const Stretch &stretch : stretches)
    visit(
        stretch, [&](int level, uint32_t index) { node(level, index).below.used = true; },
        [](int, uint32_t) {});
}

template <typename Word> void Tree<Word>::add(List &list, Word begin, Word end) {
  // The runs from `first` up to `last` touch [begin, end) and become one.
  Run<Word> *from = pool.begin(list), *to = from + list.size;
  Run<Word> *first = std::lower_bound(
      from, to, begin, [](const Run<Word> &run, Word value) { return run.end < value; });
  if (first == to || first->begin > end) {
    int64_t moved = to - first;
    stepCount += moved / 16 + 1;
    pool.grow(list);
    first = pool.end(list) - moved;
    std::memmove(first + 1, first, size_t(moved) * sizeof(Run<Word>));
    *first = {begin, end};
    ++list.size;
    return;
  }
  Run<Word> *last = first;
  while (last != to && last->begin <= end)
    ++last;
  stepCount += last - first;
  *first = {std::min(begin, first->begin), std::max(end, (last - 1)->end)};
  std::memmove(first + 1, last, size_t(to - last) * sizeof(Run<Word>));
  list.size -= uint32_t(last - first - 1);
}

template <typename Word>
void Tree<Word>::take(std::span<const Stretch> stretches, int64_t begin, int64_t end) {
  for (const Stretch &stretch : stretches)
    visit(
        stretch,
        [&](int level, uint32_t index) {
          stepCount += 2;
          Node &taken = node(level, index);
          add(taken.below, Word(begin), Word(end));
          if (level > 0) // nothing covers a part of a section
            add(taken.cover, Word(begin), Word(end));
        },
        [&](int level, uint32_t index) {
          stepCount += 2;
          if (Node &touched = node(level, index); touched.below.used)
            add(touched.below, Word(begin), Word(end));
        });
}

template <typename Word> void Tree<Word>::prefetchNodes(const Stretch &stretch) const {
  for (int level = 0; level < levels; ++level)
    __builtin_prefetch(&node(level, uint32_t(stretch.first) >> (level * kFan)), 1);
}

template <typename Word> void Tree<Word>::prefetchLists(const Stretch &stretch) const {
  visit(
      stretch,
      [&](int level, uint32_t index) {
        __builtin_prefetch(pool.begin(node(level, index).below), 1);
        __builtin_prefetch(pool.begin(node(level, index).cover), 1);
      },
      [&](int level, uint32_t index) {
        __builtin_prefetch(pool.begin(node(level, index).below), 1);
        __builtin_prefetch(pool.begin(node(level, index).cover), 1);
      });
}

template <typename Word>
std::optional<int64_t> Tree<Word>::find(std::span<const Stretch> stretches, int64_t size,
                                        int64_t alignment, int64_t limit, Fit fit, int64_t depth) {
  constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
  cursors.clear();
  auto collect = [&](const List &list) {
    ++stepCount;
    if (list.size > 0)
      cursors.push_back({pool.begin(list), pool.end(list)});
  };
  for (const Stretch &stretch : stretches)
    visit(
        stretch, [&](int level, uint32_t index) { collect(node(level, index).below); },
        [&](int level, uint32_t index) { collect(node(level, index).cover); });

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
  for (int64_t position = bottom;;) {
    // Past everything that is taken at `position`; a raise may uncover more.
    int64_t holeEnd = kNoEnd;
    for (bool raised = true; raised;) {
      raised = false;
      holeEnd = kNoEnd;
      stepCount += cursors.size();
      for (size_t i = 0; i < cursors.size();) {
        Cursor &cursor = cursors[i];
        while (cursor.next != cursor.end && int64_t(cursor.next->begin) <= position) {
          if (int64_t(cursor.next->end) > position) {
            position = int64_t(cursor.next->end);
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
        holeEnd = std::min(holeEnd, int64_t(cursor.next->begin));
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

} // namespace

std::unique_ptr<HoleTree> makeHoleTree(int64_t sections, std::span<const Stretch> stretches,
                                       int64_t top) {
  if (top < std::numeric_limits<uint16_t>::max())
    return std::make_unique<Tree<uint16_t>>(sections, stretches);
  if (top < std::numeric_limits<uint32_t>::max())
    return std::make_unique<Tree<uint32_t>>(sections, stretches);
  return std::make_unique<Tree<uint64_t>>(sections, stretches);
}

} // namespace zero::planning::arena
