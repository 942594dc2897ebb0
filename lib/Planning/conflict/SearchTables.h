//===- SearchTables.h - a problem as the kernels read it -----------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_SEARCHTABLES_H
#define ZERO_LIB_PLANNING_CONFLICT_SEARCHTABLES_H

#include "ConflictSearch.h"
#include "Kernel.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace zero::planning::arena {

/// Zeroed memory that starts at a whole vector.
template <typename T> class Aligned {
  static constexpr std::align_val_t kVectorBytes{64};

public:
  explicit Aligned(int64_t count, bool zeroed = true)
      : data(
            static_cast<T *>(operator new(std::max<int64_t>(count, 1) * sizeof(T), kVectorBytes))) {
    if (zeroed)
      std::fill_n(data, count, T());
  }
  Aligned(Aligned &&other) noexcept : data(std::exchange(other.data, nullptr)) {}
  Aligned &operator=(Aligned &&other) noexcept {
    std::swap(data, other.data);
    return *this;
  }
  Aligned(const Aligned &) = delete;
  Aligned &operator=(const Aligned &) = delete;
  ~Aligned() { operator delete(data, kVectorBytes); }
  T *get() const { return data; }
  T &operator[](int64_t i) const { return data[i]; }

private:
  T *data;
};

/// The context of one search, and all it points to. Its items are the problem's in another order:
/// long-lived ones first, the others by time, so that few groups meet a section.
template <typename Lane> class SearchTables {
  static constexpr int64_t kLanes = 64 / sizeof(Lane);
  static constexpr Lane kPlaced = std::numeric_limits<Lane>::max();

public:
  SearchTables(const SearchProblem &problem, SearchIsa isa);
  SearchTables(const SearchTables &) = delete;
  SearchTables &operator=(const SearchTables &) = delete;

  /// The root's state; false where it shows that there is no packing.
  bool start();

  /// Room in the table of failed states for what one more restart can add, up to the limit; there
  /// it begins anew.
  void growTable();

  /// Of the problem's items, from `context.offset`.
  std::vector<int64_t> offsets() const;

  const Kernel<Lane> &kernel;
  const int64_t count; ///< items
  std::vector<SearchItem> items;
  std::vector<int32_t> byRank, weight, inverseWeight; ///< of items, sections, sections
  Aligned<Lane> rank;
  Context<Lane> context = {};

private:
  void sortItems(const SearchProblem &problem);
  void fillLanes();
  void linkGroups();

  const int64_t laneCount; // the items, padded to whole groups
  std::vector<int32_t> inputIndex;
  Aligned<Lane> first, last, size, highest, alignmentMask, offset, lowest;
  std::vector<int32_t> sectionGroupsBegin, itemGroupsBegin, nextTwin, ranges;
  std::vector<uint16_t> sectionGroups, itemGroups;
  std::vector<uint64_t> dirty;
  std::vector<FailedState> trail, table;
  Aligned<Lane> states;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_SEARCHTABLES_H
