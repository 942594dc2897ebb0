//===- PlanBudget.cpp - plan, pack, plan again with the difference ---------===//
//
// The planner of checkpoints is asked in bytes of the arena: beside values it knows
// states, workspaces, buckets and inputs as they lie where everything is kept. What
// it can't know is which results will lie over operands that die only now, when
// gathers are issued behind other launches, and how well it packs. So a plan is
// packed, and made again with as many bytes more or less as it was counted wrong;
// where that leads out of the bracket of a plan that fits and one that does not, the
// middle is taken. Where that ends without a plan, budgets are halved towards the
// least that has one: they don't depend on the one that was asked for, so what a
// refusal names as met is met, and so is all above it.
//
// Beside it stands a ladder: elementwise and row kernels run again by a minimum cut,
// and of the first k layers everything does. Its lowest rung that fits is a plan
// too, found by halving, and the planner's answer where a graph is large. Of the
// plans that fit, the one that computes least again is taken, the smaller arena of
// several. (M3) Plans are compared without gathered buckets that are held: that is
// what the budget leaves room for in the end.
//
//===----------------------------------------------------------------------===//

#include "PlanBudget.h"

#include "ArenaFloor.h"
#include "HoldGathers.h"

#include "zero/Passes/Recompute.h"
#include "zero/Trainer/Trainer.h"

#include <algorithm>
#include <tuple>

using namespace mlir;

namespace zero {

namespace {

/// Launches up to which the planner of checkpoints is asked.
constexpr size_t kMostPlanned = 1000;
constexpr int kRounds = 4;            // budgets that the planner is asked for, at most
constexpr int kHalvings = 7;          // on the way to the least budget
constexpr int64_t kCloseEnough = 200; // a bracket of a 200th ends the search
constexpr int64_t kALittle = 200;     // a 200th less is asked for where no plan was found
constexpr int64_t kExact = 1000;      // a plan is counted right to a 1000th of the budget

void replace(ModuleOp module, OwningOpRef<ModuleOp> by) {
  module->setAttrs(by->getOperation()->getAttrDictionary());
  module.getBodyRegion().takeBody(by->getBodyRegion());
}

class BudgetSearch {
public:
  BudgetSearch(Compiler &compiler, ModuleOp launches, CompileOptions options, int64_t budgetBytes)
      : compiler(compiler), launches(launches), options(std::move(options)), budget(budgetBytes) {
    this->options.recompute = "none";
    this->options.activationBudget = 0;
    this->options.holdBytes = 0;
  }

  llvm::Expected<Report> run(ModuleOp into) {
    FailureOr<JointGraph> graph = JointGraph::read(launches);
    if (failed(graph))
      return compilerError(compiler);
    Sequence everything = placeLate(*graph, std::vector<bool>(graph->launches.size()));
    llvm::Expected<Packed> kept = packed(*graph, everything);
    if (!kept)
      return kept.takeError();
    int64_t keptArena = kept->report.arenaBytes;
    if (keptArena > budget) {
      FailureOr<ArenaFloor> least = floorOf(*kept->module, *graph);
      if (failed(least))
        return compilerError(compiler);
      floor = std::move(*least);
      if (floor.bytes > budget)
        return refuseBelowFloor(*kept);
      FailureOr<CheckpointProblem> problem = CheckpointProblem::ofArena(*kept->module, *graph);
      if (failed(problem))
        return compilerError(compiler);
      asked = std::move(*problem);
    }
    consider(std::move(*kept));
    if (keptArena > budget)
      if (llvm::Error error = climb(*graph))
        return std::move(error);
    if (keptArena > budget && graph->launches.size() <= kMostPlanned)
      if (llvm::Error error = search(*graph, everything))
        return std::move(error);
    if (!best.module)
      return refuse();
    if (options.stage == 3 && best.cost > 0)
      if (llvm::Error error = holdGathers())
        return std::move(error);
    replace(into, std::move(best.module));
    return std::move(best.report);
  }

private:
  struct Packed : PackedModule {
    Sequence sequence;
    int64_t cost = 0; // of what is computed again
  };

  /// A copy that runs as `sequence` says.
  llvm::Expected<OwningOpRef<ModuleOp>> applied(const Sequence &sequence) {
    OwningOpRef<ModuleOp> module = launches.clone();
    FailureOr<JointGraph> graph = JointGraph::read(*module);
    if (failed(graph))
      return compilerError(compiler);
    applySequence(*graph, sequence);
    return std::move(module);
  }

  llvm::Expected<Packed> packed(const JointGraph &graph, const Sequence &computations) {
    Packed result;
    result.sequence = withoutUnread(graph, computations);
    result.cost = costOf(graph, result.sequence).cost;
    llvm::Expected<OwningOpRef<ModuleOp>> module = applied(result.sequence);
    if (!module)
      return module.takeError();
    llvm::Expected<PackedModule> made = packCopy(compiler, **module, options);
    if (!made)
      return made.takeError();
    static_cast<PackedModule &>(result) = std::move(*made);
    return std::move(result);
  }

  llvm::Error holdGathers() {
    llvm::Expected<OwningOpRef<ModuleOp>> module = applied(best.sequence);
    if (!module)
      return module.takeError();
    llvm::Expected<PackedModule> made = packHolding(compiler, **module, options, budget);
    if (!made)
      return made.takeError();
    static_cast<PackedModule &>(best) = std::move(*made);
    return llvm::Error::success();
  }

  /// Keeps it where it is the best, or the smallest.
  void consider(Packed made) {
    lastArena = made.report.arenaBytes;
    if (!tried++ || lastArena < smallest.arenaBytes) {
      smallest = made.report;
      smallestSequence = made.sequence;
    }
    bool isBetter = !best.module ||
                    std::pair(made.cost, lastArena) < std::pair(best.cost, best.report.arenaBytes);
    if (lastArena <= budget && isBetter)
      best = std::move(made);
  }

