//===- PlanArena.cpp - a place for every byte ----------------------------------===//
//
// State lies at the head of the arena: one row a kind, shards packed behind one
// another, full buckets at multiples of 64 bytes; then the control cells. Behind
// it each segment packs its own buffers, since no value crosses segments: the
// arena is the head and the tallest segment.
//
// A launch's result takes the place of a dying operand where the kernel allows
// it (may_reuse): decided first, so that the planner sees one buffer. The plan is
// verified by the planner's independent check before it is written back.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Views.h"
#include "zero/Planning/Arena.h"

namespace zero {
#define GEN_PASS_DEF_PLANARENAPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kAlignmentBytes = 64;

int64_t alignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class PlanArena : public impl::PlanArenaPassBase<PlanArena> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(expectLevel(module, Level::Scheduled)))
      return signalPassFailure();
    std::optional<ir::Config> config = ir::Config::get(module);
    if (!config)
      return signalPassFailure();
    ModuleIndex index(module);
    int64_t persistent = placeCells(index, placeStates(index, config->ranks));
    if (persistent < 0) {
      emitError(module.getLoc(), "expects model states of at most 2^60 bytes a rank");
      return signalPassFailure();
    }
    int64_t bytes = persistent, bound = persistent;
    for (auto segment : module.getOps<ir::SegmentOp>()) {
      chooseReuse(segment, index);
      chooseModes(segment, index);
      if (failed(planSegment(segment, index, config->threadsPerRank, persistent, bytes, bound)))
        return signalPassFailure();
    }
    OpBuilder builder(&module.getBody()->front());
    builder.setInsertionPoint(*module.getOps<ir::SegmentOp>().begin());
    ir::ArenaOp::create(builder, module.getLoc(), bytes, persistent, bound);
  }

