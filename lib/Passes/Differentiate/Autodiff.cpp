//===- Autodiff.cpp - the joint graph, by reverse mode --------------------===//
//
// Walks the forward function backwards and asks each op for its vector-Jacobian
// product. Cotangents of activations are summed as they arrive; contributions to
// a parameter are not: nn.return lists one a use, in order of formation, since
// every stage accumulates them in that order (law S4, tied weights).
//
// Where the loss is a cross_entropy, its mean divides by the labels of all ranks
// and micro-steps (law N2). That count is known before the first backward: the
// function @count computes it from the labels, and the seed, loss scale ÷ count,
// comes in as the last argument of @joint.
//
// Gradients leave in the type in which they are summed over uses, micro-steps and
// ranks: a contribution to a 16-bit parameter that is summed in f32 ends in a
// convert, which its kernel absorbs.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Passes/Dropout.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace zero {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

struct Contribution {
  Value gradient;
  FlatSymbolRefAttr param;
};

/// Reverse mode over one block.
class Reverse {
public:
  Reverse(func::FuncOp function, OpBuilder &builder) : function(function), builder(builder) {}

  LogicalResult run(Value loss, Value seed) {
    findActive();
    Block &block = function.front();
    Operation *terminator = block.getTerminator();
    SmallVector<Operation *> forward;
    for (Operation &op : block.without_terminator())
      forward.push_back(&op);
    builder.setInsertionPoint(terminator);
    if (active.contains(loss))
      addCotangent(loss, seed);
    return walkBack(forward);
  }

  /// Starts at the logits instead: the loss op gives their gradient itself.
  LogicalResult runFromLogits(Value logits, Value dLogits, ArrayRef<Operation *> forward) {
    if (active.contains(logits))
      addCotangent(logits, dLogits);
    return walkBack(forward);
  }

  void findActive() {
    SymbolTable symbols(function->getParentOp());
    for (Operation &op : function.front()) {
      if (auto read = dyn_cast<nn::ReadOp>(op)) {
        auto param = symbols.lookup<nn::ParamOp>(read.getParam());
        if (param && param.getTrainable())
          active.insert(read.getResult());
        continue;
      }
      if (!llvm::any_of(op.getOperands(), [&](Value v) { return active.contains(v); }))
        continue;
      for (Value result : op.getResults())
        if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
          active.insert(result);
    }
  }

  SmallVector<Contribution> contributions;

private:
  LogicalResult walkBack(ArrayRef<Operation *> forward) {
    Operation *terminator = function.front().getTerminator();
    numbered = terminator->getPrevNode();
    for (Operation *op : llvm::reverse(forward)) {
      if (isa<nn::ReadOp>(op) ||
          !llvm::any_of(op->getResults(), [&](Value v) { return cotangents.contains(v); }))
        continue;
      auto differentiable = dyn_cast<nn::DifferentiableOpInterface>(op);
      if (!differentiable)
        return op->emitOpError("expects an op with a vector-Jacobian product on the way from the "
                               "parameters to the loss: implement DifferentiableOpInterface");
      SmallVector<Value> incoming;
      for (Value result : op->getResults())
        incoming.push_back(cotangents.lookup(result));
      SmallVector<bool> wanted;
      for (Value operand : op->getOperands())
        wanted.push_back(active.contains(operand));
      SmallVector<Value> gradients(op->getNumOperands());
      if (failed(differentiable.vjp(builder, incoming, wanted, gradients)))
        return failure();
      numberUpTo(terminator);
      propagate(op, gradients);
    }
    return success();
  }

  /// Counts the ops of backward as they are formed. To ask the block for their order would number
  /// all of its ops anew after every insertion, which is quadratic.
  void numberUpTo(Operation *terminator) {
    Operation *next = numbered ? numbered->getNextNode() : &function.front().front();
    for (; next != terminator; next = next->getNextNode()) {
      formation[next] = static_cast<int64_t>(formation.size()) + 1;
      numbered = next;
    }
  }

  /// Hands each operand its gradient, in order of formation.
  void propagate(Operation *op, ArrayRef<Value> gradients) {
    SmallVector<unsigned> order;
    for (unsigned i = 0; i < gradients.size(); ++i)
      if (gradients[i])
        order.push_back(i);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return formation.lookup(gradients[a].getDefiningOp()) <
             formation.lookup(gradients[b].getDefiningOp());
    });
    for (unsigned i : order)
      addCotangent(op->getOperand(i), gradients[i]);
  }

  void addCotangent(Value value, Value gradient) {
    if (auto read = value.getDefiningOp<nn::ReadOp>()) {
      contributions.push_back({gradient, read.getParamAttr()});
      return;
    }
    Value &sum = cotangents[value];
    sum = sum ? nn::AddOp::create(builder, value.getLoc(), sum, gradient) : gradient;
  }

  func::FuncOp function;
  OpBuilder &builder;
  DenseSet<Value> active;
  DenseMap<Value, Value> cotangents;
  DenseMap<Operation *, int64_t> formation; // ops of backward; those before it have none
  Operation *numbered = nullptr;            // the last op before the terminator that has its number
};

