//===- Grouping.cpp - which ops of the joint graph share a launch ---------===//

#include "Grouping.h"

#include "zero/Passes/Views.h"

using namespace mlir;

namespace zero {

bool isRematerialised(Operation *op) {
  if (auto convert = dyn_cast<nn::ConvertOp>(op)) {
    Operation *source = convert.getInput().getDefiningOp();
    bool floats = isa<FloatType>(convert.getTo()) &&
                  isa<FloatType>(getElementTypeOrSelf(convert.getInput().getType()));
    return floats && source && isRematerialised(source);
  }
  return isa<nn::ConstantOp, nn::IotaOp>(op);
}

namespace {

/// A convert from a 16-bit float, which is exact: as part of the kernel that makes its operand it
/// hands on what was not rounded yet.
bool isWidening(Operation *op) {
  auto convert = dyn_cast<nn::ConvertOp>(op);
  if (!convert || !convert.getTo().isF32())
    return false;
  Type from = getElementTypeOrSelf(convert.getInput().getType());
  return from.isBF16() || from.isF16();
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Sums over every dimension but the last: a bias gradient.
bool isColumnSum(Operation *op) {
  auto sum = dyn_cast<nn::ReduceSumOp>(op);
  if (!sum || sum.getKeep())
    return false;
  int64_t rank = cast<RankedTensorType>(sum.getInput().getType()).getRank();
  return rank >= 2 && static_cast<int64_t>(sum.getDims().size()) == rank - 1 &&
         sum.getDims().back() == rank - 2;
}

class Grouper {
public:
  explicit Grouper(Block &block) : block(block) {
    unsigned at = 0;
    for (Operation &op : block)
      position[&op] = at++;
  }

  LogicalResult run() {
    for (Operation &op : block.without_terminator()) {
      if (groupOf.contains(&op) || isa<nn::ReadOp, nn::BarrierOp, ir::LaunchOp>(op) ||
          isView(&op) || isRematerialised(&op))
        continue;
      auto kernel = dyn_cast<nn::KernelOpInterface>(op);
      if (!kernel)
        return op.emitOpError("expects an op that names its kernel family: implement "
                              "KernelOpInterface");
      if (failed(place(&op, kernel.getKernelFamily())))
        return failure();
    }
    return success();
  }

  std::vector<Group> groups;

private:
  LogicalResult place(Operation *op, nn::KernelFamily family) {
    switch (family) {
    case nn::KernelFamily::None:
      return op->emitOpError("expects an op that a kernel computes");
    case nn::KernelFamily::Gemm:
      start(op, ir::KernelKind::Gemm).isOpen = false;
      takeEpilogue(op);
      return success();
    case nn::KernelFamily::Attention:
      start(op, ir::KernelKind::Attention).isOpen = false;
      if (auto grad = dyn_cast<nn::AttentionGradOp>(op))
        takeConcat(grad);
      return success();
    case nn::KernelFamily::CrossEntropy:
      start(op, ir::KernelKind::CrossEntropy).isOpen = false;
      return success();
    case nn::KernelFamily::Scatter:
      start(op, ir::KernelKind::Scatter).isOpen = false;
      if (Operation *user = soleUser(op); user && isWidening(user))
        add(groupOf[op], user);
      return success();
    case nn::KernelFamily::Gather: {
      Group &group = start(op, ir::KernelKind::Generated);
      group.hasGather = true;
      group.shape.assign(shapeOf(op->getResult(0)).begin(), shapeOf(op->getResult(0)).end());
      return success();
    }
    case nn::KernelFamily::Elementwise:
    case nn::KernelFamily::Row:
      return placeOverRows(op, family == nn::KernelFamily::Row), success();
    case nn::KernelFamily::Column:
      placeColumn(op);
      return success();
    case nn::KernelFamily::View: // a reshape whose strides are unknown: its elements are copied
    case nn::KernelFamily::Move:
    case nn::KernelFamily::Window:
      start(op, ir::KernelKind::Generated).isOpen = false;
      return success();
    }
    return success();
  }

  Group &start(Operation *op, ir::KernelKind kind) {
    groupOf[op] = groups.size();
    Group &group = groups.emplace_back();
    group.kind = kind;
    group.ops.push_back(op);
    return group;
  }

  void add(unsigned index, Operation *op) {
    groupOf[op] = index;
    groups[index].ops.push_back(op);
  }

  /// No result of the group is read from outside before `op`.
  bool staysConvex(const Group &group, Operation *op) {
    for (Operation *member : group.ops)
      for (Operation *user : member->getUsers())
        if (user != op && !llvm::is_contained(group.ops, user) && position[user] < position[op])
          return false;
    return true;
  }

  /// The op that alone reads the op's one result, if nothing took it yet.
  Operation *soleUser(Operation *op) {
    Value result = op->getResult(0);
    if (!result.hasOneUse())
      return nullptr;
    Operation *user = *result.user_begin();
    return user->getBlock() == &block && !groupOf.contains(user) ? user : nullptr;
  }

  /// Widening joins the generated kernel that makes the operand, whatever its loops are.
  bool joinProducer(Operation *op) {
    Operation *source = op->getOperand(0).getDefiningOp();
    auto found = source ? groupOf.find(source) : groupOf.end();
    if (found == groupOf.end() || groups[found->second].kind != ir::KernelKind::Generated ||
        !staysConvex(groups[found->second], op))
      return false;
    add(found->second, op);
    return true;
  }

  void placeOverRows(Operation *op, bool isRow) {
    if (isWidening(op) && joinProducer(op))
      return;
    // Row reductions run over their input's shape, everything else over its result's.
    Value over = isa<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceMaxOp>(op) ? op->getOperand(0)
                                                                             : op->getResult(0);
    ArrayRef<int64_t> shape = shapeOf(over);
    for (Value operand : op->getOperands()) {
      auto found = operand.getDefiningOp() ? groupOf.find(operand.getDefiningOp()) : groupOf.end();
      if (found == groupOf.end())
        continue;
      Group &group = groups[found->second];
      if (!group.isOpen || ArrayRef<int64_t>(group.shape) != shape || shapeOf(operand) != shape)
        continue;
      if (isRow && (group.hasNorm || group.hasGather))
        continue;
      if (!staysConvex(group, op))
        continue;
      group.hasNorm |= isRow;
      add(found->second, op);
      return;
    }
    Group &group = start(op, ir::KernelKind::Generated);
    group.shape.assign(shape.begin(), shape.end());
    group.hasNorm = isRow;
    if (isa<nn::LayerNormGradInputOp, nn::RmsNormGradInputOp>(op))
      normOfGradient[op->getOperand(2)] = groupOf[op];
  }

  void placeColumn(Operation *op) {
    Value dy;
    if (isa<nn::LayerNormGradWeightOp, nn::RmsNormGradWeightOp>(op))
      dy = op->getOperand(1);
    else if (isColumnSum(op))
      dy = op->getOperand(0);
    if (auto found = normOfGradient.find(dy); dy && found != normOfGradient.end()) {
      Group &group = groups[found->second];
      if (group.isOpen && staysConvex(group, op)) {
        add(found->second, op);
        return;
      }
    }
    // A sum of widened values reads the 16-bit ones.
    Operation *input = op->getOperand(0).getDefiningOp();
    if (input && isWidening(input) && input->getResult(0).hasOneUse() && groupOf.contains(input))
      if (Group &group = groups[groupOf[input]]; group.ops.size() == 1) {
        group.isOpen = false;
        add(groupOf[input], op);
        return;
      }
    start(op, ir::KernelKind::Generated).isOpen = false;
  }

  /// bias, activation, residual, widening to f32: each at most once and in this order.
  void takeEpilogue(Operation *gemm) {
    unsigned index = groupOf[gemm];
    auto linear = dyn_cast<nn::LinearOp>(gemm);
    int next = linear && linear.getBias() ? 1 : 0;
    Operation *last = gemm;
    while (last->getResult(0).hasOneUse()) {
      Operation *user = *last->user_begin();
      Value value = last->getResult(0);
      if (user->getBlock() != &block || groupOf.contains(user))
        return;
      if (next <= 1 && isa<nn::GeluOp, nn::SiluOp, nn::ReluOp>(user)) {
        next = 2;
      } else if (auto sum = dyn_cast<nn::AddOp>(user)) {
        Value other = sum.getLhs() == value ? sum.getRhs() : sum.getLhs();
        if (other == value || sum.getType() != value.getType())
          return;
        auto type = cast<RankedTensorType>(other.getType());
        if (next == 0 && type.getRank() == 1 && type.getDimSize(0) == shapeOf(value).back())
          next = 1;
        else if (next <= 2 && type == value.getType())
          next = 3;
        else
          return;
      } else if (isWidening(user)) {
        add(index, user);
        return;
      } else {
        return;
      }
      add(index, user);
      last = user;
    }
  }

  /// dq, dk, dv → reshape → concat: the gradient of one packed projection, written in place.
  void takeConcat(nn::AttentionGradOp grad) {
    SmallVector<Operation *> reshapes;
    Operation *concat = nullptr;
    for (Value result : grad->getResults()) {
      if (!result.hasOneUse())
        return;
      Operation *user = *result.user_begin();
      if (isa<nn::ReshapeOp>(user) && user->hasOneUse()) {
        reshapes.push_back(user);
        user = *user->user_begin();
      }
      if (!isa<nn::ConcatOp>(user) || (concat && concat != user))
        return;
      concat = user;
    }
    if (concat->getNumOperands() != 3)
      return;
    unsigned index = groupOf[grad];
    for (Operation *reshape : reshapes)
      add(index, reshape);
    add(index, concat);
  }

  Block &block;
  DenseMap<Operation *, unsigned> position;
  DenseMap<Operation *, unsigned> groupOf;
  DenseMap<Value, unsigned> normOfGradient; // dy of a norm's gradient → its group
};

} // namespace

FailureOr<std::vector<Group>> formGroups(Block &block) {
  Grouper grouper(block);
  if (failed(grouper.run()))
    return failure();
  for (Group &group : grouper.groups)
    llvm::sort(group.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return std::move(grouper.groups);
}

} // namespace zero
