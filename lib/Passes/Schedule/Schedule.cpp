//===- Schedule.cpp - launches and collectives on streams -------------------===//
//
// Gathers are issued one change of buckets ahead: where a launch reads a bucket that
// the reader before it did not, the gathers of the next such launch are started, and
// then its own are waited for. A bucket that is held for a later reader puts this off
// as little as one that is gathered again. A start comes after all compute work issued
// before it, so a gather may overwrite what that work has freed.
//
// A reduction starts right behind the accumulation that completes its bucket. At
// most two are in flight: before the launch that completes a third, the oldest is
// waited for, so that its buffer is free when that launch runs. Buffers are freed
// behind their last reader; a segment ends with all streams joined.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Views.h"

#include "llvm/ADT/MapVector.h"

namespace zero {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr size_t kReductionsInFlight = 2;

class SegmentScheduler {
public:
  explicit SegmentScheduler(ir::SegmentOp segment)
      : block(segment.getBody().front()), builder(segment.getContext()) {}

  void run() {
    for (auto launch : block.getOps<ir::LaunchOp>())
      launch.setStream(ir::Stream::Compute);
    splitGathers();
    splitReductions();
    splitInPlaceGathers();
  }

private:
  /// Values that are views of `value`, and the first and last op that really reads one.
  struct Readers {
    Operation *first = nullptr, *last = nullptr;
  };

  void collectReaders(Value value, Attribute bucket, Readers &readers) {
    for (Operation *user : value.getUsers()) {
      if (isa<ir::ViewOp, nn::BarrierOp>(user) || isView(user)) {
        for (Value result : user->getResults())
          collectReaders(result, bucket, readers);
        continue;
      }
      read[user].insert(bucket);
      if (!readers.first || user->isBeforeInBlock(readers.first))
        readers.first = user;
      if (!readers.last || readers.last->isBeforeInBlock(user))
        readers.last = user;
    }
  }

  void splitGathers() {
    // Gathers by the launch that reads them first, in order of those launches.
    struct Region {
      Operation *firstReader;
      SmallVector<ir::AllGatherOp> gathers;
    };
    llvm::MapVector<Operation *, Region> regions;
    for (auto gather : llvm::make_early_inc_range(block.getOps<ir::AllGatherOp>())) {
      Readers readers;
      collectReaders(gather.getFull(), gather.getBucketAttr(), readers);
      if (!readers.first) { // nothing reads it: nothing moves
        eraseWithViews(gather);
        continue;
      }
      Region &region = regions[readers.first];
      region.firstReader = readers.first;
      region.gathers.push_back(gather);
      builder.setInsertionPointAfter(readers.last);
      ir::FreeOp::create(builder, gather.getLoc(), gather.getFull());
    }
    SmallVector<Region> order;
    for (auto &entry : regions)
      order.push_back(entry.second);
    llvm::stable_sort(order, [](const Region &a, const Region &b) {
      return a.firstReader->isBeforeInBlock(b.firstReader);
    });
    SmallVector<Operation *> starts = placesToStart(
        llvm::map_to_vector(order, [](const Region &region) { return region.firstReader; }));
    SmallVector<SmallVector<Value>> futures(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      Operation *anchor = firstOf(order[i].gathers);
      if (i == 0) {
        builder.setInsertionPointToStart(&block);
        futures[0] = start(order[0].gathers);
      }
      if (i + 1 < order.size()) {
        bool isLater = starts[i + 1] != order[i].firstReader;
        builder.setInsertionPoint(isLater ? starts[i + 1] : anchor);
        futures[i + 1] = start(order[i + 1].gathers);
      }
      for (auto [gather, future] : llvm::zip(order[i].gathers, futures[i])) {
        builder.setInsertionPoint(gather);
        auto wait = ir::WaitOp::create(builder, gather.getLoc(), gather.getFull().getType(), future,
                                       ir::Stream::Compute);
        gather.getFull().replaceAllUsesWith(wait.getFull());
        gather.erase();
      }
    }
  }

  /// By region's first reader: the last launch before it that reads another bucket than the reader
  /// before, or gathers one, in the block's order. None for the first region.
  SmallVector<Operation *> placesToStart(ArrayRef<Operation *> firstReaders) {
    SmallVector<Operation *> places;
    Operation *change = nullptr;
    const llvm::DenseSet<Attribute> *before = nullptr;
    for (Operation &op : block) {
      auto found = read.find(&op);
      if (found == read.end())
        continue;
      bool isFirst = places.size() < firstReaders.size() && firstReaders[places.size()] == &op;
      if (isFirst)
        places.push_back(change);
      if (isFirst ||
          llvm::any_of(found->second, [&](Attribute bucket) { return !before->contains(bucket); }))
        change = &op;
      before = &found->second;
    }
    return places;
  }

