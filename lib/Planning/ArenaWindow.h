//===- ArenaWindow.h - the fullest sections first ------------------------===//
//
// Around the fullest section few buffers begin or end; most are alive all the while.
// A window is the longest row of sections about it that are nearly as full. What is
// alive all through it lies on the bottom, side by side. What begins or ends in it is
// packed on top of that: a small problem of its own, for the exact search. All others
// flow around these two. Where one of them finds no room, the fullest section of its
// life gets a window too.
//
// Inside the first window nothing is lost: in any packing, what is alive all through
// can be sunk to the bottom while the others keep their order. Nor do the two meet
// elsewhere: of intervals of time that meet in pairs, all three share a moment
// (Helly), so what meets within its whole life, and meets the window, meets in it.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_ARENAWINDOW_H
#define ZERO_LIB_PLANNING_ARENAWINDOW_H

#include "ArenaPortfolio.h"

#include <optional>

namespace zero::planning::arena {

class WindowSearch {
public:
  /// `packing` says where the persistent buffers lie.
  WindowSearch(const Problem &problem, const Timeline &timeline, Portfolio &portfolio,
               const Incumbent &packing);

  /// False for gaps and fixed offsets.
  bool applies() const { return usable; }

  /// Looks for a packing no higher than `goal` in windows that widen, until the portfolio has
  /// taken `work` steps or `stop` is true. False is a proof that there is none: one alignment
  /// holds for all, and the exact search has exhausted a window.
  bool run(Incumbent &best, int64_t goal, int64_t work, const std::function<bool()> &stop);

private:
  enum class Arrangement : uint8_t { Length, End, Begin };
  struct Window {
    Stretch sections;
    std::vector<int32_t> through, inside; // alive all through; beginning or ending in it
  };

  /// The section of a buffer's life that is fullest.
  int64_t fullest(const Stretch &life) const;
  Window makeWindow(int64_t section, int64_t lack) const;
  void arrange(std::vector<int32_t> &buffers, Arrangement arrangement) const;
  std::vector<Placed> sink(std::vector<int32_t> through, Arrangement arrangement) const;
  std::optional<std::vector<Placed>> pack(std::span<const int32_t> buffers,
                                          std::span<const Placed> before, const Stretch &sections,
                                          int64_t floor, int64_t limit, int64_t work,
                                          const std::function<bool()> &stop);
  /// Adds a further window to the core, whose buffers stay where they are; false where no packing
  /// was found.
  bool extend(std::vector<Placed> &core, const Window &window, int64_t limit, int64_t work,
              const std::function<bool()> &stop);

  const Problem &problem;
  const Timeline &timeline;
  Portfolio &portfolio;
  int64_t pinnedTop = 0; // of persistent buffers
  bool usable = false;
  bool oneAlignment = true; // the timeline's unit, for all
  bool isExhausted = false; // the window packed last has no packing
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAWINDOW_H
