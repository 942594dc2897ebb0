//===- CheckpointProblem.cpp - checkpoints asked for in bytes of the arena --===//
//
// What the planner counts and what a packed arena takes differ in two things that
// no choice of recomputation changes. Beside values lie a launch's workspace, the
// buckets gathered or reduced just then, and the batch: bytes of that one moment,
// which a node before the launch stands for that costs nothing and that it alone
// reads. And a result of backward may lie over the operand that dies there.
// Backward's launches run once, so this holds in every plan: such a result has no
// bytes of its own, and what reads it reads the value in whose place it lies.
//
//   launches   dy 4 bytes    dx over dy, workspace 2     e from dx
//   nodes      dy 4          w 2   dx 0 from dy and w    e from dx and dy
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Recompute.h"

#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Views.h"
#include "zero/Runtime/Layout.h"

#include <algorithm>

using namespace mlir;

namespace zero {

namespace {

constexpr int64_t kNone = -1;

int64_t alignUp(int64_t bytes) {
  return (bytes + zrt::kAlignmentBytes - 1) / zrt::kAlignmentBytes * zrt::kAlignmentBytes;
}

/// Of results that lie in no slot or cell.
int64_t bytesOfValues(ir::LaunchOp launch) {
  int64_t bytes = 0;
  for (Value out : launch->getResults())
    if (!sinkOf(out))
      bytes += alignUp(bytesOf(out.getType()));
  return bytes;
}

/// By launch of the graph, as it was packed with everything kept.
struct Packed {
  explicit Packed(const JointGraph &graph)
      : values(graph.launches.size()), beside(graph.launches.size()),
        place(graph.launches.size(), kNone), readers(graph.launches.size()) {
    for (auto [i, launch] : llvm::enumerate(graph.launches)) {
      values[i] = launch.bytes;
      for (int64_t input : launch.inputs)
        ++readers[input];
    }
  }

  /// The segment's launches are those of the graph.
  void read(ArrayRef<ir::LaunchOp> launches, const Lifetimes &lifetimes, const JointGraph &graph) {
    std::vector<int64_t> others(lifetimes.timeCount + 1); // bytes of buffers that are no values
    for (const LiveBuffer &buffer : lifetimes.buffers)
      if (buffer.kind != BufferKind::Activation) {
        others[buffer.lower] += alignUp(buffer.bytes);
        others[buffer.upper] -= alignUp(buffer.bytes);
      }
    for (int64_t time = 1; time < lifetimes.timeCount; ++time)
      others[time] += others[time - 1];
    llvm::DenseMap<Operation *, int64_t> numbers;
    for (auto [i, launch] : llvm::enumerate(launches)) {
      numbers[launch] = static_cast<int64_t>(i);
      beside[i] = others[lifetimes.timeOf(launch)];
      values[i] = bytesOfValues(launch);
      for (OpResult out : launch->getResults())
        if (Operation *former = overlaid(launch, out))
          if (auto found = numbers.find(former);
              found != numbers.end() &&
              diesInEveryPlan(found->second, static_cast<int64_t>(i), graph))
            place[i] = place[found->second] == kNone ? found->second : place[found->second];
    }
  }

  std::vector<int64_t> values;  ///< bytes of its results
  std::vector<int64_t> beside;  ///< live while it runs, and no result of a launch
  std::vector<int64_t> place;   ///< the launch in whose result's place its own lies, or kNone
  std::vector<int64_t> readers; ///< how many

private:
  /// The launch in whose only value's place this only one lies.
  static Operation *overlaid(ir::LaunchOp launch, OpResult out) {
    auto place = cast<ir::PlaceAttr>((*launch.getPlaces())[out.getResultNumber()]);
    if (place.getKind() != ir::PlaceKind::Inout)
      return nullptr;
    Value root = Lifetimes::rootOf(launch.getArgs()[place.getValue()]);
    auto former = root.getDefiningOp<ir::LaunchOp>();
    bool isAlone = former && bytesOfValues(former) == alignUp(bytesOf(root.getType())) &&
                   bytesOfValues(launch) == alignUp(bytesOf(out.getType()));
    return isAlone ? former.getOperation() : nullptr;
  }

