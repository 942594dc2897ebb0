//===- SearchOrders.h - in which order a restart tries the buffers -------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_SEARCHORDERS_H
#define ZERO_LIB_PLANNING_CONFLICT_SEARCHORDERS_H

#include "ConflictSearch.h"
#include "Kernel.h"

#include <random>
#include <vector>

namespace zero::planning::arena {

class SearchOrders {
public:
  SearchOrders(const std::vector<SearchItem> &items, int32_t sections);

  struct Choice {
    std::vector<int32_t> order; ///< of the items
    Rule rule;
    First firstBy;
    bool weighted;
  };

  /// First every order with every rule and key, those that solve most first. Then mixtures of
  /// length, size and load by chance, or the items of sections that failed often first.
  Choice next(const std::vector<int32_t> &weight);

private:
  std::vector<int32_t> sorted(const auto &key) const;

  const std::vector<SearchItem> &items;
  std::vector<std::vector<int32_t>> orders;
  std::vector<int64_t> logLength, logSize, logLoad;
  std::mt19937_64 random{1};
  int64_t restart = 0;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_CONFLICT_SEARCHORDERS_H
