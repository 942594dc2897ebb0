//===- PlaceParameters.cpp - which launch reads which full bucket -------------===//
//
// A region of use is a maximal run of launches that read a bucket, with no
// launch between that reads another bucket and not this one. So a region ends at
// the first launch that reads parameters, but none of this bucket; launches that
// read none end nothing. One pass over the launches finds all regions, since
// after each launch the open ones are those of the buckets that it reads.
//
// The last region of forward and the first of backward are one where nothing
// else is read between: a tied head is gathered once for logits and their
// gradient. Gathers are what (C1) counts.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace zero {

bool isViewLike(Operation *op) {
  return isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::SplitOp, nn::BroadcastOp,
             nn::BarrierOp>(op);
}

void eraseDeadViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isViewLike(&op) && op.use_empty())
      op.erase();
}

namespace {

class ParameterPlacer {
public:
  ParameterPlacer(Sharded &sharded, ir::SegmentOp segment)
      : sharded(sharded), gathers(sharded.stage == 3), block(segment.getBody().front()),
        builder(sharded.module.getContext()) {}

  LogicalResult run() {
    findStale();
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto launch = dyn_cast<ir::LaunchOp>(op))
        placeFor(launch);
    return eraseStale();
  }

private:
  /// A full bucket and the values that are views of it.
  struct Region {
    Value full;
    llvm::DenseMap<Attribute, Value> params; // parameter → its view
    IRMapping views;                         // old value → view of `full`
  };

  /// Reads of parameters, and their views, that the placement replaces.
  void findStale() {
    for (Operation &op : block) {
      bool names = isa<nn::ReadOp, ir::ViewOp, ir::AllGatherOp, ir::ResidentOp>(op);
      bool follows = isViewLike(&op) && op.getOperand(0).getDefiningOp() &&
                     isStale.contains(op.getOperand(0).getDefiningOp());
      if (!names && !follows)
        continue;
      stale.push_back(&op);
      isStale.insert(&op);
    }
  }

  /// The parameter behind a value, or null.
  FlatSymbolRefAttr paramBehind(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isStale.contains(op))
      return nullptr;
    while (isViewLike(op))
      op = op->getOperand(0).getDefiningOp();
    if (auto read = dyn_cast<nn::ReadOp>(op))
      return read.getParamAttr();
    return cast<ir::ViewOp>(op).getParamAttr();
  }

  void placeFor(ir::LaunchOp launch) {
    SmallVector<std::pair<OpOperand *, FlatSymbolRefAttr>> uses;
    SmallVector<FlatSymbolRefAttr> read;
    for (OpOperand &operand : launch->getOpOperands())
      if (FlatSymbolRefAttr param = paramBehind(operand.get())) {
        FlatSymbolRefAttr bucket = sharded.home.lookup(param);
        uses.push_back({&operand, bucket});
        if (!llvm::is_contained(read, bucket))
          read.push_back(bucket);
      }
    if (uses.empty())
      return;
    if (gathers)
      open.remove_if([&](const auto &entry) { return !llvm::is_contained(read, entry.first); });
    builder.setInsertionPoint(launch);
    for (FlatSymbolRefAttr bucket : read)
      if (Region &region = open[bucket]; !region.full)
        region.full = makeFull(launch.getLoc(), bucket);
    for (auto [operand, bucket] : uses)
      operand->set(viewIn(open[bucket], operand->get()));
  }

  Value makeFull(Location loc, FlatSymbolRefAttr bucket) {
    Type type = ir::FullType::get(builder.getContext(), bucket);
    if (gathers)
      return ir::AllGatherOp::create(builder, loc, type, bucket).getFull();
    return ir::ResidentOp::create(builder, loc, type, bucket).getFull();
  }

  /// The value's counterpart in a region; views are cloned where a launch first needs them.
  Value viewIn(Region &region, Value value) {
    if (Value known = region.views.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (isViewLike(op)) {
      viewIn(region, op->getOperand(0));
      builder.clone(*op, region.views);
    } else {
      FlatSymbolRefAttr param = paramBehind(value);
      Value &view = region.params[param];
      if (!view)
        view = ir::ViewOp::create(builder, op->getLoc(), value.getType(), param, region.full);
      region.views.map(value, view);
    }
    return region.views.lookup(value);
  }

  LogicalResult eraseStale() {
    for (Operation *op : llvm::reverse(stale)) {
      if (!op->use_empty())
        return (*op->user_begin())->emitOpError("expects a parameter to be read by a launch alone");
      op->erase();
    }
    return success();
  }

  Sharded &sharded;
  bool gathers;
  Block &block;
  OpBuilder builder;
  SmallVector<Operation *> stale;
  llvm::DenseSet<Operation *> isStale;
  llvm::MapVector<Attribute, Region> open;
};

} // namespace

LogicalResult placeParameters(Sharded &sharded) {
  if (sharded.eval && failed(ParameterPlacer(sharded, sharded.eval).run()))
    return failure();
  return ParameterPlacer(sharded, sharded.microStep).run();
}

} // namespace zero
