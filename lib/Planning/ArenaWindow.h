//===- ArenaWindow.h - the peak's surroundings first ---------------------===//
//
// Around the fullest section few buffers begin or end; most are alive all the while.
// A window is the longest row of sections about the peak that are nearly as full.
// What is alive all through it lies on the bottom, side by side. What begins or
// ends in it is packed on top of that: a small problem of its own, for the exact
// search. Every other buffer then flows around these two.
//
// Inside the window nothing is lost: in any packing, what is alive all through can
// be sunk to the bottom while the others keep their order. Nor do the two meet
// elsewhere: of intervals of time that meet in pairs, all three share a moment
// (Helly), so what meets within its whole life, and meets the window, meets in it.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_ARENAWINDOW_H
#define ZERO_LIB_PLANNING_ARENAWINDOW_H

#include "ArenaPortfolio.h"

namespace zero::planning::arena {

class WindowSearch {
public:
  /// `packing` says where the persistent buffers lie.
  WindowSearch(const Problem &problem, const Timeline &timeline, Portfolio &portfolio,
               const Incumbent &packing);

  /// False for gaps and fixed offsets.
  bool applies() const { return usable; }

  /// Looks for a packing no higher than `goal` in windows that widen, until the portfolio has
  /// taken `work` steps or `stop` is true.
  void run(Incumbent &best, int64_t goal, int64_t work, const std::function<bool()> &stop);

private:
  struct Window {
    Stretch sections;
    std::vector<int32_t> through, inside; // alive all through; beginning or ending in it
  };

  Window makeWindow(int64_t leastLoad) const;
  /// Where the buffers of `inside` lie above `floor`; nothing where no packing was found.
  std::vector<Placed> pack(const Window &window, int64_t floor, int64_t limit, int64_t work,
                           const std::function<bool()> &stop);

  const Problem &problem;
  const Timeline &timeline;
  Portfolio &portfolio;
  int64_t peak = 0;      // the first of the fullest sections
  int64_t pinnedTop = 0; // of persistent buffers
  bool usable = false;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAWINDOW_H
