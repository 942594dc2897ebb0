//===- BuildSchedule.cpp - a segment as the checker sees it -----------------===//
//
// Every op becomes a row with the bytes it reads and writes. A strided operand
// counts as all bytes from its first element to its last, which can only refuse
// too much. At level S buffers have bytes of their own; at level A they have
// offsets in one arena, and the checker finds the overlaps.
//
//===----------------------------------------------------------------------===//

#include "BuildSchedule.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Views.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace ps = zero::planning::schedule;

namespace zero {

namespace {

int64_t widthOf(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }
int64_t tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * widthOf(tensor.getElementType());
}

class Builder {
public:
  Builder(ir::SegmentOp segment, ModuleOp module, int64_t threadsPerRank)
      : segment(segment), threadsPerRank(threadsPerRank), symbols(module) {
    for (auto state : module.getOps<ir::StateOp>())
      states[state.getBucket()] = state;
    if (auto arenas = module.getOps<ir::ArenaOp>(); !arenas.empty())
      out.schedule.arenaBytes = (*arenas.begin()).getBytes();
    for (auto bucket : module.getOps<ir::BucketOp>())
      addBucket(bucket);
    for (auto cell : module.getOps<ir::CellOp>())
      cells[cell.getSymName()] = addBuffer(cell.getSymName(), ps::BufferKind::State,
                                           tensorBytes(cell.getType()), cell.getOffset());
  }

  FailureOr<SegmentSchedule> run() {
    Block &block = segment.getBody().front();
    for (BlockArgument arg : block.getArguments()) {
      std::optional<int64_t> offset;
      if (segment.getOffsets())
        offset = (*segment.getOffsets())[arg.getArgNumber()];
      buffers[arg] = addBuffer(cast<StringAttr>(segment.getNames()[arg.getArgNumber()]).getValue(),
                               ps::BufferKind::Input, tensorBytes(arg.getType()), offset);
    }
    for (Operation &op : block)
      if (failed(addRow(op)))
        return failure();
    return std::move(out);
  }

private:
  int64_t addBuffer(const Twine &name, ps::BufferKind kind, int64_t bytes,
                    std::optional<int64_t> offset) {
    out.schedule.buffers.push_back({name.str(), kind, offset, bytes});
    return static_cast<int64_t>(out.schedule.buffers.size()) - 1;
  }

  void addBucket(ir::BucketOp bucket) {
    ir::StateOp state = states.lookup(bucket.getSymName());
    if (!state)
      return;
    for (Attribute attr : state.getHeld()) {
      auto held = cast<ir::HeldAttr>(attr);
      int64_t length =
          held.getSharded() ? bucket.getLength() / bucket.getRanks() : bucket.getLength();
      std::optional<int64_t> offset;
      if (held.getOffset() >= 0)
        offset = held.getOffset();
      std::string name = (stringifyStateKind(held.getKind()) + " of " + bucket.getSymName()).str();
      stateBuffers[key(bucket.getSymName(), held.getKind())] =
          addBuffer(name, ps::BufferKind::State, length * widthOf(held.getType()), offset);
    }
    ir::HeldAttr gradient = state.findGradient();
    if (!gradient)
      return;
    // What one run of this segment owes the bucket (S4).
    ps::Bucket owed;
    owed.name = bucket.getSymName().str();
    bool forms = segment.getSymName() == "micro_step", updates = segment.getSymName() == "update";
    owed.reductions = gradient.getSharded() ? forms : updates;
    for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>()) {
      slotNumber[(bucket.getSymName() + "/" + slot.getParam()).str()] = owed.slots.size();
      owed.slots.push_back(
          {slot.getParam().str(), forms ? static_cast<int64_t>(slot.getContributions()) : 0});
    }
    bucketNumber[bucket.getSymName()] = out.schedule.buckets.size();
    out.schedule.buckets.push_back(std::move(owed));
  }

  static std::string key(StringRef bucket, ir::StateKind kind) {
    return (bucket + "/" + stringifyStateKind(kind)).str();
  }

  int64_t stateBuffer(StringRef bucket, ir::StateKind kind) {
    auto found = stateBuffers.find(key(bucket, kind));
    return found == stateBuffers.end() ? -1 : found->second;
  }

  int64_t gradientState(StringRef bucket) {
    ir::StateOp state = states.lookup(bucket);
    ir::HeldAttr held = state ? state.findGradient() : ir::HeldAttr();
    return held ? stateBuffer(bucket, held.getKind()) : -1;
  }

  bool gradientIsSharded(StringRef bucket) {
    ir::StateOp state = states.lookup(bucket);
    ir::HeldAttr held = state ? state.findGradient() : ir::HeldAttr();
    return held && held.getSharded();
  }

