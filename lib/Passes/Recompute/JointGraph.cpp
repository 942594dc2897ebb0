//===- JointGraph.cpp - the joint graph's launches as nodes ----------------===//

#include "zero/Passes/Recompute.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Lifetimes.h"
#include "zero/Passes/Views.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace mlir;

namespace zero {

namespace {

constexpr int64_t kCostOfAByte = 8;

/// Sums that stay far from overflow, whatever a graph says of itself.
int64_t bounded(int64_t value) { return std::clamp<int64_t>(value, 0, int64_t(1) << 50); }

} // namespace

int64_t flopsOf(ir::KernelOp kernel) {
  int64_t flops = 0;
  for (Operation &op : kernel.getBody().front())
    if (auto cost = dyn_cast<nn::CostOpInterface>(op))
      flops = bounded(flops + bounded(cost.getFlops()));
  return flops;
}

std::optional<RecomputePolicy> parseRecomputePolicy(StringRef name) {
  return llvm::StringSwitch<std::optional<RecomputePolicy>>(name)
      .Case("none", RecomputePolicy::None)
      .Case("every-block", RecomputePolicy::EveryBlock)
      .Case("min-cut", RecomputePolicy::MinCut)
      .Case("budget", RecomputePolicy::Budget)
      .Default(std::nullopt);
}

FailureOr<JointGraph> JointGraph::read(ModuleOp module) {
  auto joint = module.lookupSymbol<func::FuncOp>(kJointName);
  nn::ReturnOp end;
  if (joint && joint.getBody().hasOneBlock())
    end = dyn_cast<nn::ReturnOp>(joint.front().getTerminator());
  if (!end || joint.getNumArguments() == 0)
    return emitError(module.getLoc(),
                     "expects a joint graph of launches: run zero-form-launches first");
  SymbolTable symbols(module);
  JointGraph graph;
  llvm::DenseMap<Value, int64_t> former; // root → launch
  llvm::DenseSet<Value> placed;          // gradients and the loss
  for (Value operand : end->getOperands())
    placed.insert(traceView(operand).root);
  llvm::StringMap<int64_t> flops;
  llvm::DenseSet<int64_t> seeded;
  graph.firstBackward = -1;
  for (auto launch : joint.front().getOps<ir::LaunchOp>()) {
    JointLaunch node;
    int64_t number = static_cast<int64_t>(graph.launches.size());
    node.op = launch;
    node.kernel = symbols.lookup<ir::KernelOp>(launch.getKernel());
    if (!node.kernel)
      return launch.emitOpError() << "expects a kernel @" << launch.getKernel() << ", got none";
    auto [known, isNew] = flops.try_emplace(launch.getKernel(), 0);
    if (isNew)
      known->second = flopsOf(node.kernel);
    node.flops = known->second;
    node.isRepeatable = launch->getNumOperands() != 0;
    node.cost = node.flops;
    int64_t ofParameters = 0;
    for (Value operand : launch.getArgs()) {
      node.cost = bounded(node.cost + kCostOfAByte * bounded(bytesOf(operand.getType())));
      Value root = traceView(operand).root;
      if (root == joint.getArguments().back() && graph.firstBackward < 0)
        graph.firstBackward = number;
      if (auto found = former.find(root); found != former.end())
        node.inputs.push_back(found->second);
      if (root.getDefiningOp<nn::ReadOp>())
        ofParameters = bounded(ofParameters + bounded(bytesOf(root.getType())));
    }
    llvm::sort(node.inputs);
    node.inputs.erase(std::unique(node.inputs.begin(), node.inputs.end()), node.inputs.end());
    for (Value result : launch->getResults()) {
      int64_t bytes = bounded(bytesOf(result.getType()));
      node.cost = bounded(node.cost + kCostOfAByte * bytes);
      if (!placed.contains(result))
        node.bytes = bounded(node.bytes + bytes);
      former[result] = number;
    }
    node.isCheap = node.kernel.getKind() == ir::KernelKind::Generated && ofParameters <= node.bytes;
    graph.launches.push_back(std::move(node));
  }
  if (graph.firstBackward < 0)
    graph.firstBackward = static_cast<int64_t>(graph.launches.size());
  return graph;
}

planning::checkpoint::Problem JointGraph::problem(int64_t budgetBytes) const {
  planning::checkpoint::Problem problem;
  problem.budgetBytes = budgetBytes;
  int64_t total = 1;
  for (const JointLaunch &launch : launches)
    total = std::min(total + launch.cost, planning::checkpoint::kMaxTotal / 4);
  // All prohibitive costs together stay below the planner's limit on sums.
  int64_t count = static_cast<int64_t>(launches.size());
  int64_t prohibitive =
      std::min(4 * total, planning::checkpoint::kMaxTotal / 2 / std::max<int64_t>(count, 1));
  for (auto [i, launch] : llvm::enumerate(launches)) {
    planning::checkpoint::Node node;
    node.id = static_cast<int64_t>(i);
    node.bytes = launch.bytes;
    node.inputs = launch.inputs;
    node.backward = node.id >= firstBackward;
    node.cost = node.backward || !launch.isRepeatable ? prohibitive : launch.cost;
    problem.nodes.push_back(std::move(node));
  }
  return problem;
}

Sequence withoutUnread(const JointGraph &graph, const Sequence &sequence) {
  std::vector<int64_t> left(graph.launches.size());
  for (int64_t number : sequence)
    ++left[number];
  std::vector<bool> wanted(graph.launches.size());
  Sequence kept;
  for (int64_t number : llvm::reverse(sequence)) {
    bool isFirst = --left[number] == 0;
    if (!isFirst && !wanted[number])
      continue;
    wanted[number] = false;
    for (int64_t input : graph.launches[number].inputs)
      wanted[input] = true;
    kept.push_back(number);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

RecomputeCost costOf(const JointGraph &graph, const Sequence &sequence) {
  RecomputeCost sum;
  std::vector<bool> met(graph.launches.size());
  for (int64_t number : sequence) {
    if (met[number]) {
      ++sum.launches;
      sum.flops += graph.launches[number].flops;
      sum.cost += graph.launches[number].cost;
    }
    met[number] = true;
  }
  return sum;
}

} // namespace zero
