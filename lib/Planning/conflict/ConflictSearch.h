//===- ConflictSearch.h - an exact search for one capacity ---------------===//
//
// Do these buffers fit below this capacity? The search builds packings from
// below. In a packing where nothing can fall, some buffer is the lowest among
// the unplaced ones that it overlaps, and lies at its lower bound, the highest
// top of what is placed under it. So a state splits in two for any buffer b:
//
//   b is the lowest of its conflict set: it is placed, and everything that
//     overlaps it lies on its top or higher;
//   b is not: it lies on the top of some other of the set, or higher.
//
// (The conflict sets of Giffler and Thompson, "Algorithms for Solving
// Production-Scheduling Problems", 1960, with sections as machines.) Each packing
// is met once, and the two halves leave nothing out, so that a finished search
// without a packing is a proof that there is none.
//
// Restarts over static, random and learned orders share a table of failed
// states: the unplaced buffers, their lower bounds, and which are known not to
// be the lowest.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_CONFLICTSEARCH_H
#define ZERO_LIB_PLANNING_CONFLICT_CONFLICTSEARCH_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace zero::planning::arena {

/// A buffer of the search: alive in the sections [first, last), anywhere in
/// [lowest, highest] that is a multiple of `alignment`, a power of two. All in
/// units; lowest and highest are equal for one that is fixed.
struct SearchItem {
  int32_t first = 0, last = 0;
  int64_t size = 0;
  int64_t lowest = 0, highest = 0;
  int64_t alignment = 1;
};

struct SearchProblem {
  std::vector<SearchItem> items;
  int32_t sections = 0;
  int64_t capacity = 0; ///< every item has highest ≤ capacity − size
};

/// The widest instructions that the search may use; the packings are the same.
enum class SearchIsa : uint8_t { Baseline, Avx2, Avx512 };
bool supported(SearchIsa isa);
SearchIsa bestIsa();

enum class Verdict : uint8_t {
  Packed,
  Impossible, ///< the whole tree was searched: there is no packing
  Unknown     ///< out of nodes
};

class ConflictSearch {
public:
  virtual ~ConflictSearch() = default;

  /// Searches on, for about `nodes` more states; `interrupted` is asked between
  /// restarts. The same calls without interruption give the same packing.
  virtual Verdict run(int64_t nodes, const std::function<bool()> &interrupted = {}) = 0;

  /// Of the items, after Packed.
  virtual std::vector<int64_t> offsets() const = 0;
  virtual int64_t nodesSpent() const = 0;

  /// What a state costs, in steps of the hole tree.
  virtual int64_t stepsPerNode() const = 0;
  virtual int64_t stepsPerRestart() const = 0;
};

/// At most this many items; and capacity below 2^62.
inline constexpr int64_t kMaxSearchItems = 2048;

std::unique_ptr<ConflictSearch> makeConflictSearch(const SearchProblem &problem,
                                                   SearchIsa isa = bestIsa());

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_CONFLICTSEARCH_H
