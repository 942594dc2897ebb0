//===- BuildUpdate.cpp - the segment that ends a step --------------------------===//

#include "Sharded.h"

using namespace mlir;

namespace zero {
namespace {

/// Each slot's elements; the padding between them lies in no range.
ArrayAttr makeRanges(Sharded &sharded, ir::BucketOp bucket) {
  MLIRContext *context = sharded.module.getContext();
  SmallVector<Attribute> ranges;
  for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>()) {
    int64_t begin = slot.getOffset(), end = begin + slot.getTensorType().getNumElements();
    bool decays = sharded.params.lookup(slot.getParamAttr()).decays();
    int64_t group = ir::groupOf(sharded.config.groups, slot.getParam());
    ranges.push_back(ir::RangeAttr::get(context, begin, end, decays, group));
  }
  return ArrayAttr::get(context, ranges);
}

} // namespace

void buildUpdate(Sharded &sharded) {
  Block &block = sharded.update.getBody().front();
  block.clear();
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  Location loc = sharded.update.getLoc();
  SmallVector<ir::BucketOp> trained;
  SmallVector<Attribute> names;
  for (ir::BucketOp bucket : sharded.buckets)
    if (bucket.getBucketClass() == ir::BucketClass::Trainable) {
      trained.push_back(bucket);
      names.push_back(FlatSymbolRefAttr::get(bucket.getSymNameAttr()));
    }

  if (sharded.stage < 2)
    for (Attribute name : names) {
      auto bucket = cast<FlatSymbolRefAttr>(name);
      Value grads =
          ir::GradsOp::create(builder, loc, ir::GradsType::get(builder.getContext(), bucket),
                              bucket, /*offset=*/nullptr);
      if (sharded.stage == 0)
        ir::AllReduceOp::create(builder, loc, grads);
      else
        ir::ReduceScatterOp::create(builder, loc, grads);
    }
  bool replicated = sharded.stage == 0;
  ir::NormOp::create(builder, loc, builder.getArrayAttr(names), kNormCell, replicated);
  for (ir::BucketOp bucket : trained)
    ir::UpdateOp::create(builder, loc, bucket.getSymName(), kNormCell, makeRanges(sharded, bucket),
                         replicated);
  if (sharded.stage == 1 || sharded.stage == 2)
    for (ir::BucketOp bucket : trained)
      ir::AllGatherInPlaceOp::create(builder, loc, bucket.getSymName());
}

} // namespace zero