  ps::Access whole(int64_t buffer, bool padding = false) {
    return {buffer, 0, out.schedule.buffers[buffer].bytes, padding};
  }

  struct Range {
    int64_t buffer, begin, end;
  };

  /// The bytes [begin, end) of a slot in its full bucket of elements of `width` bytes.
  std::optional<std::pair<int64_t, int64_t>> slotBytes(ir::BucketOp bucket, StringRef param,
                                                       int64_t width) {
    for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
      if (slot.getParam() == param) {
        int64_t begin = static_cast<int64_t>(slot.getOffset());
        return std::pair(begin * width, (begin + slot.getTensorType().getNumElements()) * width);
      }
    return std::nullopt;
  }

  /// Bytes of an element of a bucket's gradients, which may have a type of their own.
  int64_t gradientWidth(StringRef bucket) {
    ir::StateOp state = states.lookup(bucket);
    ir::HeldAttr held = state ? state.findGradient() : ir::HeldAttr();
    return held ? widthOf(held.getType()) : 0;
  }

  /// Where a value's bytes lie.
  std::optional<Range> rangeOf(Value value) {
    View view = traceView(value);
    auto type = cast<RankedTensorType>(value.getType());
    int64_t width = widthOf(type.getElementType()), last = view.offset;
    for (auto [size, step] : llvm::zip(type.getShape(), view.strides))
      last += (size - 1) * step;
    int64_t begin = view.offset * width, end = (last + 1) * width;
    if (auto param = view.root.getDefiningOp<ir::ViewOp>()) {
      auto bucket = symbols.lookup<ir::BucketOp>(
          cast<ir::FullType>(param.getFull().getType()).getBucket().getValue());
      auto full = buffers.find(param.getFull());
      if (!bucket || full == buffers.end())
        return std::nullopt;
      auto slot = slotBytes(bucket, param.getParam(), bucket.getElementBytes());
      if (!slot)
        return std::nullopt;
      return Range{full->second, slot->first + begin, slot->first + end};
    }
    if (auto scalar = view.root.getDefiningOp<ir::ScalarOp>()) {
      auto cell = cells.find(scalar.getCell());
      if (cell == cells.end())
        return std::nullopt;
      return Range{cell->second, begin, end};
    }
    auto found = buffers.find(view.root);
    if (found == buffers.end())
      return std::nullopt;
    return Range{found->second, begin, end};
  }

  LogicalResult read(Operation &op, Value value, ps::Row &row) {
    std::optional<Range> range = rangeOf(value);
    if (!range)
      return op.emitOpError("reads a value that lies nowhere");
    row.reads.push_back({range->buffer, range->begin, range->end});
    return success();
  }

