//===- Lifetimes.cpp - which bytes of a segment must hold, and when ----------===//
//
// A buffer lives from the op that first writes it to the op behind which no one
// reads it: a gathered bucket from its start to its free, gradients from the
// launch that forms the first one to the wait on their reduction, an activation
// from its launch to its last reader. Launches run in order on one stream, and
// every start comes after the compute work before it, so that op order is time.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Lifetimes.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Views.h"

using namespace mlir;

namespace zero {

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

ModuleIndex::ModuleIndex(ModuleOp module) {
  for (Operation &op : module.getBody()->getOperations()) {
    if (auto bucket = dyn_cast<ir::BucketOp>(op)) {
      buckets[bucket.getSymName()] = bucket;
      bucketOrder.push_back(bucket);
      for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>())
        slots[(bucket.getSymName() + "/" + slot.getParam()).str()] = slot;
    } else if (auto state = dyn_cast<ir::StateOp>(op)) {
      states[state.getBucket()] = state;
    } else if (auto cell = dyn_cast<ir::CellOp>(op)) {
      cells[cell.getSymName()] = cell;
    } else if (auto kernel = dyn_cast<ir::KernelOp>(op)) {
      kernels[kernel.getSymName()] = kernel;
    }
  }
}

int64_t ModuleIndex::fullBytes(StringRef bucket) const {
  ir::BucketOp op = buckets.lookup(bucket);
  return op ? op.getLength() * op.getElementBytes() : 0;
}

int64_t ModuleIndex::gradientElementBytes(StringRef bucket) const {
  ir::StateOp state = states.lookup(bucket);
  ir::HeldAttr held = state ? state.findGradient() : ir::HeldAttr();
  return held ? held.getType().getIntOrFloatBitWidth() / 8 : 0;
}

int64_t ModuleIndex::fullGradientBytes(StringRef bucket) const {
  ir::BucketOp op = buckets.lookup(bucket);
  return op ? op.getLength() * gradientElementBytes(bucket) : 0;
}

bool ModuleIndex::gradsAllocate(StringRef bucket) const {
  ir::StateOp state = states.lookup(bucket);
  ir::HeldAttr held = state ? state.findGradient() : ir::HeldAttr();
  return held && held.getSharded();
}

ir::SlotOp ModuleIndex::slot(StringRef bucket, StringRef param) const {
  return slots.lookup((bucket + "/" + param).str());
}

StringRef nameOf(BufferKind kind) {
  switch (kind) {
  case BufferKind::Input:
    return "input";
  case BufferKind::Gather:
    return "gather";
  case BufferKind::Gradient:
    return "gradient";
  case BufferKind::Activation:
    return "activation";
  case BufferKind::Workspace:
    return "workspace";
  }
  return "";
}

Value Lifetimes::rootOf(Value value) {
  while (true) {
    Value root = traceView(value).root;
    if (auto view = root.getDefiningOp<ir::ViewOp>())
      root = view.getFull();
    if (root == value)
      return root;
    value = root;
  }
}

int64_t Lifetimes::bufferOf(Value value) const {
  auto found = bufferByValue.find(rootOf(value));
  return found == bufferByValue.end() ? -1 : found->second;
}

