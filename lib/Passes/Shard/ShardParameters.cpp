//===- ShardParameters.cpp - stage 3: each rank keeps its weights alone --------===//
//
// Weights are gathered where launches read them, once a region of use, and
// nowhere else: a bias that backward never reads is not gathered again. The
// gather after the update goes away.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_SHARDPARAMETERSPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

LogicalResult shardParameters(Sharded &sharded) {
  sharded.setSharded({ir::StateKind::Param}, true);
  sharded.stage = 3;
  buildUpdate(sharded);
  return placeParameters(sharded);
}

namespace {
class ShardParameters : public impl::ShardParametersPassBase<ShardParameters> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(reachStage(getOperation(), 3)))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