  LogicalResult addRow(Operation &op) {
    ps::Row row;
    row.name = op.getName().stripDialect().str();
    row.kind = ps::RowKind::Other;
    if (auto launch = dyn_cast<ir::LaunchOp>(op)) {
      if (failed(addLaunch(launch, row)))
        return failure();
    } else if (auto start = dyn_cast<ir::AllGatherStartOp>(op)) {
      row.kind = ps::RowKind::Gather;
      row.stream = ps::Stream::Gather;
      row.name += " " + start.getBucket().str();
      int64_t state = stateBuffer(start.getBucket(), ir::StateKind::Param);
      if (state < 0)
        return op.emitOpError("gathers a bucket that holds no parameters");
      row.reads.push_back(whole(state, true));
      if (start.getInPlace()) {
        row.writes.push_back(whole(state, true));
        row.kind = ps::RowKind::Other;
      } else {
        auto bucket = symbols.lookup<ir::BucketOp>(start.getBucket());
        std::optional<int64_t> offset;
        if (start.getOffset())
          offset = *start.getOffset();
        buffers[start.getFuture()] =
            addBuffer(start.getBucket(), ps::BufferKind::Gathered,
                      bucket.getLength() * bucket.getElementBytes(), offset);
        row.writes.push_back(whole(buffers[start.getFuture()]));
      }
    } else if (auto resident = dyn_cast<ir::ResidentOp>(op)) {
      buffers[resident.getFull()] = stateBuffer(resident.getBucket(), ir::StateKind::Param);
      return success();
    } else if (isa<ir::ReduceScatterStartOp, ir::AllReduceStartOp>(op)) {
      StringRef bucket = cast<ir::GradsType>(op.getOperand(0).getType()).getBucket().getValue();
      row.kind = ps::RowKind::Reduction;
      row.stream = ps::Stream::Reduce;
      row.name += " " + bucket.str();
      row.bucket = bucketNumber.lookup(bucket);
      int64_t grads = buffers.lookup(op.getOperand(0));
      row.reads.push_back(whole(grads, true));
      row.writes.push_back(whole(gradientIsSharded(bucket) ? gradientState(bucket) : grads, true));
    } else if (auto wait = dyn_cast<ir::WaitOp>(op)) {
      row.waits.push_back(rowOf.lookup(wait.getFuture().getDefiningOp()));
      if (wait.getFull())
        buffers[wait.getFull()] = buffers.lookup(wait.getFuture());
    } else if (auto release = dyn_cast<ir::FreeOp>(op)) {
      row.frees.push_back(buffers.lookup(release.getFull()));
    } else if (auto grads = dyn_cast<ir::GradsOp>(op)) {
      return beginGrads(grads);
    } else if (auto accumulate = dyn_cast<ir::AccumulateOp>(op)) {
      buffers[accumulate.getResult()] = buffers.lookup(accumulate.getGrads());
      return success();
    } else if (auto count = dyn_cast<ir::CountOp>(op)) {
      if (failed(read(op, count.getLabels(), row)))
        return failure();
      row.writes.push_back(whole(cells.lookup(count.getCell())));
    } else if (auto seed = dyn_cast<ir::SeedOp>(op)) {
      row.reads.push_back(whole(cells.lookup(seed.getCount())));
      row.writes.push_back(whole(cells.lookup(seed.getSeed())));
    } else if (auto random = dyn_cast<ir::RandomOp>(op)) {
      row.writes.push_back(whole(cells.lookup(random.getCell())));
    } else if (auto norm = dyn_cast<ir::NormOp>(op)) {
      for (auto bucket : norm.getBuckets().getAsRange<FlatSymbolRefAttr>())
        if (int64_t state = gradientState(bucket.getValue()); state >= 0)
          row.reads.push_back(whole(state, true));
      row.writes.push_back(whole(cells.lookup(norm.getCell())));
    } else if (auto update = dyn_cast<ir::UpdateOp>(op)) {
      row.reads.push_back(whole(cells.lookup(update.getNorm())));
      for (uint32_t k = 0; k <= ir::getMaxEnumValForStateKind(); ++k)
        if (int64_t state = stateBuffer(update.getBucket(), static_cast<ir::StateKind>(k));
            state >= 0) {
          row.reads.push_back(whole(state, true));
          auto kind = static_cast<ir::StateKind>(k);
          if (kind != ir::StateKind::Grad && kind != ir::StateKind::GradAccum)
            row.writes.push_back(whole(state, true));
        }
    } else {
      return success(); // views and scalars name bytes, and touch none
    }
    rowOf[&op] = out.schedule.rows.size();
    out.schedule.rows.push_back(std::move(row));
    out.ops.push_back(&op);
    return success();
  }

  /// A buffer of its own where the state is sharded; else the state itself. Launches that form
  /// gradients stand before the op that begins the value, so they ask here too.
  LogicalResult beginGrads(ir::GradsOp grads) {
    if (!buffers.contains(grads.getGrads()))
      buffers[grads.getGrads()] = gradsBuffer(grads);
    if (buffers[grads.getGrads()] < 0)
      return grads.emitOpError("begins gradients of a bucket that holds none");
    return success();
  }

  int64_t gradsBuffer(ir::GradsOp grads) {
    if (!gradientIsSharded(grads.getBucket()))
      return gradientState(grads.getBucket());
    auto bucket = symbols.lookup<ir::BucketOp>(grads.getBucket());
    std::optional<int64_t> offset;
    if (grads.getOffset())
      offset = *grads.getOffset();
    return addBuffer("gradients of " + grads.getBucket().str(), ps::BufferKind::Grads,
                     bucket.getLength() * gradientWidth(grads.getBucket()), offset);
  }

  LogicalResult addLaunch(ir::LaunchOp launch, ps::Row &row) {
    row.kind = ps::RowKind::Launch;
    row.name = "launch " + launch.getKernel().str();
    for (Value arg : launch.getArgs())
      if (failed(read(*launch, arg, row)))
        return failure();
    for (OpResult result : launch->getResults())
      if (failed(addResult(launch, result, row)))
        return failure();
    auto kernel = symbols.lookup<ir::KernelOp>(launch.getKernel());
    std::string why;
    std::optional<KernelCall> call = describeKernel(kernel, threadsPerRank, why);
    if (!call)
      return launch.emitOpError() << "expects a kernel that can be computed: " << why;
    if (call->workspaceBytes > 0 && out.schedule.arenaBytes) {
      if (!launch.getWorkspace())
        return launch.emitOpError()
               << "expects a workspace of " << call->workspaceBytes << " bytes";
      row.writes.push_back(
          whole(addBuffer("workspace of " + launch.getKernel().str(), ps::BufferKind::Value,
                          call->workspaceBytes, *launch.getWorkspace())));
    }
    return success();
  }