private:
  /// One row a kind of state. Returns the end, a multiple of the alignment, or -1 past 2^60.
  int64_t placeStates(ModuleIndex &index, int64_t ranks) {
    int64_t end = 0;
    for (uint32_t k = 0; k <= ir::getMaxEnumValForStateKind(); ++k) {
      auto kind = static_cast<ir::StateKind>(k);
      for (ir::BucketOp bucket : index.bucketOrder) {
        ir::StateOp state = index.states.lookup(bucket.getSymName());
        ir::HeldAttr held = state ? state.find(kind) : ir::HeldAttr();
        if (!held)
          continue;
        int64_t width = held.getType().getIntOrFloatBitWidth() / 8;
        int64_t length = held.getSharded() ? bucket.getLength() / ranks : bucket.getLength();
        end = alignUp(end, held.getSharded() ? width : kAlignmentBytes);
        setOffset(state, held, end);
        if (length > (int64_t(1) << 60) / width - end / width)
          return -1;
        end += length * width;
      }
      end = alignUp(end, kAlignmentBytes);
    }
    return end;
  }

  static void setOffset(ir::StateOp state, ir::HeldAttr held, int64_t offset) {
    SmallVector<Attribute> entries;
    for (Attribute attr : state.getHeld()) {
      auto entry = cast<ir::HeldAttr>(attr);
      entries.push_back(entry == held
                            ? ir::HeldAttr::get(entry.getContext(), entry.getKind(),
                                                entry.getType(), entry.getSharded(), offset)
                            : entry);
    }
    state.setHeldAttr(ArrayAttr::get(state.getContext(), entries));
  }

  int64_t placeCells(ModuleIndex &, int64_t end) {
    if (end < 0)
      return end;
    for (auto cell : getOperation().getOps<ir::CellOp>()) {
      auto type = cast<RankedTensorType>(cell.getType());
      end = alignUp(end, type.getElementTypeBitWidth() / 8);
      cell.setOffset(end);
      end += bytesOf(type);
    }
    return alignUp(end, kAlignmentBytes);
  }

  /// A result over an operand that dies here: the first in `may_reuse` that owns all its bytes.
  void chooseReuse(ir::SegmentOp segment, ModuleIndex &index) {
    Block &block = segment.getBody().front();
    llvm::DenseMap<Value, Operation *> lastUse; // of the bytes under a root
    llvm::DenseMap<Value, Value> owner;         // a reused result → the root whose bytes it took
    auto bytesRoot = [&](Value value) {
      Value root = Lifetimes::rootOf(value);
      auto found = owner.find(root);
      return found == owner.end() ? root : found->second;
    };
    for (Operation &op : block)
      for (Value operand : op.getOperands())
        lastUse[Lifetimes::rootOf(operand)] = &op;
    for (auto launch : block.getOps<ir::LaunchOp>()) {
      ir::KernelOp kernel = index.kernels.lookup(launch.getKernel());
      SmallVector<Attribute> places;
      llvm::DenseSet<Value> taken;
      for (OpResult out : launch->getResults()) {
        ir::PlaceKind kind = ir::PlaceKind::At;
        int64_t value = 0;
        if (Operation *sink = sinkOf(out))
          kind = isa<ir::SetOp>(sink) ? ir::PlaceKind::Cell : ir::PlaceKind::Slot;
        if (kind == ir::PlaceKind::At)
          for (int64_t candidate : kernel.getMayReuseOf(out.getResultNumber())) {
            Value operand = launch.getArgs()[candidate];
            Value root = Lifetimes::rootOf(operand);
            bool owns = root.getDefiningOp<ir::LaunchOp>() && !sinkOf(root) &&
                        traceView(operand).root == root &&
                        traceView(operand).coversRoot(cast<RankedTensorType>(operand.getType()));
            if (!owns || lastUse.lookup(root) != launch.getOperation() ||
                llvm::count_if(launch.getArgs(),
                               [&](Value v) { return Lifetimes::rootOf(v) == root; }) != 1 ||
                !taken.insert(bytesRoot(root)).second)
              continue;
            kind = ir::PlaceKind::Inout;
            value = candidate;
            owner[out] = bytesRoot(root);
            break;
          }
        places.push_back(ir::PlaceAttr::get(&getContext(), kind, value));
      }
      launch.setPlacesAttr(ArrayAttr::get(&getContext(), places));
    }
  }

  /// The first accumulation into a slot writes it, later ones add. Where the gradients are full
  /// state that several runs share, the first one writes in the first run only.
  void chooseModes(ir::SegmentOp segment, ModuleIndex &index) {
    llvm::DenseSet<std::pair<StringRef, StringRef>> met;
    for (auto accumulate : segment.getBody().front().getOps<ir::AccumulateOp>()) {
      StringRef bucket =
          cast<ir::GradsType>(accumulate.getGrads().getType()).getBucket().getValue();
      auto mode = ir::AccumulateMode::Add;
      if (met.insert({bucket, accumulate.getParam()}).second)
        mode = segment.getTimes() > 1 && !index.gradsAllocate(bucket)
                   ? ir::AccumulateMode::WriteFirst
                   : ir::AccumulateMode::Write;
      accumulate.setMode(mode);
    }
  }

  LogicalResult planSegment(ir::SegmentOp segment, ModuleIndex &index, int64_t threads,
                            int64_t persistent, int64_t &bytes, int64_t &bound) {
    FailureOr<Lifetimes> lifetimes = Lifetimes::compute(segment, index, threads);
    if (failed(lifetimes))
      return failure();
    planning::arena::Problem problem;
    for (auto [i, buffer] : llvm::enumerate(lifetimes->buffers)) {
      planning::arena::Buffer rectangle;
      rectangle.id = static_cast<int64_t>(i);
      rectangle.name = (nameOf(buffer.kind) + " " + buffer.name).str();
      rectangle.lower = buffer.lower;
      rectangle.upper = buffer.upper;
      rectangle.sizeBytes = buffer.bytes;
      rectangle.alignmentBytes = kAlignmentBytes;
      problem.buffers.push_back(std::move(rectangle));
    }
    if (std::optional<std::string> wrong = planning::arena::check(problem))
      return segment.emitOpError() << "cannot be packed: " << *wrong;
    planning::arena::Plan plan = planning::arena::plan(problem);
    if (std::optional<std::string> wrong = planning::arena::verify(problem, plan))
      return segment.emitOpError() << "got a wrong packing from the planner: " << *wrong;
    for (auto [buffer, offset] : llvm::zip(lifetimes->buffers, plan.offsets))
      buffer.offset = persistent + offset;
    writeBack(segment, *lifetimes);
    bytes = std::max(bytes, persistent + plan.heightBytes);
    bound = std::max(bound, persistent + plan.lowerBoundBytes);
    return success();
  }

  void writeBack(ir::SegmentOp segment, const Lifetimes &lifetimes) {
    SmallVector<int64_t> inputs(segment.getBody().front().getNumArguments());
    for (const LiveBuffer &buffer : lifetimes.buffers) {
      if (!buffer.owner) {
        inputs[buffer.index] = buffer.offset;
      } else if (auto start = dyn_cast<ir::AllGatherStartOp>(buffer.owner)) {
        start.setOffset(buffer.offset);
      } else if (auto grads = dyn_cast<ir::GradsOp>(buffer.owner)) {
        grads.setOffset(buffer.offset);
      } else if (auto launch = dyn_cast<ir::LaunchOp>(buffer.owner)) {
        if (buffer.kind == BufferKind::Workspace) {
          launch.setWorkspace(buffer.offset);
          continue;
        }
        SmallVector<Attribute> places(launch.getPlacesAttr().getValue());
        places[buffer.index] = ir::PlaceAttr::get(&getContext(), ir::PlaceKind::At, buffer.offset);
        launch.setPlacesAttr(ArrayAttr::get(&getContext(), places));
      }
    }
    segment.setOffsets(inputs);
  }
};

} // namespace
} // namespace zero