  static Operation *firstOf(ArrayRef<ir::AllGatherOp> gathers) {
    Operation *first = gathers.front();
    for (ir::AllGatherOp gather : gathers)
      if (gather->isBeforeInBlock(first))
        first = gather;
    return first;
  }

  SmallVector<Value> start(ArrayRef<ir::AllGatherOp> gathers) {
    SmallVector<Value> futures;
    for (ir::AllGatherOp gather : gathers)
      futures.push_back(ir::AllGatherStartOp::create(
          builder, gather.getLoc(), futureType(gather.getBucketAttr()), gather.getBucketAttr(),
          /*in_place=*/nullptr, ir::StreamAttr::get(builder.getContext(), ir::Stream::Gather),
          /*offset=*/nullptr));
    return futures;
  }

  Type futureType(FlatSymbolRefAttr bucket) {
    return ir::FutureType::get(builder.getContext(), bucket);
  }

  void eraseWithViews(Operation *op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      eraseWithViews(user);
    op->erase();
  }

  /// The launch whose result the accumulation behind `grads` takes, or null in `update`.
  static Operation *completingLaunch(Value grads) {
    auto accumulate = grads.getDefiningOp<ir::AccumulateOp>();
    if (!accumulate)
      return nullptr;
    return traceView(accumulate.getGradient()).root.getDefiningOp<ir::LaunchOp>();
  }

  void splitReductions() {
    struct InFlight {
      Value future;
      Location loc;
      int64_t position; // in the block, before anything is inserted
    };
    SmallVector<InFlight> inFlight;
    llvm::DenseMap<Operation *, int64_t> positions;
    for (Operation &op : block)
      positions.try_emplace(&op, positions.size());
    size_t waited = 0;
    auto waitOldest = [&] {
      ir::WaitOp::create(builder, inFlight[waited].loc, Type(), inFlight[waited].future,
                         ir::Stream::Compute);
      ++waited;
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      // The norm reads every reduced gradient.
      if (isa<ir::NormOp>(op)) {
        builder.setInsertionPoint(&op);
        while (waited < inFlight.size())
          waitOldest();
      }
      if (!isa<ir::ReduceScatterOp, ir::AllReduceOp>(op))
        continue;
      Value grads = op.getOperand(0);
      if (Operation *launch = completingLaunch(grads))
        while (inFlight.size() - waited >= kReductionsInFlight) {
          // One launch may complete several buckets: then the oldest starts behind it.
          bool isBefore = inFlight[waited].position < positions.lookup(launch);
          builder.setInsertionPoint(isBefore ? launch : &op);
          waitOldest();
        }
      builder.setInsertionPoint(&op);
      auto bucket = cast<ir::GradsType>(grads.getType()).getBucket();
      Value future;
      if (isa<ir::ReduceScatterOp>(op))
        future = ir::ReduceScatterStartOp::create(builder, op.getLoc(), futureType(bucket), grads,
                                                  ir::Stream::Reduce);
      else
        future = ir::AllReduceStartOp::create(builder, op.getLoc(), futureType(bucket), grads,
                                              ir::Stream::Reduce);
      inFlight.push_back({future, op.getLoc(), positions.lookup(&op)});
      op.erase();
    }
    builder.setInsertionPointToEnd(&block);
    while (waited < inFlight.size())
      waitOldest();
  }

  void splitInPlaceGathers() {
    SmallVector<std::pair<Value, Location>> futures;
    for (auto gather : llvm::make_early_inc_range(block.getOps<ir::AllGatherInPlaceOp>())) {
      builder.setInsertionPoint(gather);
      futures.push_back(
          {ir::AllGatherStartOp::create(
               builder, gather.getLoc(), futureType(gather.getBucketAttr()), gather.getBucketAttr(),
               builder.getUnitAttr(), ir::StreamAttr::get(builder.getContext(), ir::Stream::Gather),
               /*offset=*/nullptr),
           gather.getLoc()});
      gather.erase();
    }
    builder.setInsertionPointToEnd(&block);
    for (auto [future, loc] : futures)
      ir::WaitOp::create(builder, loc, Type(), future, ir::Stream::Compute);
  }

  Block &block;
  OpBuilder builder;
  llvm::DenseMap<Operation *, llvm::DenseSet<Attribute>> read; // gathered buckets, by reader
};

class Schedule : public impl::SchedulePassBase<Schedule> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(expectLevel(getOperation(), Level::Sharded)))
      return signalPassFailure();
    for (auto segment : getOperation().getOps<ir::SegmentOp>())
      SegmentScheduler(segment).run();
  }
};

} // namespace
} // namespace zero
