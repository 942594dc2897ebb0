//===- Arena.h - where each buffer lies in one arena ---------------------===//
//
// Static memory allocation: each buffer is a rectangle, its lifetime wide and
// its size high; the planner chooses how low it hangs, so that no two
// rectangles meet and the tallest top (the height) is small. The lower bound is
// the largest sum of sizes alive at one time.
//
//   lifetimes [0,2) 64 bytes, [1,3) 64 bytes, [2,4) 128 bytes:
//   bound 192 at time 2; offsets 128, 0, 64 reach it.
//
// Unit: every offset is a multiple of the greatest common divisor of all
// alignments, so a buffer takes its size rounded up to that unit, in the bound
// and in the height alike. With one alignment for all, the unit is that.
//
// Buffers that are adjacent or share, directly or through others, are a group. It
// is planned as one block, as high as its members' places, that lives from the
// first moment of any member to the last.
//
// A buffer that lives from INT64_MIN to INT64_MAX is persistent: persistent
// buffers lie at the bottom, in the order in which they are given.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PLANNING_ARENA_H
#define ZERO_PLANNING_ARENA_H

#include "zero/Planning/Seldom.h"
#include "zero/Planning/Status.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zero::planning::arena {

inline constexpr int64_t kTimeBegin = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kTimeEnd = std::numeric_limits<int64_t>::max();

/// Problems whose buffers would take more than this side by side are refused.
inline constexpr int64_t kMaxTotalBytes = int64_t(1) << 60;

/// Half-open, in time.
struct Interval {
  int64_t lower = 0, upper = 0;
};

/// A number or none, in the room of the number, as problems hold millions of them. Any number but
/// INT64_MIN.
class OptionalNumber {
public:
  constexpr OptionalNumber() = default;
  constexpr OptionalNumber(int64_t value) : value(value) {}
  constexpr OptionalNumber(std::nullopt_t) {}
  constexpr OptionalNumber(const std::optional<int64_t> &value) : value(value.value_or(kNone)) {}
  constexpr operator std::optional<int64_t>() const {
    return has_value() ? std::optional(value) : std::nullopt;
  }

  constexpr bool has_value() const { return value != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr int64_t operator*() const { return value; }
  constexpr int64_t value_or(int64_t other) const { return has_value() ? value : other; }
  constexpr void reset() { value = kNone; }
  friend constexpr bool operator==(OptionalNumber, OptionalNumber) = default;

private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  int64_t value = kNone;
};

struct Buffer {
  int64_t id = 0;               ///< unique; names the buffer in messages
  int64_t lower = 0, upper = 0; ///< lifetime, half-open: [lower, upper)
  int64_t sizeBytes = 0;
  int64_t alignmentBytes = 1;              ///< the offset is a multiple of this
  OptionalNumber fixedOffset = {};         ///< the plan must put it there
  Seldom<std::string> name = {};           ///< joins the id in messages
  Seldom<std::vector<Interval>> gaps = {}; ///< inside the lifetime; the bytes are others' then
  OptionalNumber hintOffset = {};          ///< from a file; kept, and free to be ignored

  /// Arenas apart from each other, such as a device's and its host's: buffers of different
  /// spaces never meet, and each space has offsets from 0.
  int64_t space = 0;
  /// Lies directly behind the buffer with this id, as near as its alignment, and those of buffers
  /// that share with it, allow.
  OptionalNumber adjacentTo = {};
  /// Lies at the offset of the buffer with this id, on the same bytes.
  OptionalNumber sharesWith = {};

  bool isPersistent() const { return lower == kTimeBegin && upper == kTimeEnd; }
};

struct Problem {
  std::vector<Buffer> buffers = {};
  std::optional<int64_t> capacityBytes = {}; ///< of each space; the first plan this low will do
  /// Where a file has ids that are no numbers: the text of each id from 0 on. Null where each id
  /// is its own text.
  std::shared_ptr<const std::vector<std::string>> idTexts = {};

