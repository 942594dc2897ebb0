//===- ShardOptimizer.cpp - stage 1: each rank keeps its moments alone ---------===//
//
// A rank updates the elements that it owns. So it needs the sums of their
// gradients alone, a reduce-scatter in place of an all-reduce, and after the
// update the weights that the others own, a gather: together what the all-reduce
// sent before.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_SHARDOPTIMIZERPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

LogicalResult shardOptimizer(Sharded &sharded) {
  sharded.setSharded({ir::StateKind::Master, ir::StateKind::Moment1, ir::StateKind::Moment2}, true);
  sharded.stage = 1;
  buildUpdate(sharded);
  return success();
}

namespace {
class ShardOptimizer : public impl::ShardOptimizerPassBase<ShardOptimizer> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(reachStage(getOperation(), 1)))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
