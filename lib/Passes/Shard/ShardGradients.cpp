//===- ShardGradients.cpp - stage 2: each rank keeps its gradients alone -------===//
//
// A bucket's full gradients live from its first contribution to the reduce-
// scatter behind its last one; what stays is the rank's pieces. With several
// micro-steps that sends gradients in each of them: who would rather keep them
// whole and send once (`reduce-every=step`) has stage 1's schedule.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_SHARDGRADIENTSPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

LogicalResult shardGradients(Sharded &sharded) {
  if (sharded.config.reduceEveryStep)
    return success();
  sharded.setSharded({ir::StateKind::Grad, ir::StateKind::GradAccum}, true);
  sharded.stage = 2;
  SmallVector<Contribution> contributions = takeContributions(sharded);
  buildUpdate(sharded);
  return placeGradients(sharded, contributions);
}

namespace {
class ShardGradients : public impl::ShardGradientsPassBase<ShardGradients> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(reachStage(getOperation(), 2)))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
