//===- Apply.cpp - launches cloned so that they run as a sequence says -----===//
//
// A launch that runs again is a clone, fed through one nn.barrier: that makes its
// operands other values than the original's, so that CSE merges neither, and says
// where it may run. The barrier waits for a value of backward that is there
// anyway: an operand of the launch that follows, so that nothing lives longer.
//
//===----------------------------------------------------------------------===//

#include "zero/Passes/Recompute.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Views.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {

namespace {

bool isChained(Operation *op) { return op && (isView(op) || isa<nn::BarrierOp>(op)); }

class Applier {
public:
  explicit Applier(JointGraph &graph)
      : graph(graph), builder(graph.launches.front().op->getContext()) {
    for (auto [i, launch] : llvm::enumerate(graph.launches)) {
      for (Value result : launch.op->getResults())
        former[result] = static_cast<int64_t>(i);
      operands.emplace_back(launch.op->getOperands());
    }
    placed = placedRoots();
  }

  void run(const Sequence &sequence) {
    std::vector<bool> met(graph.launches.size());
    for (size_t at = 0; at < sequence.size(); ++at) {
      ir::LaunchOp launch = graph.launches[sequence[at]].op;
      if (!met[sequence[at]]) {
        met[sequence[at]] = true;
        builder.setInsertionPoint(launch);
        for (OpOperand &operand : launch->getOpOperands())
          operand.set(current(operand.get()));
        latest = launch;
        continue;
      }
      size_t next = at;
      while (next < sequence.size() && met[sequence[next]])
        ++next;
      if (next == sequence.size())
        break; // nothing reads what runs at the end
      repeat(sequence[at], graph.launches[sequence[next]].op);
    }
    eraseDeadViews();
  }

private:
  /// Gradients and the loss lie in slots and cells: nothing else may read them.
  llvm::DenseSet<Value> placedRoots() {
    llvm::DenseSet<Value> roots;
    Operation *end = graph.launches.front().op->getBlock()->getTerminator();
    for (Value operand : end->getOperands())
      roots.insert(traceView(operand).root);
    return roots;
  }

  /// The value as its latest computation gives it; views are cloned where one is first read.
  Value current(Value value) {
    Value root = traceView(value).root;
    auto clone = clones.find(root);
    if (clone == clones.end())
      return value;
    if (value == root)
      return clone->second;
    Operation *op = value.getDefiningOp();
    Value &known = views[{value, clone->second}];
    if (known)
      return known;
    IRMapping map;
    map.map(op->getOperand(0), current(op->getOperand(0)));
    Operation *cloned = builder.clone(*op, map);
    for (auto [old, now] : llvm::zip(op->getResults(), cloned->getResults()))
      views[{old, clone->second}] = now;
    return cloned->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// The launch itself reads by now what was current when it ran, so that its operands are looked
  /// up as they were in the graph.
  void repeat(int64_t number, Operation *next) {
    ir::LaunchOp launch = graph.launches[number].op;
    builder.setInsertionPoint(next);
    Value after = readAnyway(next);
    auto again = cast<ir::LaunchOp>(builder.clone(*launch));
    builder.setInsertionPoint(again);
    for (auto [operand, original] : llvm::zip(again->getOpOperands(), operands[number]))
      operand.set(current(original));
    OpOperand &fed = again->getOpOperand(operandToFeed(launch));
    fed.set(nn::BarrierOp::create(builder, again.getLoc(), fed.get().getType(), fed.get(), after));
    for (auto [result, clone] : llvm::zip(launch->getResults(), again->getResults()))
      clones[result] = clone;
    latest = again;
  }

  /// Of what `next` reads, a value of backward; else what was computed last.
  Value readAnyway(Operation *next) {
    for (Value operand : next->getOperands()) {
      Value root = traceView(operand).root;
      auto found = former.find(root);
      if (found != former.end() && found->second >= graph.firstBackward && !placed.contains(root))
        return current(root);
    }
    for (Operation *op = latest; op; op = op->getPrevNode())
      if (isa<ir::LaunchOp>(op))
        for (Value result : op->getResults())
          if (!placed.contains(result))
            return result;
    llvm_unreachable("a launch that is repeated has a result that is no gradient");
  }

  /// A launch's result before a batch argument, and either before a parameter.
  unsigned operandToFeed(ir::LaunchOp launch) {
    unsigned best = 0;
    auto rank = [&](unsigned i) {
      Value root = traceView(launch->getOperand(i)).root;
      return root.getDefiningOp<ir::LaunchOp>() ? 2 : isa<BlockArgument>(root) ? 1 : 0;
    };
    for (unsigned i = 1; i < launch->getNumOperands(); ++i)
      if (rank(i) > rank(best))
        best = i;
    return best;
  }

  void eraseDeadViews() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(*graph.launches.front().op->getBlock())))
      if (isChained(&op) && op.use_empty())
        op.erase();
  }

  JointGraph &graph;
  OpBuilder builder;
  Operation *latest = nullptr;
  llvm::DenseMap<Value, int64_t> former;
  std::vector<SmallVector<Value>> operands; // by launch, as they were in the graph
  llvm::DenseSet<Value> placed;
  llvm::DenseMap<Value, Value> clones;                  // an original's result → its latest clone's
  llvm::DenseMap<std::pair<Value, Value>, Value> views; // of an original's view, on a clone
};

} // namespace

void applySequence(JointGraph &graph, const Sequence &sequence) {
  if (sequence.size() > graph.launches.size())
    Applier(graph).run(sequence);
}

bool isRecomputed(ir::LaunchOp launch) {
  return llvm::any_of(launch.getArgs(), [](Value operand) {
    Operation *op = operand.getDefiningOp();
    while (op && isView(op))
      op = op->getOperand(0).getDefiningOp();
    return op && isa<nn::BarrierOp>(op);
  });
}

} // namespace zero
