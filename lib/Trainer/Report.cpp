//===- Report.cpp - read the costs off level A ----------------------------===//

#include "zero/Trainer/Report.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Recompute.h"
#include "zero/Runtime/Layout.h"

#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;

namespace zero {

namespace {

int64_t alignUp(int64_t bytes) {
  return (bytes + zrt::kAlignmentBytes - 1) / zrt::kAlignmentBytes * zrt::kAlignmentBytes;
}

class Reader {
public:
  Reader(ModuleOp module, const ir::Config &config, Report &report)
      : module(module), config(config), index(module), report(report) {}

  LogicalResult run() {
    auto arenas = module.getOps<ir::ArenaOp>();
    if (arenas.empty())
      return module.emitError("expects a module at level arena: run zero-plan-arena first");
    ir::ArenaOp arena = *arenas.begin();
    report.ranks = config.ranks;
    report.stage = config.stage;
    report.microSteps = config.microSteps;
    report.arenaBytes = arena.getBytes();
    report.arenaLowerBoundBytes = arena.getLowerBound();
    countStates();
    for (auto cell : module.getOps<ir::CellOp>())
      report.controlBytes += bytesOf(cell.getType());
    int64_t states = 0;
    for (int64_t bytes : report.modelStateBytes)
      states += bytes;
    report.paddingBytes =
        static_cast<int64_t>(arena.getPersistent()) - states - report.controlBytes;
    for (auto segment : module.getOps<ir::SegmentOp>()) {
      if (segment.getSymName() != kEvalName) // what a step sends
        countCommunication(segment);
      if (segment.getSymName() == "micro_step")
        countFlops(segment);
      if (failed(sweep(segment)))
        return failure();
    }
    // The persistent head alone is the peak where no segment holds anything.
    report.peak.states = states;
    report.peak.control = report.controlBytes;
    report.peak.padding = report.arenaLowerBoundBytes - states - report.controlBytes -
                          report.peak.activations - report.peak.buckets - report.peak.inputs -
                          report.peak.workspace;
    return success();
  }

private:
  bool decays(nn::ParamOp param) const {
    int64_t group = ir::groupOf(config.groups, param.getSymName());
    if (group >= 0 && config.groups[group].weightDecay)
      return *config.groups[group].weightDecay != 0.0;
    return param.decays();
  }

  void countStates() {
    std::array<__int128, zrt::kStateKindCount> total = {};
    SymbolTable symbols(module);
    for (ir::BucketOp bucket : index.bucketOrder) {
      int64_t elements = 0;
      for (auto slot : bucket.getSlots().front().getOps<ir::SlotOp>()) {
        int64_t size = slot.getTensorType().getNumElements();
        elements += size;
        auto param = symbols.lookup<nn::ParamOp>(slot.getParam());
        if (bucket.getBucketClass() == ir::BucketClass::Trainable)
          (param && decays(param) ? report.decayedParameters : report.otherParameters) += size;
      }
      (bucket.getBucketClass() == ir::BucketClass::Trainable ? report.parameters
       : bucket.getBucketClass() == ir::BucketClass::Frozen  ? report.frozenParameters
                                                             : report.unusedParameters) += elements;
      ir::StateOp state = index.states.lookup(bucket.getSymName());
      for (Attribute attr : state ? state.getHeld() : ArrayAttr()) {
        auto held = cast<ir::HeldAttr>(attr);
        total[static_cast<size_t>(held.getKind())] += static_cast<__int128>(elements) *
                                                      (held.getType().getIntOrFloatBitWidth() / 8) *
                                                      (held.getSharded() ? 1 : config.ranks);
      }
    }
    for (size_t kind = 0; kind < total.size(); ++kind)
      report.modelStateBytes[kind] = static_cast<int64_t>(total[kind] / config.ranks);
  }

  void countCommunication(ir::SegmentOp segment) {
    auto sent = [&](StringRef bucket) {
      return static_cast<int64_t>(index.buckets.lookup(bucket).getLength()) / config.ranks *
             (config.ranks - 1) * static_cast<int64_t>(segment.getTimes());
    };
    auto bucketOf = [](Operation *start) {
      return cast<ir::FutureType>(start->getResult(0).getType()).getBucket().getValue();
    };
    for (Operation &op : segment.getBody().front()) {
      if (isa<ir::AllGatherStartOp>(op))
        report.communication.allGather += sent(bucketOf(&op));
      else if (isa<ir::ReduceScatterStartOp>(op))
        report.communication.reduceScatter += sent(bucketOf(&op));
      else if (isa<ir::AllReduceStartOp>(op))
        report.communication.allReduce += 2 * sent(bucketOf(&op));
    }
  }