  std::string idText(int64_t id) const;
};

using planning::name;
using planning::Status;

struct SpacePlan {
  int64_t space = 0;
  int64_t heightBytes = 0, lowerBoundBytes = 0, provedBytes = 0;
};

struct Plan {
  std::vector<int64_t> offsets; ///< bytes, one a buffer, in the problem's order
  int64_t heightBytes = 0;      ///< the tallest top, rounded up to the unit
  int64_t lowerBoundBytes = 0;
  /// No plan is lower than this: the lower bound, or more where the exact search has
  /// exhausted all packings below. `verify` checks that it is no less than the bound and no
  /// more than the height; that nothing lies between, it takes on trust.
  int64_t provedBytes = 0;
  /// Infeasible and Unknown plans hold the lowest packing that was found, which
  /// is above the capacity.
  Status status = Status::Unknown;
  /// Where there are several spaces, one entry each, in rising order; the figures above are
  /// sums over them then.
  std::vector<SpacePlan> spaces = {};
};

/// How long to look. Counted in steps and never in seconds, so that the same
/// problem gets the same plan on every machine.
struct Options {
  /// Variants and repairs tried after the portfolio, where the exact search does not apply.
  /// Zero stops after the portfolio and its windows.
  int64_t iterations = 2000;
  /// Steps over taken bytes before the search stops (some 60 to 100 million a second; a state
  /// of the exact search counts as so many as take its time). The first order and best fit by
  /// size go on to their end, so that there is always a plan; past 120 million steps of its
  /// own an order looks near the top only. More than the default is spent in rounds: the first
  /// is what the default does, each further one goes on from its packing, up to twice as many
  /// steps. So more work never gives a higher plan than the default, and what is stopped after
  /// as long gives none either. Within a capacity, up to 2,048 buffers in one space have one round.
  int64_t work = 100'000'000;
  /// Orders of the portfolio that are tried at once. The plan does not depend on it.
  int64_t threads = 1;
  /// Asked now and then; true ends the search with the best plan so far. What stops by a
  /// clock is not deterministic.
  std::function<bool()> stop = {};
};

/// What is wrong with `problem`, or nothing: duplicate ids, lower ≥ upper, sizes
/// and alignments below one, offsets negative, misaligned or colliding where
/// they are fixed, gaps outside the lifetime, sums beyond kMaxTotalBytes; groups whose links
/// name no buffer of the same space or form a circle, or whose members have gaps, a fixed
/// offset that is not the first member's, or bytes of another member without sharing with it.
/// O(n log n).
std::optional<std::string> check(const Problem &problem);

/// The largest sum of sizes alive at one time, and no less than the tallest
/// fixed top. Sizes are rounded up to the unit. O(n log n).
int64_t lowerBound(const Problem &problem);

/// A portfolio of orders, peak first, with best fit by size among them; for more than 512 buffers,
/// windows about the peak, packed exactly, with the rest around them; then, for up to 2,048
/// buffers, an exact search at the lower bound (or the capacity) and between it and the best
/// plan; for more, variants and repairs. The lowest packing wins, the earliest among equals, and
/// reaching the lower bound (or the capacity) ends the search. Never above best fit by size,
/// short of problems so large that this alone takes more than 120 million steps.
/// Needs a problem that `check` accepts.
///
/// Ties: by `lower`, then by id. One order costs O(n (log n + h)), h being the
/// runs of taken bytes below a buffer's place. Sources: peak-first orders and the hole tree
/// follow what is known to work on public instances of training graphs; best fit by size is
/// Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", section 5;
/// the exact search branches on conflict sets as Giffler and Thompson, "Algorithms for Solving
/// Production-Scheduling Problems". docs/arena.md tells what each idea is worth.
Plan plan(const Problem &problem, const Options &options = {});

/// What is wrong with `plan`, or nothing. Recomputes everything from its
/// arguments in a sweep over time that shares no code with `plan()`: overlaps
/// (both buffers named), misalignment, moved fixed offsets, overflow, height,
/// bound, status. O(n log n).
std::optional<std::string> verify(const Problem &problem, const Plan &plan);

} // namespace zero::planning::arena

#endif // ZERO_PLANNING_ARENA_H
