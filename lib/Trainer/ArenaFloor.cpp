//===- ArenaFloor.cpp - what no choice of recomputation goes below ---------===//
//
// Each launch of a step runs at least once, in the order of the graph, whatever
// runs again: its operands and results are live then, its workspace, the bucket
// that it reads and the gradients that it writes. What a launch of backward made
// can't be dropped and made again, so it lives to its last reader in any plan, and
// so does the batch from the start. A result may lie over an operand that dies: it
// is then not counted.
//
//===----------------------------------------------------------------------===//

#include "ArenaFloor.h"

#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Views.h"
#include "zero/Runtime/Layout.h"

#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace zero {

namespace {

int64_t alignUp(int64_t bytes) {
  return (bytes + zrt::kAlignmentBytes - 1) / zrt::kAlignmentBytes * zrt::kAlignmentBytes;
}

/// A value's bytes, live in [lower, upper) where everything is kept.
struct Held {
  std::string name;
  int64_t bytes = 0; // rounded up
  int64_t lower = 0, upper = 0;
  bool isLasting = false; // live all that time in every plan
};

class SegmentFloor {
public:
  /// `lasts`: by launch of the segment, whether its results do; empty: everything does.
  SegmentFloor(ir::SegmentOp segment, const ModuleIndex &index, const Lifetimes &lifetimes,
               const std::vector<bool> &lasts)
      : block(segment.getBody().front()), index(index), lifetimes(lifetimes), lasts(lasts) {}

  ArenaFloor run() {
    lasts.empty() ? holdBuffers() : holdValues();
    std::vector<int64_t> lasting(lifetimes.timeCount + 1);
    for (const Held &value : held)
      if (value.isLasting) {
        lasting[value.lower] += value.bytes;
        lasting[value.upper] -= value.bytes;
      }
    ArenaFloor floor;
    Operation *fullest = nullptr;
    int64_t now = 0;
    for (Operation &op : block) {
      now += lasting[lifetimes.timeOf(&op)];
      int64_t bytes = now;
      for (int64_t value : touchedBy(op))
        if (!held[value].isLasting)
          bytes += held[value].bytes;
      bytes -= overOperands(op);
      if (bytes <= floor.bytes)
        continue;
      floor.bytes = bytes;
      fullest = &op;
    }
    if (fullest)
      describe(*fullest, floor);
    return floor;
  }

private:
  void holdBuffers() {
    for (const LiveBuffer &buffer : lifetimes.buffers)
      held.push_back({(nameOf(buffer.kind) + " " + buffer.name).str(), alignUp(buffer.bytes),
                      buffer.lower, buffer.upper, true});
  }

  /// Activations by value, since two of them share a buffer where one lies over the other; the rest
  /// by buffer, and first, so that both have one number.
  void holdValues() {
    for (const LiveBuffer &buffer : lifetimes.buffers)
      held.push_back({(nameOf(buffer.kind) + " " + buffer.name).str(), alignUp(buffer.bytes),
                      buffer.lower, buffer.upper, buffer.kind == BufferKind::Input});
    int64_t number = 0;
    for (Operation &op : block) {
      int64_t time = lifetimes.timeOf(&op);
      for (Value operand : op.getOperands())
        if (auto found = numbers.find(Lifetimes::rootOf(operand)); found != numbers.end())
          held[found->second].upper = time + 1;
      auto launch = dyn_cast<ir::LaunchOp>(op);
      if (!launch)
        continue;
      for (Value out : launch->getResults())
        if (!sinkOf(out)) {
          numbers[out] = static_cast<int64_t>(held.size());
          held.push_back({"activation " + launch.getKernel().str(), alignUp(bytesOf(out.getType())),
                          time, time + 1, lasts[number]});
        }
      ++number;
    }
    for (auto [i, buffer] : llvm::enumerate(lifetimes.buffers))
      if (buffer.kind == BufferKind::Workspace)
        workspaces[buffer.owner] = static_cast<int64_t>(i);
  }

  /// The number of what a value lies in, or -1.
  int64_t numberOf(Value value) const {
    auto found = numbers.find(Lifetimes::rootOf(value));
    if (found != numbers.end())
      return found->second;
    int64_t buffer = lifetimes.bufferOf(value);
    bool isOther = buffer >= 0 && lifetimes.buffers[buffer].kind != BufferKind::Activation;
    return isOther ? buffer : -1;
  }

