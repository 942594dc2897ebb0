//===- PlaceParameters.cpp - which launch reads which full bucket -------------===//
//
// Each launch is given the buckets that it reads: at stage 3 those of its regions of
// use (Regions.h), gathered before the first launch of a region; below stage 3 the
// resident ones. Gathers are what (C1) counts.
//
// The last region of forward and the first of backward are one where nothing
// else is read between: a tied head is gathered once for logits and their
// gradient.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "Sharded.h"

#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Recompute.h"
#include "zero/Passes/Views.h"

#include "mlir/IR/IRMapping.h"

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
  ParameterPlacer(Sharded &sharded, ir::SegmentOp segment, int64_t holdBytes)
      : sharded(sharded), gathers(sharded.stage == 3), holdBytes(holdBytes),
        block(segment.getBody().front()), builder(sharded.module.getContext()) {
    for (auto [number, bucket] : llvm::enumerate(sharded.buckets))
      numbers[FlatSymbolRefAttr::get(bucket.getSymNameAttr())] = static_cast<int64_t>(number);
  }

  LogicalResult run() {
    findStale();
    std::vector<Reader> readers = findReaders();
    std::vector<std::vector<int64_t>> regions = regionsFor(readers);
    for (auto [reader, numbers] : llvm::zip(readers, regions))
      placeFor(reader, numbers);
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

  /// A launch with its operands that lie in buckets.
  struct Reader {
    ir::LaunchOp launch;
    std::vector<int64_t> buckets;                     // in order of the operands, each once
    SmallVector<std::pair<OpOperand *, size_t>> uses; // and the place of their bucket in `buckets`
  };

  std::vector<Reader> findReaders() {
    std::vector<Reader> readers;
    for (auto launch : block.getOps<ir::LaunchOp>()) {
      Reader reader{launch, {}, {}};
      for (OpOperand &operand : launch->getOpOperands())
        if (FlatSymbolRefAttr param = paramBehind(operand.get())) {
          int64_t bucket = numbers.lookup(sharded.home.lookup(param));
          auto known = llvm::find(reader.buckets, bucket);
          reader.uses.push_back({&operand, known - reader.buckets.begin()});
          if (known == reader.buckets.end())
            reader.buckets.push_back(bucket);
        }
      if (!reader.uses.empty())
        readers.push_back(std::move(reader));
    }
    return readers;
  }

  /// Bytes of launches' results that are live while a launch runs, gradients left out.
  llvm::DenseMap<Operation *, int64_t> liveActivations() const {
    llvm::DenseMap<Value, Operation *> last;
    for (Operation &op : block)
      for (Value operand : op.getOperands())
        last[traceView(operand).root] = &op;
    llvm::DenseMap<Operation *, int64_t> dying, live;
    int64_t now = 0;
    for (Operation &op : block) {
      if (isa<ir::LaunchOp>(op))
        for (Value result : op.getResults())
          if (Operation *end = last.lookup(result); end && !sinkOf(result)) {
            now += bytesOf(result.getType());
            dying[end] += bytesOf(result.getType());
          }
      live[&op] = now;
      now -= dying.lookup(&op);
    }
    return live;
  }

  /// By reader and its bucket. What is resident has one region.
  std::vector<std::vector<int64_t>> regionsFor(ArrayRef<Reader> readers) const {
    if (!gathers) {
      std::vector<std::vector<int64_t>> resident;
      for (const Reader &reader : readers)
        resident.push_back(reader.buckets);
      return resident;
    }
    llvm::DenseMap<Operation *, int64_t> live;
    if (holdBytes >= 0)
      live = liveActivations();
    std::vector<BucketReader> reads;
    for (const Reader &reader : readers)
      reads.push_back({reader.buckets, isRecomputed(reader.launch), live.lookup(reader.launch)});
    std::vector<int64_t> bytes;
    for (ir::BucketOp bucket : sharded.buckets)
      bytes.push_back(bucket.getLength() * bucket.getElementBytes());
    return regionsOf(reads, bytes, holdBytes);
  }

  void placeFor(const Reader &reader, ArrayRef<int64_t> numbers) {
    builder.setInsertionPoint(reader.launch);
    for (auto [bucket, number] : llvm::zip(reader.buckets, numbers))
      if (Region &region = regions[number]; !region.full)
        region.full = makeFull(ir::LaunchOp(reader.launch).getLoc(), sharded.buckets[bucket]);
    for (auto [operand, place] : reader.uses)
      operand->set(viewIn(regions[numbers[place]], operand->get()));
  }

  Value makeFull(Location loc, ir::BucketOp bucket) {
    auto name = FlatSymbolRefAttr::get(bucket.getSymNameAttr());
    Type type = ir::FullType::get(builder.getContext(), name);
    if (gathers)
      return ir::AllGatherOp::create(builder, loc, type, name).getFull();
    return ir::ResidentOp::create(builder, loc, type, name).getFull();
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
  int64_t holdBytes;
  Block &block;
  OpBuilder builder;
  SmallVector<Operation *> stale;
  llvm::DenseSet<Operation *> isStale;
  llvm::DenseMap<Attribute, int64_t> numbers; // of buckets, in order of the text
  llvm::DenseMap<int64_t, Region> regions;
};

} // namespace

LogicalResult placeParameters(Sharded &sharded, int64_t holdBytes) {
  if (sharded.eval && failed(ParameterPlacer(sharded, sharded.eval, holdBytes).run()))
    return failure();
  return ParameterPlacer(sharded, sharded.microStep, holdBytes).run();
}

} // namespace zero
