//===- Sharded.cpp - a module at level Z, and the way to a stage -------------===//

#include "Sharded.h"

#include "zero/Passes/Level.h"

using namespace mlir;

namespace zero {

void Sharded::readBuckets() {
  buckets.clear();
  states.clear();
  home.clear();
  for (Operation &op : *module.getBody()) {
    if (auto bucket = dyn_cast<ir::BucketOp>(op)) {
      buckets.push_back(bucket);
      auto name = FlatSymbolRefAttr::get(bucket.getSymNameAttr());
      for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
        home[slot.getParamAttr()] = name;
    } else if (auto state = dyn_cast<ir::StateOp>(op)) {
      states[state.getBucketAttr()] = state;
    }
  }
}

FailureOr<Sharded> Sharded::read(ModuleOp module) {
  Sharded sharded;
  sharded.module = module;
  std::optional<ir::Config> config = ir::Config::get(module);
  if (!config)
    return failure();
  sharded.config = *config;
  for (auto segment : module.getOps<ir::SegmentOp>()) {
    if (segment.getSymName() == kMicroStepSegment)
      sharded.microStep = segment;
    else if (segment.getSymName() == kUpdateSegment)
      sharded.update = segment;
    else if (segment.getSymName() == kEvalSegment)
      sharded.eval = segment;
  }
  if (!sharded.microStep || !sharded.update)
    return emitError(module.getLoc(), "expects segments @micro_step and @update"), failure();
  for (auto param : module.getOps<nn::ParamOp>())
    sharded.params[FlatSymbolRefAttr::get(param.getSymNameAttr())] = param;
  sharded.readBuckets();

  Block &update = sharded.update.getBody().front();
  sharded.stage = update.getOps<ir::AllReduceOp>().empty() ? 1 : 0;
  for (ir::BucketOp bucket : sharded.buckets) {
    for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
      if (!sharded.params.contains(slot.getParamAttr()))
        return slot.emitOpError() << "expects an nn.param " << slot.getParamAttr(), failure();
    ir::StateOp state = sharded.states.lookup(FlatSymbolRefAttr::get(bucket.getSymNameAttr()));
    if (!state)
      return bucket.emitOpError("expects a zero.state of the bucket"), failure();
    ir::HeldAttr param = state.find(ir::StateKind::Param);
    if (!param)
      return state.emitOpError("expects a bucket to hold param"), failure();
    if (param.getSharded())
      sharded.stage = 3;
    else if (ir::HeldAttr gradient = state.findGradient(); gradient && gradient.getSharded())
      sharded.stage = std::max<int64_t>(sharded.stage, 2);
  }
  return sharded;
}

void Sharded::setSharded(ArrayRef<ir::StateKind> kinds, bool value) {
  for (ir::BucketOp bucket : buckets) {
    ir::StateOp state = states.lookup(FlatSymbolRefAttr::get(bucket.getSymNameAttr()));
    SmallVector<Attribute> held;
    for (auto entry : state.getHeld().getAsRange<ir::HeldAttr>())
      held.push_back(llvm::is_contained(kinds, entry.getKind())
                         ? ir::HeldAttr::get(entry.getContext(), entry.getKind(), entry.getType(),
                                             value, entry.getOffset())
                         : entry);
    state.setHeldAttr(ArrayAttr::get(state.getContext(), held));
  }
}

LogicalResult reachStage(ModuleOp module, int64_t stage) {
  Level level = levelOf(module);
  if (level != Level::Launches && level != Level::Sharded)
    return emitError(module.getLoc())
           << "expects a module at level launches or sharded, got one at level " << nameOf(level);
  if (level == Level::Launches && failed(replicate(module)))
    return failure();
  FailureOr<Sharded> sharded = Sharded::read(module);
  if (failed(sharded))
    return failure();
  if (sharded->stage > stage)
    return emitError(module.getLoc())
           << "expects a module of stage " << stage << " or below, got stage " << sharded->stage;
  if (stage == 3 && sharded->config.reduceEveryStep)
    return emitError(module.getLoc(),
                     "expects gradients to be reduced every micro-step at stage 3, got "
                     "reduce-every=step");

  using Step = LogicalResult (*)(Sharded &);
  constexpr Step steps[] = {shardOptimizer, shardGradients, shardParameters};
  for (int64_t next = sharded->stage; next < stage; ++next)
    if (failed(steps[next](*sharded)))
      return failure();
  sharded->config.stage = stage;
  sharded->config.set(module);
  return success();
}

} // namespace zero