  llvm::SetVector<int64_t> touchedBy(Operation &op) const {
    llvm::SetVector<int64_t> touched;
    auto launch = dyn_cast<ir::LaunchOp>(op);
    if (!launch || lasts.empty())
      return touched;
    for (Value value : llvm::concat<const Value>(ValueRange(launch.getArgs()),
                                                 ValueRange(launch->getResults()))) {
      if (auto accumulate = dyn_cast_or_null<ir::AccumulateOp>(sinkOf(value)))
        value = accumulate.getGrads();
      if (int64_t number = numberOf(value); number >= 0)
        touched.insert(number);
    }
    if (auto found = workspaces.find(&op); found != workspaces.end())
      touched.insert(found->second);
    return touched;
  }

  /// Bytes of results that lie over an operand in some plan.
  int64_t overOperands(Operation &op) const {
    auto launch = dyn_cast<ir::LaunchOp>(op);
    if (!launch || lasts.empty())
      return 0;
    ir::KernelOp kernel = index.kernels.lookup(launch.getKernel());
    int64_t bytes = 0;
    for (OpResult out : launch->getResults()) {
      auto result = numbers.find(out);
      bool mayLie = llvm::any_of(kernel.getMayReuseOf(out.getResultNumber()), [&](int64_t i) {
        auto operand = numbers.find(Lifetimes::rootOf(launch.getArgs()[i]));
        return operand != numbers.end() &&
               (!held[operand->second].isLasting ||
                held[operand->second].upper == lifetimes.timeOf(&op) + 1);
      });
      if (mayLie && result != numbers.end())
        bytes += held[result->second].bytes;
    }
    return bytes;
  }

  void describe(Operation &op, ArenaFloor &floor) const {
    int64_t time = lifetimes.timeOf(&op);
    floor.op = op.getName().stripDialect().str();
    if (auto launch = dyn_cast<ir::LaunchOp>(op))
      floor.op += " " + launch.getKernel().str();
    llvm::SetVector<int64_t> touched = touchedBy(op);
    std::map<std::string, Report::Holder> byName;
    for (auto [i, value] : llvm::enumerate(held)) {
      bool isLive = value.isLasting && value.lower <= time && time < value.upper;
      if (!isLive && !touched.contains(static_cast<int64_t>(i)))
        continue;
      Report::Holder &holder = byName[value.name];
      holder.bytes += value.bytes;
      ++holder.count;
    }
    for (auto &[name, holder] : byName)
      floor.holders.push_back({name, holder.bytes, holder.count});
    llvm::stable_sort(floor.holders, [](auto &a, auto &b) { return a.bytes > b.bytes; });
  }

  Block &block;
  const ModuleIndex &index;
  const Lifetimes &lifetimes;
  const std::vector<bool> &lasts;
  std::vector<Held> held;
  llvm::DenseMap<Value, int64_t> numbers; // of launches' results
  llvm::DenseMap<Operation *, int64_t> workspaces;
};

/// By launch of a segment, whether its results live to their last reader in every plan; empty where
/// the segment's launches are not those of the graph, so that nothing runs again.
std::vector<bool> lastingLaunches(ir::SegmentOp segment, const JointGraph &graph) {
  std::vector<bool> lasts;
  for (auto launch : segment.getBody().front().getOps<ir::LaunchOp>()) {
    size_t number = lasts.size();
    if (number >= graph.launches.size() ||
        ir::LaunchOp(graph.launches[number].op).getKernel() != launch.getKernel())
      return {};
    lasts.push_back(static_cast<int64_t>(number) >= graph.firstBackward ||
                    !graph.launches[number].isRepeatable);
  }
  return lasts.size() == graph.launches.size() ? lasts : std::vector<bool>();
}

} // namespace

FailureOr<ArenaFloor> floorOf(ModuleOp kept, const JointGraph &graph) {
  auto arenas = kept.getOps<ir::ArenaOp>();
  if (arenas.empty())
    return kept.emitError("expects a module at level arena: run zero-plan-arena first");
  std::optional<ir::Config> config = ir::Config::get(kept);
  if (!config)
    return failure();
  ModuleIndex index(kept);
  ArenaFloor floor;
  for (auto segment : kept.getOps<ir::SegmentOp>()) {
    FailureOr<Lifetimes> lifetimes = Lifetimes::compute(segment, index, config->threadsPerRank);
    if (failed(lifetimes))
      return failure();
    std::vector<bool> lasts;
    if (segment.getSymName() == "micro_step") {
      lasts = lastingLaunches(segment, graph);
      if (lasts.empty())
        continue; // not as it was made of the graph: nothing is known of what may be dropped
    }
    ArenaFloor here = SegmentFloor(segment, index, *lifetimes, lasts).run();
    if (here.bytes <= floor.bytes)
      continue;
    floor = std::move(here);
    floor.segment = segment.getSymName().str();
  }
  floor.bytes += static_cast<int64_t>((*arenas.begin()).getPersistent());
  return floor;
}

} // namespace zero
