//===- PlaceCheckpoints.cpp - what is kept for backward, what runs again ---===//
//
// Between the forming of launches and their sharding: kernels are fixed by then,
// so a launch that runs again gives the bits that it gave (N1), and all later
// passes see clones as launches like any other.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Recompute.h"

namespace zero {
#define GEN_PASS_DEF_PLACECHECKPOINTSPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

class PlaceCheckpoints : public impl::PlaceCheckpointsPassBase<PlaceCheckpoints> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<RecomputePolicy> policy = parseRecomputePolicy(recompute);
    if (!policy) {
      emitError(module.getLoc())
          << "expects recompute=none|every-block|min-cut|budget, got recompute=" << recompute;
      return signalPassFailure();
    }
    bool bounded = policy == RecomputePolicy::Budget;
    if (memoryBudget < 0 || bounded != (memoryBudget > 0)) {
      emitError(module.getLoc())
          << (bounded ? "expects memory-budget of at least 1 with recompute=budget"
                      : "expects memory-budget only with recompute=budget")
          << ", got " << memoryBudget.getValue();
      return signalPassFailure();
    }
    if (failed(expectLevel(module, Level::Launches)))
      return signalPassFailure();
    if (policy == RecomputePolicy::None)
      return;
    FailureOr<JointGraph> graph = JointGraph::read(module);
    if (failed(graph))
      return signalPassFailure();
    FailureOr<Sequence> sequence = place(*graph, *policy);
    if (failed(sequence))
      return signalPassFailure();
    applySequence(*graph, withoutUnread(*graph, *sequence));
  }

private:
  InFlightDiagnostic refuse(const JointGraph &graph) {
    namespace cp = planning::checkpoint;
    cp::Problem problem = graph.problem(memoryBudget);
    cp::Floor floor = cp::floorOf(problem);
    InFlightDiagnostic error = emitError(getOperation().getLoc());
    if (memoryBudget < floor.bytes)
      return std::move(error << "expects memory-budget of at least " << floor.bytes
                             << ", which the operands and results of launch @"
                             << ir::LaunchOp(graph.launches[floor.node].op).getKernel()
                             << " take, got " << memoryBudget.getValue());
    return std::move(error << "finds no order of computations within memory-budget="
                           << memoryBudget.getValue());
  }

  FailureOr<Sequence> place(const JointGraph &graph, RecomputePolicy policy) {
    switch (policy) {
    case RecomputePolicy::None:
      return placeLate(graph, std::vector<bool>(graph.launches.size()));
    case RecomputePolicy::EveryBlock: {
      auto blocks = findBlocks(graph);
      if (blocks.empty())
        getOperation().emitWarning("finds no launches of forward that repeat as blocks: "
                                   "recompute=every-block keeps everything");
      return placeLate(graph, repeatsOfBlocks(graph, blocks));
    }
    case RecomputePolicy::MinCut:
      return placeLate(graph, repeatsOfCheap(graph));
    case RecomputePolicy::Budget:
      if (std::optional<Sequence> sequence =
              recomputeWithin(graph, CheckpointProblem(graph), memoryBudget))
        return *sequence;
      return refuse(graph);
    }
    llvm_unreachable("every policy has a sequence");
  }
};

} // namespace
} // namespace zero
