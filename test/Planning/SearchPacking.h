//===- SearchPacking.h - what the tests of the exact search share --------===//
#ifndef ZERO_TEST_PLANNING_SEARCHPACKING_H
#define ZERO_TEST_PLANNING_SEARCHPACKING_H

#include "conflict/ConflictSearch.h"

namespace zero::planning::arena {

inline constexpr SearchIsa kIsas[] = {SearchIsa::Baseline, SearchIsa::Avx2, SearchIsa::Avx512};

inline bool meet(const SearchItem &a, const SearchItem &b) {
  return a.first < b.last && b.first < a.last;
}

/// True where every pair that meets in time is apart in bytes, and all are in their ranges.
inline bool isPacking(const SearchProblem &problem, const std::vector<int64_t> &offsets) {
  for (size_t i = 0; i < problem.items.size(); ++i) {
    const SearchItem &a = problem.items[i];
    if (offsets[i] < a.lowest || offsets[i] > a.highest || offsets[i] % a.alignment != 0)
      return false;
    for (size_t j = 0; j < i; ++j) {
      const SearchItem &b = problem.items[j];
      if (meet(a, b) && offsets[i] < offsets[j] + b.size && offsets[j] < offsets[i] + a.size)
        return false;
    }
  }
  return true;
}

} // namespace zero::planning::arena

#endif // ZERO_TEST_PLANNING_SEARCHPACKING_H
