//===- ArenaPortfolio.h - packing by orders ------------------------------===//
#ifndef ZERO_LIB_PLANNING_ARENAPORTFOLIO_H
#define ZERO_LIB_PLANNING_ARENAPORTFOLIO_H

#include "ArenaTimeline.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <random>

namespace zero::planning::arena {

/// The lowest packing so far, and the effort spent on it.
struct Incumbent {
  std::vector<int64_t> offsets;
  int64_t height = kMaxTotalBytes + 1;
};

/// A buffer whose place is settled before any order.
struct Placed {
  int32_t buffer = 0;
  int64_t offset = 0;
};

class Portfolio {
public:
  Portfolio(const Problem &problem, const Timeline &timeline, int64_t threads);
  ~Portfolio();

  /// Peak-first orders and best fit by size; ends at `goal`, after `work` steps or where `stop`
  /// is true. Best fit is left out only if the goal was reached before it.
  void runFirst(Incumbent &best, int64_t goal, int64_t work, const std::function<bool()> &stop);

  /// The other orders. Called again, it goes on with those that have not had their turn.
  void runFurther(Incumbent &best, int64_t goal, int64_t work, const std::function<bool()> &stop);

  /// Places all others around `core`, which holds no pinned ones, by size or by classes of it. The
  /// buffer that finds no room below `limit`; nothing where all do, and then `best` holds them.
  std::optional<int32_t> runAround(std::span<const Placed> core, bool bySize, int64_t limit,
                                   Incumbent &best);

  /// Of work that is done elsewhere.
  void addSteps(int64_t steps) { stepCount += steps; }

  /// Random variants of the orders, and repairs of the best one, in turns; `iterations` counts
  /// those of all calls.
  void improve(Incumbent &best, int64_t goal, int64_t work, int64_t iterations,
               const std::function<bool()> &stop);

  int64_t steps() const { return stepCount; }

private:
  using Order = std::vector<int32_t>;
  enum class Key : uint8_t { Length, LengthSize, Size, SizeClass, Area, Load, Lower };
  struct Recipe {
    bool peakFirst;   // the buffers alive at the peak, by `inPeak`
    Key inPeak, rest; // the others, or all, by `rest`
    bool mirrored;    // ties by the end of life rather than by its begin
    HoleTree::Fit fit;
    int64_t jitter = 0; // in 1024ths of a key
  };
  struct Attempt {
    std::vector<int64_t> offsets;
    int64_t placed = 0; // positions of the order
    int64_t height = 0; // where all were placed
    int64_t steps = 0;
  };

  /// Behind the first few. Where they fail, the mirrored ones are the first variants.
  static std::vector<Recipe> furtherRecipes(bool mirrored);

  void makeTrees(int64_t top);
  Key keyOf(int32_t i, const Recipe &recipe) const;
  int64_t firstKey(int32_t i, Key key);
  int64_t secondKey(int32_t i, Key key) const; // where the first ones are equal
  const Order &tiesOf(bool mirrored);
  Order makeOrder(const Recipe &recipe);
  void attempt(HoleTree &tree, std::span<const Placed> core, const Order &order, HoleTree::Fit fit,
               int64_t limit, Attempt &result) const;
  /// How many of them had their turn.
  size_t runAll(std::span<const Recipe> recipes, Incumbent &best, int64_t goal, int64_t work,
                const std::function<bool()> &stop);
  void runRest(bool mirrored, Incumbent &best, int64_t goal, int64_t work,
               const std::function<bool()> &stop);

  const Problem &problem;
  const Timeline &timeline;
  int64_t unit = 1;                // of the trees: divides all sizes, alignments and fixed offsets
  bool oneAlignment = true;        // the timeline's unit, for all
  Order pinned;                    // fixed, then persistent ones: placed before all others
  Order transient;                 // by lower, then by id
  std::array<Order, 2> tieOrders;  // not mirrored, and mirrored; filled on demand
  std::array<Order, 2> restOrders; // by classes of size, and by size; filled on demand
  std::vector<int64_t> peakLoads;  // filled on demand
  std::vector<std::unique_ptr<HoleTree>> trees; // one a thread
  Attempt scratch;
  Order bestOrder, repaired;
  Recipe bestRecipe = {};
  std::array<size_t, 2> furtherRun = {}; // of furtherRecipes, not mirrored, and mirrored
  int64_t iteration = 0, sinceBest = 0;  // of `improve`
  std::mt19937_64 random{1};
  int64_t stepCount = 0;
};

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_ARENAPORTFOLIO_H
