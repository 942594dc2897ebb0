//===- PlaceGradients.cpp - where gradients are accumulated and reduced -------===//
//
// A bucket's grads value begins at its first contribution and ends behind its
// last: kept in state, or reduced at once. Each contribution stands right behind
// the launch that forms it, so that the slot meets its contributions in one
// order at all stages, and is reduced once (S4).
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Views.h"

using namespace mlir;

namespace zero {
namespace {

/// The launch's result that a value is, reshaped at most; null for any other value.
OpResult launchResult(Value value) {
  View view = traceView(value);
  auto result = dyn_cast<OpResult>(view.root);
  if (!result || !isa<ir::LaunchOp>(result.getOwner()) ||
      !view.coversRoot(cast<RankedTensorType>(value.getType())))
    return nullptr;
  return result;
}

/// Whether a launch reads a value or a view of it: from the slot, it would read a sum.
bool isReadByLaunch(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ir::LaunchOp>(user) ||
           (isViewLike(user) && llvm::any_of(user->getResults(), isReadByLaunch));
  });
}

Value reshapedTo(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return nn::ReshapeOp::create(builder, loc, value, cast<RankedTensorType>(type).getShape());
}

} // namespace

SmallVector<Contribution> takeContributions(Sharded &sharded) {
  Block &block = sharded.microStep.getBody().front();
  SmallVector<Contribution> contributions;
  for (auto accumulate : block.getOps<ir::AccumulateOp>())
    contributions.push_back({accumulate.getGradient(), accumulate.getParamAttr()});
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<ir::GradsOp, ir::AccumulateOp, ir::KeepOp, ir::ReduceScatterOp, ir::AllReduceOp>(op))
      op.erase();
  return contributions;
}

LogicalResult placeGradients(Sharded &sharded, MutableArrayRef<Contribution> contributions) {
  Block &block = sharded.microStep.getBody().front();
  llvm::DenseMap<Operation *, int64_t> position;
  for (Operation &op : block)
    position[&op] = position.size();
  llvm::DenseMap<Attribute, int64_t> missing; // contributions of a bucket that are still to come
  llvm::DenseSet<Value> taken;
  for (const Contribution &contribution : contributions) {
    OpResult result = launchResult(contribution.gradient);
    if (!result || isReadByLaunch(result) || !taken.insert(result).second)
      return emitError(contribution.gradient.getLoc())
             << "expects the gradient of " << contribution.param
             << " to be all of a launch's result, reshaped at most, that nothing else reads";
    ++missing[sharded.home.lookup(contribution.param)];
  }
  auto former = [](const Contribution &c) { return launchResult(c.gradient).getOwner(); };
  llvm::stable_sort(contributions, [&](const Contribution &a, const Contribution &b) {
    return position.lookup(former(a)) < position.lookup(former(b));
  });

  OpBuilder builder(sharded.module.getContext());
  llvm::DenseMap<Attribute, Value> grads;
  Operation *previous = nullptr;
  for (const Contribution &contribution : contributions) {
    OpResult result = launchResult(contribution.gradient);
    Operation *launch = result.getOwner();
    if (launch != previous)
      builder.setInsertionPointAfter(launch);
    previous = launch;
    Location loc = launch->getLoc();
    FlatSymbolRefAttr bucket = sharded.home.lookup(contribution.param);
    Type type = ir::GradsType::get(builder.getContext(), bucket);
    Value gradient = reshapedTo(builder, loc, result, contribution.gradient.getType());
    Value &current = grads[bucket];
    if (!current)
      current = ir::GradsOp::create(builder, loc, type, bucket, /*offset=*/nullptr);
    current = ir::AccumulateOp::create(builder, loc, type, gradient, current, contribution.param,
                                       /*mode=*/nullptr);
    if (--missing[bucket] != 0)
      continue;
    if (sharded.stage >= 2)
      ir::ReduceScatterOp::create(builder, loc, current);
    else
      ir::KeepOp::create(builder, loc, current);
  }
  eraseDeadViews(block);
  return success();
}

LogicalResult placeLoss(Value loss, StringRef cell) {
  OpResult result = launchResult(loss);
  if (!result || isReadByLaunch(result))
    return emitError(loss.getLoc())
           << "expects the loss to be a launch's result that nothing else reads";
  OpBuilder builder(loss.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  Value value = reshapedTo(builder, result.getLoc(), result, loss.getType());
  ir::SetOp::create(builder, result.getLoc(), cell, value);
  return success();
}

} // namespace zero
