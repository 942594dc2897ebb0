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
    int64_t size = 0;     // rounded up to the unit
    int64_t peakLoad = 0; // bytes alive at the fullest section of its life
    int32_t firstStretch = 0, stretchCount = 0;
    int32_t length = 0;  // sections alive
    bool atPeak = false; // alive at the fullest section of all, the first of equals
  };

  explicit Timeline(const Problem &problem);

  std::span<const Stretch> stretches(int64_t item) const {
    return {stretchList.data() + items[item].firstStretch, size_t(items[item].stretchCount)};
  }

  int64_t unit = 1; // the greatest common divisor of all alignments
  int64_t sections = 0;
  std::vector<Item> items; // in the problem's order
  std::vector<Stretch> stretchList;

private:
  void compress(const Problem &problem);
  void measure(const Problem &problem);
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENATIMELINE_H
