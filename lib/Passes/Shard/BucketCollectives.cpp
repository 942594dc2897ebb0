//===- BucketCollectives.cpp - buckets of constant size -------------------------===//
//
// Consecutive parameters of one class and element type share a bucket of up to
// `bucket-bytes`, so that collectives are few and large, and gather buffers stay
// of one size however deep the model (M4). What the buckets hold is planned by
// planning::buckets; gathers, grads values and updates follow from it.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_BUCKETCOLLECTIVESPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

class BucketCollectives : public impl::BucketCollectivesPassBase<BucketCollectives> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (holdBytes < kHoldAll) {
      emitError(getOperation().getLoc())
          << "expects hold-bytes of at least 0, or -1 for any number, got " << holdBytes.getValue();
      return signalPassFailure();
    }
    if (failed(expectLevel(getOperation(), Level::Sharded)))
      return signalPassFailure();
    FailureOr<Sharded> sharded = Sharded::read(getOperation());
    if (failed(sharded) || failed(merge(*sharded)))
      signalPassFailure();
  }

private:
  LogicalResult merge(Sharded &sharded) {
    SmallVector<SlotRequest> requests = collectSlots(sharded);
    planning::buckets::Problem problem = makeProblem(requests, sharded.config);
    if (auto fault = planning::buckets::check(problem))
      return emitError(getOperation().getLoc(), *fault);
    planning::buckets::Plan plan = planning::buckets::plan(problem);
    if (auto fault = planning::buckets::verify(problem, plan))
      return emitError(getOperation().getLoc()) << "the planner of buckets went wrong: " << *fault;

    SmallVector<Contribution> contributions = takeContributions(sharded);
    replaceBuckets(sharded, plan, requests);
    buildUpdate(sharded);
    if (failed(placeGradients(sharded, contributions)))
      return failure();
    return placeParameters(sharded, holdBytes);
  }

  SmallVector<SlotRequest> collectSlots(Sharded &sharded) {
    SmallVector<SlotRequest> requests;
    for (ir::BucketOp bucket : sharded.buckets) {
      ir::StateOp state = sharded.states.lookup(FlatSymbolRefAttr::get(bucket.getSymNameAttr()));
      for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
        requests.push_back({slot.getParamAttr(), slot.getTensorType(), bucket.getBucketClass(),
                            static_cast<int64_t>(slot.getContributions()), state.getHeld()});
    }
    return requests;
  }

  void replaceBuckets(Sharded &sharded, const planning::buckets::Plan &plan,
                      ArrayRef<SlotRequest> requests) {
    OpBuilder builder(sharded.buckets.front());
    Operation *mark = sharded.buckets.front()->getPrevNode();
    for (ir::BucketOp bucket : sharded.buckets) {
      sharded.states.lookup(FlatSymbolRefAttr::get(bucket.getSymNameAttr())).erase();
      bucket.erase();
    }
    if (mark)
      builder.setInsertionPointAfter(mark);
    else
      builder.setInsertionPointToStart(getOperation().getBody());
    writeBuckets(builder, getOperation(), plan, requests, sharded.config);
    sharded.readBuckets();
  }
};

} // namespace
} // namespace zero
