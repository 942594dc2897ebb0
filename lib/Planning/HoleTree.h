//===- HoleTree.h - which bytes are taken, by time -----------------------===//
//
// A segment tree over the sections of a timeline. A node keeps the bytes taken
// by buffers that cover its whole stretch of time (`cover`) and the bytes taken
// by anything inside it (`below`), both as merged runs. The bytes taken at some
// moment of [first, last) are then the union of O(log n) lists, which is walked
// with one cursor a list and never built.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_HOLETREE_H
#define ZERO_LIB_PLANNING_HOLETREE_H

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace zero::planning::arena {

/// Sections [first, last) of the timeline.
struct Stretch {
  int32_t first = 0, last = 0;
};

class HoleTree {
public:
  enum class Fit : uint8_t {
    Lowest,  ///< the lowest hole that is large enough
    Smallest ///< the smallest such hole, the lowest among equals
  };

  static constexpr int64_t kAllHoles = std::numeric_limits<int64_t>::max();

  explicit HoleTree(int64_t sections);

  /// Empties the arena; keeps the memory of the lists.
  void clear();

  /// The offset at which `size` bytes are free all through `stretches`, with
  /// offset + size ≤ limit; nothing where there is none. Holes further than
  /// `depth` bytes below the highest byte taken in that time are left out.
  std::optional<int64_t> find(std::span<const Stretch> stretches, int64_t size, int64_t alignment,
                              int64_t limit, Fit fit, int64_t depth = kAllHoles);

  /// Takes [begin, end) all through `stretches`.
  void take(std::span<const Stretch> stretches, int64_t begin, int64_t end);

  /// Steps taken so far: the measure of time that is the same everywhere.
  int64_t steps() const { return stepCount; }

private:
  struct Run {
    int64_t begin, end;
  };
  struct Node {
    std::vector<Run> below, cover;
  };
  struct Cursor {
    const Run *next, *end;
  };

  void add(std::vector<Run> &runs, int64_t begin, int64_t end);
  void collect(const std::vector<Run> &runs);
  void collect(size_t node, int64_t lower, int64_t upper, const Stretch &stretch);
  void take(size_t node, int64_t lower, int64_t upper, const Stretch &stretch, int64_t begin,
            int64_t end);

  int64_t width; // a power of two
  std::vector<Node> nodes;
  std::vector<Cursor> cursors;
  int64_t stepCount = 0;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_HOLETREE_H
