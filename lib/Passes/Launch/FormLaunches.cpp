//===- FormLaunches.cpp - groups of ops become kernels and launches -------===//
//
// Right after differentiation and before anything else chooses, so that the
// kernels, and with them every trained bit, are the same at all stages. A kernel
// is keyed by its text: types, strides of its arguments, kind and body; launches
// of equal structure share one. Only reads, views and launches stay behind.
//
//===----------------------------------------------------------------------===//

#include "Grouping.h"

#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/KernelDescriptors.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Views.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace zero {
#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Makes kernels and hands out the one of equal structure.
class KernelPool {
public:
  KernelPool(ModuleOp module, Operation *before) : symbols(module), before(before) {}

  /// `ops` with the values `inputs` as arguments and `outputs` as results.
  ir::KernelOp get(ir::KernelKind kind, ArrayRef<Operation *> ops, ValueRange inputs,
                   ValueRange outputs, StringRef base) {
    OpBuilder builder(before);
    SmallVector<Attribute> strides;
    bool strided = false;
    for (Value input : inputs) {
      View view = traceView(input);
      auto type = cast<RankedTensorType>(input.getType());
      bool plain = view.isContiguous(type);
      strided |= !plain;
      strides.push_back(builder.getI64ArrayAttr(plain ? ArrayRef<int64_t>() : view.strides));
    }
    Location loc = builder.getUnknownLoc();
    auto kernel = ir::KernelOp::create(
        builder, loc, "kernel", builder.getFunctionType(inputs.getTypes(), outputs.getTypes()),
        kind,
        /*may_reuse=*/nullptr, strided ? builder.getArrayAttr(strides) : nullptr,
        /*arg_attrs=*/nullptr, /*res_attrs=*/nullptr);
    Block *body = builder.createBlock(&kernel.getBody());
    IRMapping map;
    for (Value input : inputs)
      map.map(input, body->addArgument(input.getType(), loc));
    builder.setInsertionPointToStart(body);
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        cloneRematerialised(operand, builder, map, loc);
      builder.clone(*op, map)->setLoc(loc);
    }
    SmallVector<Value> results;
    for (Value output : outputs)
      results.push_back(map.lookup(output));
    ir::YieldOp::create(builder, loc, results);

    std::string text;
    llvm::raw_string_ostream(text) << kernel;
    if (ops.empty()) // a gradient's copy stays another launch than an operand's
      text += base;
    auto [found, isNew] = byText.try_emplace(text, kernel);
    if (!isNew) {
      kernel.erase();
      return found->second;
    }
    setMayReuse(kernel);
    unsigned &count = byBase[base];
    kernel.setSymName(count ? (base + "_" + Twine(count)).str() : base.str());
    ++count;
    symbols.insert(kernel, Block::iterator(before));
    return kernel;
  }

private:
  /// A constant or iota that an operand is, and its converts.
  static void cloneRematerialised(Value value, OpBuilder &builder, IRMapping &map, Location loc) {
    Operation *source = value.getDefiningOp();
    if (!source || map.contains(value) || !isRematerialised(source))
      return;
    for (Value operand : source->getOperands())
      cloneRematerialised(operand, builder, map, loc);
    builder.clone(*source, map)->setLoc(loc);
  }

  void setMayReuse(ir::KernelOp kernel) {
    SmallVector<SmallVector<int64_t>> lists = deriveMayReuse(kernel);
    if (llvm::all_of(lists, [](auto &list) { return list.empty(); }))
      return;
    Builder builder(kernel.getContext());
    SmallVector<Attribute> attrs;
    for (auto &list : lists)
      attrs.push_back(builder.getI64ArrayAttr(list));
    kernel.setMayReuseAttr(builder.getArrayAttr(attrs));
  }

  SymbolTable symbols;
  Operation *before;
  llvm::StringMap<ir::KernelOp> byText;
  llvm::StringMap<unsigned> byBase;
};

