//===- HoleTree.h - which bytes are taken, by time -----------------------===//
//
// A segment tree over the sections of a timeline. A node keeps what is taken
// by buffers that cover its whole stretch of time (`cover`) and what is taken
// in parts of it (`inside`), both as merged runs. What is taken at some
// moment of [first, last) is then the union of O(log n) lists, which is walked
// with one cursor a list and never built.
//
// All stretches are known when the tree is made. A node that none of them takes
// as a whole is never asked for `inside`, so it has none; above the highest one
// that is taken as a whole there is no tree. Where lifetimes are short against
// the timeline this leaves a forest of low trees.
//
// Sizes and offsets are in units of the caller. Runs are pairs of 16-bit numbers
// in a low tree, and of 32, 48 or 64 bits in higher ones; lists share one block.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_HOLETREE_H
#define ZERO_LIB_PLANNING_HOLETREE_H

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

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

  virtual ~HoleTree() = default;

  /// Nothing that is taken ends higher.
  virtual int64_t top() const = 0;

  /// Empties the arena; keeps the memory of the lists.
  virtual void clear() = 0;

  /// The offset at which `size` is free all through `stretches`, with
  /// offset + size ≤ limit; nothing where there is none. Holes further than
  /// `depth` below the highest unit taken in that time are left out.
  virtual std::optional<int64_t> find(std::span<const Stretch> stretches, int64_t size,
                                      int64_t alignment, int64_t limit, Fit fit,
                                      int64_t depth = kAllHoles) = 0;

  /// Takes [begin, end) all through `stretches`.
  virtual void take(std::span<const Stretch> stretches, int64_t begin, int64_t end) = 0;

  /// Brings what `find` will need of one stretch near: first the nodes, and a few calls later,
  /// when these have come, their lists.
  virtual void prefetchNodes(const Stretch &stretch) const = 0;
  virtual void prefetchLists(const Stretch &stretch) const = 0;

  /// Steps taken so far: the measure of time that is the same everywhere.
  int64_t steps() const { return stepCount; }

protected:
  int64_t stepCount = 0;
};

/// A tree for these stretches, and no others, as high as `top` or higher.
std::unique_ptr<HoleTree> makeHoleTree(int64_t sections, std::span<const Stretch> stretches,
                                       int64_t top);

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_HOLETREE_H
