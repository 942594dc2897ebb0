//===- ArenaExact.h - the exact search, capacity by capacity -------------===//
#ifndef ZERO_LIB_PLANNING_ARENAEXACT_H
#define ZERO_LIB_PLANNING_ARENAEXACT_H

#include "ArenaPortfolio.h"
#include "conflict/ConflictSearch.h"

namespace zero::planning::arena {

/// Lowers a packing with the exact search, and raises the bound where it proves that nothing
/// is lower.
class ExactDescent {
public:
  /// `packing` says where the pinned buffers lie.
  ExactDescent(const Problem &problem, const Timeline &timeline, const Incumbent &packing);

  /// False for more than kMaxSearchItems buffers, gaps, and alignments that are not powers of
  /// two times the unit: those are the portfolio's.
  bool applies() const { return usable; }

  /// Looks for a packing no higher than `capacity`. False is a proof that there is none.
  bool reach(int64_t capacity, int64_t bound, Incumbent &best, int64_t work,
             const std::function<bool()> &stop);

  /// Looks for the lowest packing between `proved` and the best, by halving with budgets that
  /// double, until both meet or the work is spent. `proved` rises to the least height not ruled
  /// out. Called again, it goes on with the search at `proved`, for a third of the work.
  void descend(Incumbent &best, int64_t &proved, int64_t work, const std::function<bool()> &stop);

  int64_t steps() const { return stepCount; }

private:
  void build();
  std::unique_ptr<ConflictSearch> makeSearch(int64_t capacity, bool mirrored = false) const;
  Verdict search(ConflictSearch *search, int64_t work, Incumbent &best,
                 const std::function<bool()> &stop);

  const Problem &problem;
  const Timeline &timeline;
  SearchProblem base; // without a capacity
  std::vector<int32_t> inputIndex;
  std::vector<int64_t> fixedOffsets; // of pinned buffers; −1 for the others
  int64_t unit = 1, pinnedTop = 0;
  bool usable = false;
  int64_t stepCount = 0;
  std::unique_ptr<ConflictSearch> lowest; // at `proved`; kept from round to round
  int64_t lowestCapacity = -1;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAEXACT_H