  llvm::Error pack(const JointGraph &graph, const Sequence &computations) {
    llvm::Expected<Packed> made = packed(graph, computations);
    if (!made)
      return made.takeError();
    consider(std::move(*made));
    return llvm::Error::success();
  }

  /// The ladder: the lowest rung that fits, as higher ones compute more.
  llvm::Error climb(const JointGraph &graph) {
    std::vector<std::pair<int64_t, int64_t>> blocks = findBlocks(graph);
    std::vector<bool> cheap = repeatsOfCheap(graph);
    auto packRung = [&](size_t count) {
      std::vector<bool> repeats = repeatsOfBlocks(graph, llvm::ArrayRef(blocks).take_front(count));
      for (size_t i = 0; i < repeats.size(); ++i)
        repeats[i] = repeats[i] || cheap[i];
      return pack(graph, placeLate(graph, std::move(repeats)));
    };
    if (llvm::Error error = packRung(0))
      return error;
    if (lastArena <= budget || blocks.empty())
      return llvm::Error::success();
    size_t low = 1, high = blocks.size();
    if (llvm::Error error = packRung(high))
      return error;
    if (lastArena > budget) // without the cut, which may hold more at one moment
      return pack(graph, placeLate(graph, repeatsOfBlocks(graph, blocks)));
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (llvm::Error error = packRung(middle))
        return error;
      if (lastArena <= budget)
        high = middle;
      else
        low = middle + 1;
    }
    return llvm::Error::success();
  }

  llvm::Error search(const JointGraph &graph, const Sequence &everything) {
    int64_t least = asked->floorBytes();
    std::pair<Report, int64_t> before = {smallest, tried};
    // Budgets for the planner: one that is known to be too large, and one to fit or to have no
    // plan.
    int64_t above = asked->peakBytes(best.module ? everything : smallestSequence);
    int64_t below = least - 1, next = budget;
    for (int round = 0; round < kRounds && next > below && below + 1 < above; ++round) {
      if (round > 0 && (above - below) * kCloseEnough < above)
        break;
      next = std::clamp(next, below + 1, above - 1);
      std::optional<Sequence> sequence = recomputeWithin(graph, *asked, next);
      if (!sequence && !best.module) { // a search for a little less may end better
        next -= next / kALittle;
        continue;
      }
      int64_t off = 0; // what the planner counts too much
      if (sequence) {
        off = asked->peakBytes(*sequence);
        if (llvm::Error error = pack(graph, *sequence))
          return error;
        off -= lastArena;
        if (lastArena <= budget && off * kExact <= budget)
          break;
      }
      (sequence && lastArena > budget ? above : below) = next;
      next = budget + off;
      if (next <= below || next >= above)
        next = below + (above - below) / 2;
    }
    if (best.module)
      return llvm::Error::success();
    std::tie(smallest, tried) = std::move(before); // a refusal is to name what is met for sure
    return halve(graph, least - 1, asked->peakBytes(everything));
  }

  /// Towards the least budget that has a plan, until one fits.
  llvm::Error halve(const JointGraph &graph, int64_t below, int64_t above) {
    for (int count = 0; count < kHalvings && below + 1 < above && !best.module; ++count) {
      int64_t next = below + (above - below) / 2;
      std::optional<Sequence> sequence = recomputeWithin(graph, *asked, next);
      (sequence ? above : below) = next;
      if (sequence)
        if (llvm::Error error = pack(graph, *sequence))
          return error;
    }
    return llvm::Error::success();
  }

  /// No plan fits, whatever runs again.
  llvm::Error refuseBelowFloor(const Packed &kept) {
    Report report = kept.report;
    report.holders = floor.holders;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "error: expects an arena of at most " << budget << " bytes a rank (--memory-budget), got "
       << floor.bytes << " at least, whatever runs again: " << floor.bytes - budget
       << " bytes are missing; states take " << report.peak.states << ", control "
       << report.peak.control;
    if (!floor.segment.empty())
      os << ", and in segment " << floor.segment << " " << floor.op
         << " needs the rest; its largest holders are " << largestHolders(report);
    return llvm::createStringError(text);
  }

  /// None of the plans that were tried fits.
  llvm::Error refuse() {
    std::string text = llvm::toString(checkBudget(smallest, budget));
    llvm::raw_string_ostream(text)
        << "; a budget of " << smallest.arenaBytes << " is met, " << tried
        << " plans gave none below, and none can take less than " << floor.bytes;
    return llvm::createStringError(text);
  }

  Compiler &compiler;
  ModuleOp launches;
  CompileOptions options;
  int64_t budget, lastArena = 0, tried = 0;
  Packed best;
  Report smallest;
  Sequence smallestSequence;
  std::optional<CheckpointProblem> asked;
  ArenaFloor floor;
};

} // namespace

llvm::Expected<Report> planBudget(Compiler &compiler, ModuleOp module, CompileOptions options,
                                  int64_t budgetBytes) {
  CompileOptions toLaunches = options;
  toLaunches.until = Level::Launches;
  bool searches = options.recompute == "budget";
  if (searches) {
    toLaunches.recompute = "none";
    toLaunches.activationBudget = 0;
  }
  if (!compiler.run(module, toLaunches))
    return compilerError(compiler);
  if (searches)
    return BudgetSearch(compiler, module, std::move(options), budgetBytes).run(module);
  options.recompute = "none"; // it has been applied
  llvm::Expected<PackedModule> made = packHolding(compiler, module, options, budgetBytes);
  if (!made)
    return made.takeError();
  replace(module, std::move(made->module));
  return std::move(made->report);
}

} // namespace zero