FailureOr<Lifetimes> Lifetimes::compute(ir::SegmentOp segment, const ModuleIndex &index,
                                        int64_t threadsPerRank) {
  Lifetimes result;
  Block &block = segment.getBody().front();
  auto add = [&](LiveBuffer buffer, Value value) {
    if (value)
      result.bufferByValue[value] = result.buffers.size();
    result.buffers.push_back(std::move(buffer));
    return static_cast<int64_t>(result.buffers.size()) - 1;
  };
  auto alias = [&](Value value, int64_t buffer) {
    if (buffer >= 0)
      result.bufferByValue[value] = buffer;
  };

  for (BlockArgument arg : block.getArguments()) {
    LiveBuffer buffer{BufferKind::Input,  {}, bytesOf(arg.getType()), 0, 1, nullptr,
                      arg.getArgNumber(), -1};
    buffer.name = cast<StringAttr>(segment.getNames()[arg.getArgNumber()]).str();
    if (auto offsets = segment.getOffsets())
      buffer.offset = (*offsets)[arg.getArgNumber()];
    add(buffer, arg);
  }

  llvm::StringMap<int64_t> workspaces;
  int64_t time = 0;
  for (Operation &op : block) {
    result.times[&op] = time;
    for (Value operand : op.getOperands())
      if (int64_t buffer = result.bufferOf(operand); buffer >= 0)
        result.buffers[buffer].upper = std::max(result.buffers[buffer].upper, time + 1);

    if (auto start = dyn_cast<ir::AllGatherStartOp>(op)) {
      if (!start.getInPlace())
        add({BufferKind::Gather, start.getBucket().str(), index.fullBytes(start.getBucket()), time,
             time + 1, &op, 0, static_cast<int64_t>(start.getOffset().value_or(-1))},
            start.getFuture());
    } else if (auto wait = dyn_cast<ir::WaitOp>(op)) {
      if (wait.getFull())
        alias(wait.getFull(), result.bufferOf(wait.getFuture()));
    } else if (auto grads = dyn_cast<ir::GradsOp>(op)) {
      if (index.gradsAllocate(grads.getBucket()))
        add({BufferKind::Gradient, grads.getBucket().str(),
             index.fullGradientBytes(grads.getBucket()), time, time + 1, &op, 0,
             static_cast<int64_t>(grads.getOffset().value_or(-1))},
            grads.getGrads());
    } else if (auto accumulate = dyn_cast<ir::AccumulateOp>(op)) {
      int64_t buffer = result.bufferOf(accumulate.getGrads());
      alias(accumulate.getResult(), buffer);
      Operation *former = rootOf(accumulate.getGradient()).getDefiningOp();
      if (buffer >= 0 && former)
        result.buffers[buffer].lower = std::min(result.buffers[buffer].lower, result.times[former]);
    } else if (isa<ir::ReduceScatterStartOp, ir::AllReduceStartOp>(op)) {
      alias(op.getResult(0), result.bufferOf(op.getOperand(0)));
    } else if (auto launch = dyn_cast<ir::LaunchOp>(op)) {
      for (OpResult out : launch->getResults()) {
        auto place = launch.getPlaces()
                         ? cast<ir::PlaceAttr>((*launch.getPlaces())[out.getResultNumber()])
                         : ir::PlaceAttr();
        if (place && place.getKind() == ir::PlaceKind::Inout)
          alias(out, result.bufferOf(launch.getArgs()[place.getValue()]));
        else if (!sinkOf(out))
          add({BufferKind::Activation, launch.getKernel().str(), bytesOf(out.getType()), time,
               time + 1, &op, out.getResultNumber(),
               place && place.getKind() == ir::PlaceKind::At ? place.getValue() : -1},
              out);
        if (int64_t buffer = result.bufferOf(out); buffer >= 0)
          result.buffers[buffer].upper = std::max(result.buffers[buffer].upper, time + 1);
      }
      auto [known, isNew] = workspaces.try_emplace(launch.getKernel(), 0);
      if (isNew) {
        std::string why;
        std::optional<KernelCall> call =
            describeKernel(index.kernels.lookup(launch.getKernel()), threadsPerRank, why);
        if (!call)
          return launch.emitOpError() << "expects a kernel that can be computed: " << why;
        known->second = call->workspaceBytes;
      }
      if (known->second > 0)
        add({BufferKind::Workspace, launch.getKernel().str(), known->second, time, time + 1, &op, 0,
             static_cast<int64_t>(launch.getWorkspace().value_or(-1))},
            Value());
    }
    ++time;
  }
  result.timeCount = time;
  return result;
}

} // namespace zero