class Autodiff : public impl::AutodiffPassBase<Autodiff> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> forward = findForward(module);
    if (failed(forward) || failed(checkStatic(*forward)) || failed(inlineCalls(*forward)))
      return signalPassFailure();
    if (evaluate)
      buildEvaluation(*forward);
    if (failed(differentiate(*forward)))
      return signalPassFailure();
  }

private:
  LogicalResult checkStatic(func::FuncOp forward) {
    if (!forward.getBody().hasOneBlock())
      return forward.emitError("expects a body of one block");
    for (Type type : forward.getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor)
        return forward.emitError() << "expects ranked tensors as arguments, got " << type;
      else if (!tensor.hasStaticShape())
        return forward.emitError() << "expects a closed batch, got an argument of type " << type
                                   << ": run nn-close-batch first";
    if (forward.getName() == kJointName)
      return forward.emitError("expects a graph that is not differentiated, got @joint");
    for (auto param : getOperation().getOps<nn::ParamOp>())
      if (StringRef name = param.getSymName();
          is_contained({kJointName, kCountName, kEvalName}, name))
        return param.emitError() << "expects a symbol of another name than @" << name
                                 << ", which the schedule uses";
    return success();
  }

  LogicalResult inlineCalls(func::FuncOp forward) {
    OpPassManager pipeline("builtin.module");
    pipeline.addPass(createInlinerPass());
    if (failed(runPipeline(pipeline, getOperation())))
      return failure();
    if (auto left = forward.getOps<func::CallOp>(); !left.empty())
      return (*left.begin())
          .emitOpError("expects a call that can be inlined: of a function that "
                       "has a body and does not call itself");
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function != forward)
        function.erase();
    return success();
  }

  LogicalResult differentiate(func::FuncOp forward) {
    if (failed(keyDropout(forward)))
      return failure();
    Operation *terminator = forward.front().getTerminator();
    Value loss = terminator->getOperand(0);
    OpBuilder builder(terminator);
    auto seedType = RankedTensorType::get({}, builder.getF32Type());
    if (cast<RankedTensorType>(loss.getType()).getElementType() != builder.getF32Type())
      return forward.emitError() << "expects an f32 loss, got " << loss.getType();
    if (failed(forward.insertArgument(forward.getNumArguments(), seedType, {}, forward.getLoc())))
      return failure();
    Value seed = forward.getArguments().back();

    Reverse reverse(forward, builder);
    if (auto entropy = loss.getDefiningOp<nn::CrossEntropyOp>(); entropy && entropy->hasOneUse()) {
      if (failed(makeCount(forward, entropy)))
        return failure();
      reverse.findActive();
      SmallVector<Operation *> ops;
      for (Operation &op : forward.front().without_terminator())
        if (&op != entropy.getOperation())
          ops.push_back(&op);
      auto both =
          nn::CrossEntropyWithGradOp::create(builder, entropy.getLoc(), entropy.getLogits(),
                                             entropy.getLabels(), seed, entropy.getIgnoreAttr());
      loss = both.getLoss();
      if (failed(reverse.runFromLogits(both.getLogits(), both.getDlogits(), ops)))
        return failure();
    } else {
      Value scaled = nn::MulOp::create(builder, loss.getLoc(), loss, seed);
      if (failed(reverse.run(loss, seed)))
        return failure();
      loss = scaled;
    }
    if (failed(checkParameters(reverse.contributions)) ||
        failed(setGradientTypes(reverse.contributions)))
      return failure();
    finish(forward, loss, reverse.contributions);
    return success();
  }

  /// zero.config, or its defaults where there is none.
  FailureOr<ir::Config> readConfig() {
    if (!getOperation()->hasAttr(ir::Config::kAttrName))
      return ir::Config();
    std::optional<ir::Config> config = ir::Config::get(getOperation());
    if (!config)
      return failure();
    return *config;
  }

  /// Each gradient in the type in which it is summed: of an f32 parameter f32, of a 16-bit one what
  /// `grad-type` says.
  LogicalResult setGradientTypes(MutableArrayRef<Contribution> contributions) {
    FailureOr<ir::Config> config = readConfig();
    if (failed(config))
      return failure();
    if (!llvm::is_contained({"auto", "f32", "bf16", "f16"}, gradType))
      return emitError(getOperation().getLoc())
             << "expects grad-type to be one of auto, f32, bf16, f16, got '" << gradType << "'";
    bool wide = gradType == "f32" || (gradType == "auto" && config->microSteps > 1);
    bool isShort = gradType == "bf16" || gradType == "f16", found = false;
    SymbolTable symbols(getOperation());
    OpBuilder builder(&getContext());
    Type f32 = builder.getF32Type();
    Type asked = gradType == "bf16" ? Type(builder.getBF16Type()) : Type(builder.getF16Type());
    for (Contribution &c : contributions) {
      auto param = symbols.lookup<nn::ParamOp>(c.param.getAttr());
      Type element = param.getTensorType().getElementType();
      if (!element.isBF16() && !element.isF16())
        continue;
      if (isShort && element != asked)
        return param.emitError() << "expects a parameter of " << asked
                                 << " or f32 with gradients of " << asked << ", got "
                                 << param.getTensorType();
      found = true;
      if (wide)
        c.gradient = convertAtSource(c.gradient, f32);
    }
    if (isShort && !found)
      return emitError(getOperation().getLoc())
             << "expects a trained parameter of " << asked << " where gradients are to be " << asked
             << ", got none";
    return success();
  }

  /// The value in another element type, converted right behind the op that computes it, so that one
  /// kernel may do both and round once; views of it are made anew.
  static Value convertAtSource(Value value, Type element) {
    Operation *op = value.getDefiningOp();
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (op && isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::BroadcastOp>(op)) {
      Value source = convertAtSource(op->getOperand(0), element);
      Operation *view = builder.clone(*op);
      view->setOperand(0, source);
      view->getResult(0).setType(cast<RankedTensorType>(value.getType()).clone(element));
      return view->getResult(0);
    }
    return nn::ConvertOp::create(builder, value.getLoc(), value, element);
  }

  /// @count: the labels of all micro-steps, as the function's one argument.
  LogicalResult makeCount(func::FuncOp forward, nn::CrossEntropyOp entropy) {
    FailureOr<ir::Config> config = readConfig();
    if (failed(config))
      return failure();
    Value root = traceView(entropy.getLabels()).root;
    auto labels = dyn_cast<BlockArgument>(root);
    if (!labels)
      return entropy.emitOpError("expects labels that are an argument of the graph, or a reshape "
                                 "of one: their count must be known before backward");
    auto type = cast<RankedTensorType>(labels.getType());
    SmallVector<int64_t> shape{config->microSteps};
    llvm::append_range(shape, type.getShape());
    if (type.getNumElements() !=
        cast<RankedTensorType>(entropy.getLabels().getType()).getNumElements())
      return entropy.emitOpError("expects all elements of the label argument to be labels");
    OpBuilder builder(forward);
    auto all = RankedTensorType::get(shape, type.getElementType());
    auto countType = RankedTensorType::get({}, builder.getI64Type());
    auto count = func::FuncOp::create(builder, entropy.getLoc(), kCountName,
                                      builder.getFunctionType({all}, {countType}));
    count.setArgAttr(0, kNameAttr,
                     builder.getStringAttr(argumentName(forward, labels.getArgNumber())));
    builder.setInsertionPointToStart(count.addEntryBlock());
    Value n = nn::CountLabelsOp::create(builder, entropy.getLoc(), count.getArgument(0),
                                        entropy.getIgnoreAttr());
    func::ReturnOp::create(builder, entropy.getLoc(), n);
    return success();
  }

  LogicalResult checkParameters(ArrayRef<Contribution> contributions) {
    DenseSet<StringAttr> used;
    for (const Contribution &c : contributions)
      used.insert(c.param.getAttr());
    if (used.empty())
      return emitError(
          getOperation().getLoc(),
          "expects at least one trainable parameter on which the loss depends, got none");
    for (auto param : getOperation().getOps<nn::ParamOp>())
      if (param.getTrainable() && !used.contains(param.getSymNameAttr()))
        param.emitWarning() << "the loss does not depend on parameter @" << param.getSymName()
                            << "; it stays as it is";
    return success();
  }

  void finish(func::FuncOp forward, Value loss, ArrayRef<Contribution> contributions) {
    Operation *terminator = forward.front().getTerminator();
    OpBuilder builder(terminator);
    SmallVector<Value> gradients;
    SmallVector<Attribute> params;
    for (const Contribution &c : contributions) {
      gradients.push_back(c.gradient);
      params.push_back(c.param);
    }
    nn::ReturnOp::create(builder, terminator->getLoc(), loss, gradients,
                         builder.getArrayAttr(params));
    terminator->erase();
    forward.setFunctionType(builder.getFunctionType(forward.getArgumentTypes(), {}));
    forward.setResAttrsAttr(nullptr);
    forward.setName(kJointName);
    lowerInnerEntropies(forward);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(forward.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
} // namespace zero
