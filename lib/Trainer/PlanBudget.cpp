//===- PlanBudget.cpp - plan, pack, plan again with the difference ---------===//
//
// The planner of checkpoints bounds activations as it counts them: without
// states, buckets, inputs and workspaces, without rounding and holes, and without
// a result that takes a dying operand's place. What all that comes to is known
// once a plan is packed. So the first plan keeps everything, and each further one
// gets a budget for activations that differs from the last by as many bytes as
// the last arena was off; where that leads out of the bracket of a plan that fits
// and one that does not, the middle is taken. (M3)
//
// The policies without a budget are candidates as well. Of the plans that fit,
// the one that computes least again is taken, the smaller arena of several.
//
//===----------------------------------------------------------------------===//

#include "PlanBudget.h"

#include "zero/Passes/Recompute.h"
#include "zero/Trainer/Trainer.h"

#include <algorithm>

using namespace mlir;

namespace zero {

namespace {

constexpr int kRounds = 8;            // plans of the planner that are packed, at most
constexpr int64_t kCloseEnough = 200; // a bracket, or what is left, of a 200th ends the search

class BudgetSearch {
public:
  BudgetSearch(Compiler &compiler, ModuleOp launches, CompileOptions options, int64_t budgetBytes)
      : compiler(compiler), launches(launches), options(std::move(options)), budget(budgetBytes) {
    this->options.until = Level::Arena;
    this->options.recompute = "none";
    this->options.activationBudget = 0;
  }

  llvm::Expected<Report> run(ModuleOp into) {
    FailureOr<JointGraph> graph = JointGraph::read(launches);
    if (failed(graph))
      return compilerError(compiler);
    if (llvm::Error error = pack(keepAll(*graph), 0))
      return std::move(error);
    if (smallest.report.arenaBytes > budget)
      if (llvm::Error error = search(*graph, smallest.report.arenaBytes))
        return std::move(error);
    if (!best.module)
      return checkBudget(smallest.report, budget);
    into->setAttrs(best.module->getOperation()->getAttrDictionary());
    into.getBodyRegion().takeBody(best.module->getBodyRegion());
    return std::move(best.report);
  }

private:
  struct Packed {
    OwningOpRef<ModuleOp> module;
    Report report;
    int64_t cost = 0; // of what is computed again
  };

  /// Brings a copy to level A, and keeps it where it is the best, or the smallest.
  llvm::Error pack(const Sequence &sequence, int64_t cost) {
    Packed packed;
    packed.module = launches.clone();
    packed.cost = cost;
    FailureOr<JointGraph> graph = JointGraph::read(*packed.module);
    if (failed(graph))
      return compilerError(compiler);
    applySequence(*graph, sequence);
    if (!compiler.run(*packed.module, options))
      return compilerError(compiler);
    FailureOr<Report> report = makeReport(*packed.module);
    if (failed(report))
      return compilerError(compiler);
    packed.report = std::move(*report);
    lastArena = packed.report.arenaBytes;
    if (!smallest.known || lastArena < smallest.report.arenaBytes)
      smallest = {true, packed.report};
    bool isBetter =
        !best.module || std::pair(cost, lastArena) < std::pair(best.cost, best.report.arenaBytes);
    if (lastArena <= budget && isBetter)
      best = std::move(packed);
    return llvm::Error::success();
  }

  llvm::Error packPolicy(const JointGraph &graph, const Sequence &sequence) {
    Sequence used = withoutUnread(graph, sequence);
    int64_t cost = costOf(graph, used).cost;
    if (cost == 0 || (best.module && best.cost <= cost))
      return llvm::Error::success();
    return pack(used, cost);
  }

  llvm::Error search(const JointGraph &graph, int64_t keptArena) {
    namespace cp = planning::checkpoint;
    cp::Problem problem = graph.problem(cp::kMaxTotal);
    int64_t most = cp::basePeakBytes(problem), least = cp::floorOf(problem).bytes;
    // Budgets for activations: one that is known to be too large, and one to fit or to have no
    // plan.
    int64_t above = most, below = least - 1, next = most - (keptArena - budget);
    for (int round = 0; round < kRounds && below + 1 < above; ++round) {
      next = std::clamp(next, below + 1, above - 1);
      if (next != least && (next - below) * kCloseEnough < above)
        break;
      std::optional<Sequence> sequence = recomputeWithin(graph, next);
      if (!sequence) {
        below = next;
        next = below + (above - below) / 2;
        continue;
      }
      Sequence used = withoutUnread(graph, *sequence);
      if (llvm::Error error = pack(used, costOf(graph, used).cost))
        return error;
      int64_t off = budget - lastArena;
      (off < 0 ? above : below) = next;
      if (off >= 0 && off * kCloseEnough <= budget)
        break;
      next += off;
      if (next <= below || next >= above)
        next = below + (above - below) / 2;
    }
    if (llvm::Error error = packPolicy(graph, recomputeBlocks(graph, findBlocks(graph))))
      return error;
    return packPolicy(graph, recomputeCheap(graph));
  }

  Compiler &compiler;
  ModuleOp launches;
  CompileOptions options;
  int64_t budget, lastArena = 0;
  Packed best;
  struct {
    bool known = false;
    Report report;
  } smallest;
};

} // namespace

llvm::Expected<Report> planBudget(Compiler &compiler, ModuleOp module, CompileOptions options,
                                  int64_t budgetBytes) {
  CompileOptions toLaunches = options;
  toLaunches.until = Level::Launches;
  toLaunches.recompute = "none";
  toLaunches.activationBudget = 0;
  if (!compiler.run(module, toLaunches))
    return compilerError(compiler);
  return BudgetSearch(compiler, module, std::move(options), budgetBytes).run(module);
}

} // namespace zero