  void countFlops(ir::SegmentOp segment) {
    for (auto launch : segment.getBody().front().getOps<ir::LaunchOp>()) {
      int64_t flops = flopsOf(index.kernels.lookup(launch.getKernel()));
      report.flops += flops;
      if (!isRecomputed(launch))
        continue;
      ++report.recomputedLaunches;
      report.recomputedFlops += flops;
    }
  }

  /// The largest sums over the segment's time, and its fullest instant.
  LogicalResult sweep(ir::SegmentOp segment) {
    FailureOr<Lifetimes> lifetimes = Lifetimes::compute(segment, index, config.threadsPerRank);
    if (failed(lifetimes))
      return failure();
    struct Alive {
      int64_t rounded = 0, buckets = 0, activations = 0, workspace = 0, inputs = 0;
    };
    std::vector<Alive> change(static_cast<size_t>(lifetimes->timeCount) + 1);
    auto row = [](Alive &alive, BufferKind kind) -> int64_t & {
      switch (kind) {
      case BufferKind::Gather:
      case BufferKind::Gradient:
        return alive.buckets;
      case BufferKind::Activation:
        return alive.activations;
      case BufferKind::Workspace:
        return alive.workspace;
      case BufferKind::Input:
        return alive.inputs;
      }
      llvm_unreachable("every kind has a row");
    };
    for (const LiveBuffer &buffer : lifetimes->buffers)
      for (auto [time, sign] : {std::pair(buffer.lower, 1), std::pair(buffer.upper, -1)}) {
        Alive &at = change[std::min(static_cast<size_t>(time), change.size() - 1)];
        at.rounded += sign * alignUp(buffer.bytes);
        row(at, buffer.kind) += sign * buffer.bytes;
      }
    Alive now;
    for (size_t time = 0; time < change.size(); ++time) {
      now.rounded += change[time].rounded;
      now.buckets += change[time].buckets;
      now.activations += change[time].activations;
      now.workspace += change[time].workspace;
      now.inputs += change[time].inputs;
      report.bucketBytes = std::max(report.bucketBytes, now.buckets);
      report.activationBytes = std::max(report.activationBytes, now.activations);
      report.workspaceBytes = std::max(report.workspaceBytes, now.workspace);
      report.inputBytes = std::max(report.inputBytes, now.inputs);
      if (now.rounded <= fullest)
        continue;
      fullest = now.rounded;
      report.peak.buckets = now.buckets;
      report.peak.activations = now.activations;
      report.peak.workspace = now.workspace;
      report.peak.inputs = now.inputs;
      report.peakSegment = segment.getSymName().str();
      fullestTime = static_cast<int64_t>(time);
    }
    if (report.peakSegment == segment.getSymName()) {
      listHolders(*lifetimes);
      report.peakTime = fullestTime;
      report.peakTimes = lifetimes->timeCount;
      for (Operation &op : segment.getBody().front())
        if (lifetimes->timeOf(&op) == fullestTime)
          report.peakOp = describe(op);
    }
    return success();
  }

  static std::string describe(Operation &op) {
    std::string text = op.getName().stripDialect().str();
    if (auto launch = dyn_cast<ir::LaunchOp>(op))
      return text + " " + launch.getKernel().str();
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes())) {
      if (auto future = dyn_cast<ir::FutureType>(type))
        return text + " " + future.getBucket().getValue().str();
      if (auto grads = dyn_cast<ir::GradsType>(type))
        return text + " " + grads.getBucket().getValue().str();
      if (auto full = dyn_cast<ir::FullType>(type))
        return text + " " + full.getBucket().getValue().str();
    }
    return text;
  }

  void listHolders(const Lifetimes &lifetimes) {
    std::map<std::string, Report::Holder> held;
    for (const LiveBuffer &buffer : lifetimes.buffers)
      if (buffer.lower <= fullestTime && fullestTime < buffer.upper) {
        Report::Holder &holder = held[(nameOf(buffer.kind) + " " + buffer.name).str()];
        holder.bytes += buffer.bytes;
        ++holder.count;
      }
    report.holders.clear();
    for (auto &[name, holder] : held)
      report.holders.push_back({name, holder.bytes, holder.count});
    llvm::stable_sort(report.holders, [](auto &a, auto &b) { return a.bytes > b.bytes; });
  }

  ModuleOp module;
  const ir::Config &config;
  ModuleIndex index;
  Report &report;
  int64_t fullest = 0, fullestTime = 0;
};

} // namespace

FailureOr<Report> makeReport(ModuleOp module) {
  std::optional<ir::Config> config = ir::Config::get(module);
  if (!config)
    return failure();
  Report report;
  if (failed(Reader(module, *config, report).run()))
    return failure();
  return report;
}

} // namespace zero