class FormLaunches : public impl::FormLaunchesPassBase<FormLaunches> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto joint = module.lookupSymbol<func::FuncOp>(kJointName);
    if (!joint) {
      emitError(module.getLoc(), "expects a differentiated graph: run nn-autodiff first");
      return signalPassFailure();
    }
    auto eval = module.lookupSymbol<func::FuncOp>(kEvalName);
    KernelPool pool(module, eval && eval->isBeforeInBlock(joint) ? eval : joint);
    if (failed(checkIndices(joint)) || failed(formIn(joint, pool)) ||
        failed(materialiseGradients(joint, pool)) || (eval && failed(formIn(eval, pool))))
      return signalPassFailure();
    for (func::FuncOp function : {joint, eval})
      if (function)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
          if (isOpTriviallyDead(&op))
            op.erase();
    eraseUnusedKernels();
  }

private:
  /// The runtime's kernels index with i32.
  LogicalResult checkIndices(func::FuncOp joint) {
    for (BlockArgument arg : joint.getArguments())
      if (getElementTypeOrSelf(arg.getType()).isInteger(64))
        return joint.emitError()
               << "expects integer arguments of i32 to compile for CPU ranks, got " << arg.getType()
               << " for '" << argumentName(joint, arg.getArgNumber()) << "'";
    return success();
  }

  /// No two launches are equal, so that none is merged later, when what forms a gradient must stay
  /// apart from what else is read.
  static void mergeEqual(func::FuncOp joint) {
    IRRewriter rewriter(joint.getContext());
    DominanceInfo dominance(joint);
    eliminateCommonSubExpressions(rewriter, dominance, joint);
  }

  /// Convolutions become patches and products, whose kernels there are.
  static void expandConvolutions(func::FuncOp function) {
    for (auto convolution :
         llvm::make_early_inc_range(function.front().getOps<nn::ConvolutionOp>())) {
      OpBuilder builder(convolution);
      convolution.replaceAllUsesWith(convolution.expand(builder));
      convolution.erase();
    }
  }

  /// The numbers of dropouts become operands, slices of one list, so that equal layers share a
  /// kernel. Attention's stay attributes of its descriptor: no code depends on them.
  static void passSites(func::FuncOp joint) {
    SmallVector<nn::DropoutOp> dropouts;
    int64_t count = 0;
    for (auto dropout : joint.getOps<nn::DropoutOp>())
      if (dropout.getSite()) {
        dropouts.push_back(dropout);
        count = std::max(count, static_cast<int64_t>(*dropout.getSite()) + 1);
      }
    if (dropouts.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(&joint.front());
    Location loc = joint.getLoc();
    Value sites =
        nn::IotaOp::create(builder, loc, RankedTensorType::get({count}, builder.getI32Type()), 0);
    DenseMap<int64_t, Value> slices;
    for (nn::DropoutOp dropout : dropouts) {
      int64_t site = static_cast<int64_t>(*dropout.getSite());
      Value &slice = slices[site];
      if (!slice)
        slice =
            nn::SliceOp::create(builder, loc, sites, ArrayRef<int64_t>(site), ArrayRef<int64_t>(1))
                .getResult();
      dropout.getSiteValueMutable().assign(slice);
      dropout.removeSiteAttr();
    }
  }

  /// Makes launches of a function's ops. Their order is that of the groups' last ops.
  LogicalResult formIn(func::FuncOp function, KernelPool &pool) {
    expandConvolutions(function);
    mergeEqual(function);
    passSites(function);
    FailureOr<std::vector<Group>> groups = formGroups(function.front());
    if (failed(groups))
      return failure();
    llvm::stable_sort(*groups, [](const Group &a, const Group &b) {
      return a.ops.back()->isBeforeInBlock(b.ops.back());
    });
    for (Group &group : *groups)
      if (failed(launch(group, pool)))
        return failure();
    launchConstants(function, pool);
    return success();
  }

  /// The family's main op names the kernel: the GEMM of a GEMM, the norm of a norm.
  static StringRef baseName(const Group &group) {
    Operation *main = group.ops.front();
    for (Operation *op : group.ops)
      if (isa<nn::LayerNormOp, nn::LayerNormGradInputOp, nn::RmsNormOp, nn::RmsNormGradInputOp,
              nn::RotaryOp, nn::SoftmaxOp, nn::SoftmaxGradOp>(op))
        main = op;
    return main->getName().stripDialect();
  }

  LogicalResult launch(Group &group, KernelPool &pool) {
    llvm::SetVector<Value> inputs;
    llvm::SmallPtrSet<Operation *, 8> members(group.ops.begin(), group.ops.end());
    for (Operation *op : group.ops)
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (source && (members.contains(source) ||
                       (group.kind == ir::KernelKind::Generated && isRematerialised(source))))
          continue;
        inputs.insert(operand);
      }
    SmallVector<Value> outputs;
    for (Operation *op : group.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *u) { return !members.contains(u); }))
          outputs.push_back(result);
    if (outputs.empty())
      return success(); // nothing reads it; erased as dead

    Operation *last = group.ops.back();
    OpBuilder builder(last);
    SmallVector<Value> operands(inputs.getArrayRef());
    ir::KernelOp kernel = pool.get(group.kind, group.ops, operands, outputs, baseName(group));
    if (std::string why;
        group.kind != ir::KernelKind::Generated && !describeKernel(kernel, 1, why)) {
      // The library's kernel cannot read these strides: copy the views, then ask again.
      for (Value &operand : operands)
        if (!traceView(operand).isContiguous(cast<RankedTensorType>(operand.getType()))) {
          Value copied = copy(builder, operand, pool);
          for (Operation *op : group.ops)
            op->replaceUsesOfWith(operand, copied);
          operand = copied;
        }
      kernel = pool.get(group.kind, group.ops, operands, outputs, baseName(group));
      if (!describeKernel(kernel, 1, why))
        return last->emitOpError() << "expects a shape that a " << stringifyKernelKind(group.kind)
                                   << " kernel computes: " << why;
    }
    auto launch = ir::LaunchOp::create(builder, last->getLoc(), TypeRange(ValueRange(outputs)),
                                       kernel.getSymName(), operands, nullptr, nullptr, nullptr);
    for (auto [output, result] : llvm::zip(outputs, launch.getOuts()))
      output.replaceUsesWithIf(result,
                               [&](OpOperand &use) { return !members.contains(use.getOwner()); });
    for (Operation *op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op->erase();
    }
    return success();
  }

  /// Constants that no generated kernel took in: read through a view, or by a library's kernel.
  void launchConstants(func::FuncOp joint, KernelPool &pool) {
    // Converted ones first, which hold what they convert.
    for (bool converted : {true, false})
      for (Operation &op : llvm::make_early_inc_range(joint.front())) {
        if (!isRematerialised(&op) || isa<nn::ConvertOp>(op) != converted)
          continue;
        if (!op.use_empty())
          launchConstant(&op, pool);
        op.erase();
      }
  }
  static void launchConstant(Operation *op, KernelPool &pool) {
    OpBuilder builder(op);
    ir::KernelOp kernel =
        pool.get(ir::KernelKind::Generated, op, {}, op->getResults(), op->getName().stripDialect());
    auto launch =
        ir::LaunchOp::create(builder, op->getLoc(), op->getResultTypes(), kernel.getSymName(),
                             ValueRange(), nullptr, nullptr, nullptr);
    op->replaceAllUsesWith(launch.getOuts());
  }

  void eraseUnusedKernels() {
    llvm::DenseSet<StringRef> used;
    getOperation().walk([&](ir::LaunchOp launch) { used.insert(launch.getKernel()); });
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<ir::KernelOp>()))
      if (!used.contains(kernel.getSymName()))
        kernel.erase();
  }

  /// A launch that copies a view into a value of its own.
  Value copy(OpBuilder &builder, Value view, KernelPool &pool) {
    ir::KernelOp kernel = pool.get(ir::KernelKind::Generated, {}, view, view, "copy");
    return ir::LaunchOp::create(builder, view.getLoc(), TypeRange(view.getType()),
                                kernel.getSymName(), ValueRange(view), nullptr, nullptr, nullptr)
        .getResult(0);
  }

  /// How often a value is read, through views too.
  static int64_t countReads(Value value) {
    int64_t count = 0;
    for (Operation *user : value.getUsers())
      if (isView(user))
        for (Value result : user->getResults())
          count += countReads(result);
      else
        ++count;
    return count;
  }

  /// A gradient is written into its slot by the launch that forms it, so it is a launch's whole
  /// result, in order, and read by nothing else: no other gradient, and no launch, since the slot
  /// may hold more than this contribution. Others are copied, and where one value is the gradient
  /// of several, by one launch: two equal ones could be merged again. And a launch forms one
  /// gradient of a parameter at most: its results are written in no order.
  LogicalResult materialiseGradients(func::FuncOp joint, KernelPool &pool) {
    auto end = dyn_cast<nn::ReturnOp>(joint.front().getTerminator());
    if (!end)
      return joint.emitError("expects a joint graph that ends in nn.return");
    struct Copy {
      View view;
      SmallVector<OpOperand *> operands; // of one type
    };
    llvm::MapVector<Value, SmallVector<Copy>> copied; // by root
    llvm::DenseSet<std::pair<Operation *, Attribute>> formed;
    for (OpOperand &operand : end->getOpOperands()) {
      View view = traceView(operand.get());
      auto type = cast<RankedTensorType>(operand.get().getType());
      bool whole = view.root.getDefiningOp<ir::LaunchOp>() && view.coversRoot(type) &&
                   countReads(view.root) == 1;
      if (whole && formed.insert({view.root.getDefiningOp(), paramOf(operand)}).second)
        continue;
      SmallVector<Copy> &copies = copied[view.root];
      auto equal = llvm::find_if(copies, [&](const Copy &copy) {
        return copy.operands.front()->get().getType() == type && copy.view.offset == view.offset &&
               copy.view.strides == view.strides;
      });
      if (equal == copies.end())
        copies.push_back({view, {&operand}});
      else
        equal->operands.push_back(&operand);
    }
    for (auto &[root, copies] : copied)
      for (Copy &copy : copies)
        copyGradient(copy.operands, end, pool);
    return success();
  }

  /// The parameter of a gradient, or null for the loss.
  static Attribute paramOf(OpOperand &operand) {
    auto end = cast<nn::ReturnOp>(operand.getOwner());
    unsigned number = operand.getOperandNumber();
    return number == 0 ? Attribute() : end.getParams()[number - 1];
  }

  /// Copies the value of all these operands, which is one, into a result for each: by one launch,
  /// and by another that reads a copy of the first one for a second gradient of a parameter.
  void copyGradient(ArrayRef<OpOperand *> operands, nn::ReturnOp end, KernelPool &pool) {
    Value value = operands.front()->get();
    OpBuilder builder(end);
    if (Operation *source = value.getDefiningOp())
      builder.setInsertionPointAfter(source);
    else
      builder.setInsertionPointToStart(end->getBlock());
    SmallVector<OpOperand *> rest(operands);
    while (!rest.empty()) {
      llvm::DenseSet<Attribute> params;
      SmallVector<OpOperand *> now, later;
      for (OpOperand *operand : rest)
        (params.insert(paramOf(*operand)).second ? now : later).push_back(operand);
      SmallVector<Value> results(now.size() + (later.empty() ? 0 : 1), value);
      ir::KernelOp kernel = pool.get(ir::KernelKind::Generated, {}, value, results, "gradient");
      auto launch =
          ir::LaunchOp::create(builder, value.getLoc(), TypeRange(ValueRange(results)),
                               kernel.getSymName(), ValueRange(value), nullptr, nullptr, nullptr);
      for (auto [i, operand] : llvm::enumerate(now))
        operand->set(launch.getResult(i));
      value = launch.getOuts().back();
      rest = later;
    }
  }
};

} // namespace
} // namespace zero