  LogicalResult addResult(ir::LaunchOp launch, OpResult result, ps::Row &row) {
    if (Operation *sink = sinkOf(result)) {
      if (auto set = dyn_cast<ir::SetOp>(sink)) {
        row.writes.push_back(whole(cells.lookup(set.getCell())));
        return success();
      }
      return addAccumulation(cast<ir::AccumulateOp>(sink), row);
    }
    ir::PlaceAttr place;
    if (launch.getPlaces())
      place = cast<ir::PlaceAttr>((*launch.getPlaces())[result.getResultNumber()]);
    std::optional<int64_t> offset;
    if (place && place.getKind() == ir::PlaceKind::At)
      offset = place.getValue();
    if (place && place.getKind() == ir::PlaceKind::Inout) {
      std::optional<Range> operand = rangeOf(launch.getArgs()[place.getValue()]);
      if (!operand)
        return launch.emitOpError("writes over an operand that lies nowhere");
      if (std::optional<int64_t> base = out.schedule.buffers[operand->buffer].offset)
        offset = *base + operand->begin;
      // The kernel reads the bytes through other arguments too: they must allow the same.
      auto kernel = symbols.lookup<ir::KernelOp>(launch.getKernel());
      for (auto [i, other] : llvm::enumerate(launch.getArgs())) {
        std::optional<Range> range = rangeOf(other);
        bool meets = range && range->buffer == operand->buffer && range->begin < operand->end &&
                     operand->begin < range->end;
        if (meets && !llvm::is_contained(kernel.getMayReuseOf(result.getResultNumber()),
                                         static_cast<int64_t>(i)))
          return launch.emitOpError() << "(S1) writes result " << result.getResultNumber()
                                      << " over bytes that operand " << i << " reads too";
      }
    }
    int64_t buffer = addBuffer("result " + std::to_string(result.getResultNumber()) + " of " +
                                   launch.getKernel().str(),
                               ps::BufferKind::Value, tensorBytes(result.getType()), offset);
    buffers[result] = buffer;
    row.writes.push_back(whole(buffer));
    if (place && place.getKind() == ir::PlaceKind::Inout)
      row.inouts.push_back({rangeOf(launch.getArgs()[place.getValue()])->buffer, buffer});
    return success();
  }

  LogicalResult addAccumulation(ir::AccumulateOp accumulate, ps::Row &row) {
    StringRef bucket = cast<ir::GradsType>(accumulate.getGrads().getType()).getBucket().getValue();
    Value begin = accumulate.getGrads();
    while (auto earlier = begin.getDefiningOp<ir::AccumulateOp>())
      begin = earlier.getGrads();
    auto grads = begin.getDefiningOp<ir::GradsOp>();
    auto home = symbols.lookup<ir::BucketOp>(bucket);
    auto slot = home ? slotBytes(home, accumulate.getParam(), gradientWidth(bucket)) : std::nullopt;
    if (!grads || !slot)
      return accumulate.emitOpError("accumulates into a slot that the bucket does not have");
    if (failed(beginGrads(grads)))
      return failure();
    int64_t buffer = buffers[grads.getGrads()];
    std::string name = (bucket + "/" + accumulate.getParam()).str();
    // Before places are given, the first accumulation of a slot writes and the others add.
    ps::Mode mode = written.insert(name).second ? ps::Mode::Write : ps::Mode::Add;
    if (accumulate.getMode())
      mode = static_cast<ps::Mode>(*accumulate.getMode() == ir::AccumulateMode::Write        ? 0
                                   : *accumulate.getMode() == ir::AccumulateMode::WriteFirst ? 1
                                                                                             : 2);
    ps::Access target{buffer, slot->first, slot->second};
    row.accumulates.push_back({bucketNumber.lookup(bucket), slotNumber.lookup(name), mode, target});
    if (mode != ps::Mode::Write)
      row.reads.push_back(target);
    row.writes.push_back(target);
    return success();
  }

  ir::SegmentOp segment;
  int64_t threadsPerRank;
  SymbolTable symbols;
  SegmentSchedule out;
  llvm::StringMap<ir::StateOp> states;
  llvm::StringMap<int64_t> stateBuffers, cells, bucketNumber, slotNumber;
  llvm::DenseMap<Value, int64_t> buffers;
  llvm::DenseMap<Operation *, int64_t> rowOf;
  llvm::StringSet<> written;
};

} // namespace

FailureOr<SegmentSchedule> buildSchedule(ir::SegmentOp segment, ModuleOp module) {
  std::optional<ir::Config> config = ir::Config::get(module);
  if (!config)
    return failure();
  return Builder(segment, module, config->threadsPerRank).run();
}

} // namespace zero
