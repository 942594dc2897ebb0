//===- ArenaTimeline.h - buffers in sections -----------------------------===//
//
// Times that matter: a section is a maximal set of buffers alive together. Both
// searches, the portfolio and the exact one, see buffers as stretches of sections
// and sizes in whole units.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_ARENATIMELINE_H
#define ZERO_LIB_PLANNING_ARENATIMELINE_H

#include "HoleTree.h"
#include "zero/Planning/Arena.h"

#include <span>

namespace zero::planning::arena {

struct Timeline {
  struct Item {
    int64_t size = 0; // rounded up to the unit
    int32_t firstStretch = 0;
    uint32_t length : 31 = 0, // sections alive
        atPeak : 1 = 0;       // alive at the fullest section of all, the first of equals
  };

  explicit Timeline(const Problem &problem);

  std::span<const Stretch> stretches(int64_t item) const {
    int32_t first = items[item].firstStretch;
    return {stretchList.data() + first, size_t(items[item + 1].firstStretch - first)};
  }

  /// Of each item: bytes alive at the fullest section of its life. O(n + sections · log sections).
  std::vector<int64_t> peakLoads() const;

  int64_t unit = 1; // the greatest common divisor of all alignments
  int64_t sections = 0;
  int64_t peakLoad = 0;      // bytes alive at the fullest section
  std::vector<Item> items;   // in the problem's order, and one that ends the last one's stretches
  std::vector<int64_t> load; // bytes alive, by section
  std::vector<Stretch> stretchList;

private:
  void compress(const Problem &problem);
  void measure(const Problem &problem);
};

/// The largest divisor of `bytes` that each alignment divides or is a multiple of: where all sizes
/// are multiples of `bytes`, offsets can be counted in it, and of an alignment it is enough to know
/// how many of these units it is.
int64_t placingUnit(const Problem &problem, int64_t bytes);

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENATIMELINE_H