  /// A value of backward is read by backward alone, in the order of the graph. Of forward's, one
  /// that is made for its only reader right before it.
  bool diesInEveryPlan(int64_t value, int64_t reader, const JointGraph &graph) const {
    return value >= graph.firstBackward ||
           (reader >= graph.firstBackward && value + 1 == reader && readers[value] == 1);
  }
};

} // namespace

CheckpointProblem::CheckpointProblem(const JointGraph &graph) : problem(graph.problem(0)) {
  for (size_t i = 0; i < graph.launches.size(); ++i)
    nodes.push_back(i);
  launchOf.assign(nodes.begin(), nodes.end());
}

FailureOr<CheckpointProblem> CheckpointProblem::ofArena(ModuleOp kept, const JointGraph &graph) {
  auto arenas = kept.getOps<ir::ArenaOp>();
  if (arenas.empty())
    return emitError(kept.getLoc(), "expects a module at level arena: run zero-plan-arena first");
  std::optional<ir::Config> config = ir::Config::get(kept);
  if (!config)
    return failure();
  Packed packed(graph);
  if (auto segment = kept.lookupSymbol<ir::SegmentOp>("micro_step")) {
    SmallVector<ir::LaunchOp> launches(segment.getBody().front().getOps<ir::LaunchOp>());
    if (llvm::equal(launches, graph.launches, [](ir::LaunchOp one, const JointLaunch &other) {
          return one.getKernel() == ir::LaunchOp(other.op).getKernel();
        })) {
      FailureOr<Lifetimes> lifetimes =
          Lifetimes::compute(segment, ModuleIndex(kept), config->threadsPerRank);
      if (failed(lifetimes))
        return failure();
      packed.read(launches, *lifetimes, graph);
    }
  }
  CheckpointProblem result;
  result.fixedBytes = static_cast<int64_t>((*arenas.begin()).getPersistent());
  if (graph.launches.empty())
    return result;
  int64_t always = *llvm::min_element(packed.beside);
  result.fixedBytes += always;
  std::vector<planning::checkpoint::Node> plain = graph.problem(0).nodes;
  std::vector<planning::checkpoint::Node> &nodes = result.problem.nodes;
  std::vector<bool> isOverlaid(plain.size());
  for (int64_t place : packed.place)
    if (place != kNone)
      isOverlaid[place] = true;
  for (auto [i, node] : llvm::enumerate(plain)) {
    std::vector<int64_t> inputs;
    for (int64_t input : node.inputs) {
      inputs.push_back(result.nodes[input]);
      if (packed.place[input] != kNone)
        inputs.push_back(result.nodes[packed.place[input]]);
    }
    node.bytes = packed.place[i] == kNone ? packed.values[i] : 0;
    if (isOverlaid[i]) // to make it again would not bring back what lies over it
      node.cost = plain.back().cost;
    if (int64_t moment = packed.beside[i] - always; moment > 0 && packed.readers[i] == 0) {
      node.bytes += moment;
    } else if (moment > 0) {
      inputs.push_back(static_cast<int64_t>(nodes.size()));
      nodes.push_back({.id = inputs.back(), .bytes = moment, .backward = node.backward});
      result.launchOf.push_back(kNone);
    }
    llvm::sort(inputs);
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    node.inputs = std::move(inputs);
    node.id = static_cast<int64_t>(nodes.size());
    result.nodes.push_back(node.id);
    result.launchOf.push_back(static_cast<int64_t>(i));
    nodes.push_back(std::move(node));
  }
  return result;
}

int64_t CheckpointProblem::peakBytes(const Sequence &sequence) const {
  std::vector<int64_t> computations;
  for (int64_t launch : sequence) {
    int64_t node = nodes[launch];
    if (node > 0 && launchOf[node - 1] == kNone)
      computations.push_back(node - 1);
    computations.push_back(node);
  }
  std::vector<int64_t> live = planning::checkpoint::liveBytes(problem, computations);
  return fixedBytes + (live.empty() ? 0 : *llvm::max_element(live));
}

int64_t CheckpointProblem::floorBytes() const {
  return fixedBytes + planning::checkpoint::floorOf(problem).bytes;
}

Sequence CheckpointProblem::launchesOf(const std::vector<int64_t> &computations) const {
  Sequence sequence;
  for (int64_t node : computations)
    if (launchOf[node] != kNone)
      sequence.push_back(launchOf[node]);
  return sequence;
}

} // namespace zero
