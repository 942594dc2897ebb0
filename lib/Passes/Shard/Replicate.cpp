//===- Replicate.cpp - level J to stage 0 of level Z ---------------------------===//
//
// Everything that later stages shard is there in full: one bucket a parameter,
// named by class and in order of first use, state, and the segments. The joint
// graph's ops move into `micro_step`; only its reads, its seed and its end change.
//
//===----------------------------------------------------------------------===//

#include "Sharded.h"

#include "zero/Passes/Dropout.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace zero {
#define GEN_PASS_DEF_REPLICATEPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Cells beside count, loss, norm and seed: rates and scales that a backend may keep there.
constexpr int64_t kScalarCount = 7;

class Replication {
public:
  Replication(ModuleOp module, const ir::Config &config) : module(module), config(config) {}

  LogicalResult run() {
    joint = module.lookupSymbol<func::FuncOp>(kJointName);
    count = module.lookupSymbol<func::FuncOp>(kCountName);
    eval = module.lookupSymbol<func::FuncOp>(kEvalName);
    end = cast<nn::ReturnOp>(joint.front().getTerminator());
    if (failed(checkJoint()) || failed(checkNames()) || failed(checkCount()))
      return failure();
    SmallVector<SlotRequest> requests = collectParameters();
    if (failed(requests.empty()
                   ? emitError(module.getLoc(), "expects a model with parameters, got none")
                   : checkParameters(requests)))
      return failure();
    makeBuckets(requests);
    makeCells();
    makeCountSegment();
    return makeStep();
  }

private:
  LogicalResult checkJoint() {
    for (Operation &op : joint.front().without_terminator())
      if (!isa<nn::ReadOp, ir::LaunchOp>(op) && !isViewLike(&op))
        return op.emitOpError("expects reads, views and launches alone in @joint: run "
                              "zero-form-launches first");
    auto seed = RankedTensorType::get({}, Float32Type::get(module.getContext()));
    if (joint.getNumArguments() == 0 || joint.getArgumentTypes().back() != seed)
      return joint.emitError() << "expects the seed, " << seed << ", as last argument of @joint";
    if (end.getGradients().empty())
      return emitError(module.getLoc(),
                       "the model has no trainable parameter that the loss depends on");
    return success();
  }

  /// Segments and cells have fixed names, which the runtime's reports use.
  LogicalResult checkNames() {
    if (Operation *other = module.lookupSymbol(kRandomCell); other && randomArgument(joint))
      return other->emitError() << "expects a symbol of another name than @" << kRandomCell
                                << ", which the schedule uses";
    for (StringRef name : {kMicroStepSegment, kUpdateSegment, kCountSegment, kCountCell, kLossCell,
                           kNormCell, kSeedCell, kScalarsCell})
      if (Operation *other = module.lookupSymbol(name); other && other != count)
        return other->emitError() << "expects a symbol of another name than @" << name
                                  << ", which the schedule uses";
    for (StringRef name : {kEvalCountCell, kEvalSeedCell, kEvalLossCell})
      if (Operation *other = module.lookupSymbol(name); other && eval)
        return other->emitError() << "expects a symbol of another name than @" << name
                                  << ", which the evaluation uses";
    return success();
  }

  /// @count returns the count of labels in its one argument.
  LogicalResult checkCount() {
    if (!count)
      return success();
    if (count.getNumArguments() == 1 && count.getBody().hasOneBlock())
      for (auto labels : count.front().getOps<nn::CountLabelsOp>())
        if (labels.getLabels() == count.getArgument(0)) {
          countLabels = labels;
          return success();
        }
    return count.emitError("expects @count to be nn.count_labels of its one argument");
  }

  /// Every parameter, in order of first use by a launch, then those that none reads.
  SmallVector<SlotRequest> collectParameters() {
    llvm::SetVector<Attribute> order;
    for (auto launch : joint.front().getOps<ir::LaunchOp>())
      for (Value operand : launch.getArgs()) {
        Operation *op = operand.getDefiningOp();
        while (op && isViewLike(op))
          op = op->getOperand(0).getDefiningOp();
        if (auto read = dyn_cast_or_null<nn::ReadOp>(op))
          order.insert(read.getParamAttr());
      }
    size_t readCount = order.size();
    llvm::DenseMap<Attribute, nn::ParamOp> params;
    for (auto param : module.getOps<nn::ParamOp>()) {
      auto name = FlatSymbolRefAttr::get(param.getSymNameAttr());
      params[name] = param;
      order.insert(name);
    }
    llvm::DenseMap<Attribute, int64_t> contributions;
    llvm::DenseMap<Attribute, Type> gradientType;
    for (auto [param, gradient] : llvm::zip(end.getParams(), end.getGradients())) {
      ++contributions[param];
      gradientType[param] = getElementTypeOrSelf(gradient.getType());
    }

    SmallVector<SlotRequest> requests;
    for (auto [i, name] : llvm::enumerate(order)) {
      nn::ParamOp param = params.lookup(name);
      SlotRequest request;
      request.param = cast<FlatSymbolRefAttr>(name);
      request.type = param.getTensorType();
      request.contributions = contributions.lookup(name);
      // What no gradient reaches, but a launch reads, is kept and gathered as a frozen parameter
      // is.
      bool frozen = !param.getTrainable() || i < readCount;
      request.bucketClass = request.contributions ? ir::BucketClass::Trainable
                            : frozen              ? ir::BucketClass::Frozen
                                                  : ir::BucketClass::Unused;
      request.held = heldStates(request, gradientType.lookup(name));
      requests.push_back(request);
    }
    return requests;
  }

  /// 16-bit weights that are trained have an f32 master; moments are f32.
  ArrayAttr heldStates(const SlotRequest &request, Type gradientType) {
    SmallVector<Attribute> held;
    auto hold = [&](ir::StateKind kind, Type type) {
      held.push_back(ir::HeldAttr::get(module.getContext(), kind, type, /*sharded=*/false,
                                       /*offset=*/-1));
    };
    Type element = request.type.getElementType(), f32 = builder.getF32Type();
    hold(ir::StateKind::Param, element);
    if (request.bucketClass == ir::BucketClass::Trainable) {
      hold(config.microSteps > 1 ? ir::StateKind::GradAccum : ir::StateKind::Grad, gradientType);
      if (element != f32)
        hold(ir::StateKind::Master, f32);
      if (config.optimizer != "sgd" || config.momentum != 0.0)
        hold(ir::StateKind::Moment1, f32);
      if (config.optimizer == "adamw" || config.optimizer == "adam")
        hold(ir::StateKind::Moment2, f32);
    }
    return ArrayAttr::get(module.getContext(), held);
  }

  LogicalResult checkParameters(ArrayRef<SlotRequest> requests) {
    for (const SlotRequest &request : requests) {
      Type element = request.type.getElementType();
      if (!element.isF32() && !element.isBF16() && !element.isF16())
        return module.lookupSymbol(request.param)->emitError()
               << "expects a parameter of f32, bf16 or f16, got " << request.type;
    }
    llvm::DenseMap<Attribute, Type> first;
    for (auto [param, gradient] : llvm::zip(end.getParams(), end.getGradients()))
      if (Type &type = first[param]; !type)
        type = gradient.getType();
      else if (type != gradient.getType())
        return end.emitOpError() << "expects gradients of one type for " << param << ", got "
                                 << type << " and " << gradient.getType();
    if (auto problem = planning::buckets::check(makeProblem(requests, config)))
      return emitError(module.getLoc(), *problem);
    return success();
  }

  /// One bucket a parameter: the planner sees each alone.
  void makeBuckets(ArrayRef<SlotRequest> requests) {
    planning::buckets::Plan plan;
    planning::buckets::Problem all = makeProblem(requests, config);
    for (int64_t i = 0; i < static_cast<int64_t>(requests.size()); ++i) {
      planning::buckets::Problem one{{all.parameters[i]}, all.ranks, all.bucketBytes};
      planning::buckets::Bucket bucket = planning::buckets::plan(one).buckets.front();
      bucket.slots.front().parameter = i;
      plan.buckets.push_back(std::move(bucket));
    }
    llvm::stable_sort(plan.buckets, [](auto &a, auto &b) { return a.kind < b.kind; });
    std::map<planning::buckets::Class, int64_t> number;
    for (planning::buckets::Bucket &bucket : plan.buckets)
      bucket.name = bucket.name.substr(0, 1) + std::to_string(number[bucket.kind]++);

    auto kernels = module.getOps<ir::KernelOp>();
    builder.setInsertionPoint(kernels.empty() ? joint.getOperation() : *kernels.begin());
    writeBuckets(builder, module, plan, requests, config);
  }

  /// Eight-byte cells first, so that none needs padding.
  void makeCells() {
    auto cell = [&](StringRef name, ArrayRef<int64_t> shape, Type element) {
      ir::CellOp::create(builder, module.getLoc(), name, RankedTensorType::get(shape, element),
                         /*offset=*/nullptr);
    };
    SmallVector<int64_t> perCount; // one count, and one seed, for what the loss is a mean over
    if (countLabels && config.lossMean != "step")
      perCount = {config.microSteps};
    if (countLabels)
      cell(kCountCell, perCount, builder.getI64Type());
    if (countLabels && eval)
      cell(kEvalCountCell, {}, builder.getI64Type());
    cell(kNormCell, {}, builder.getF64Type());
    cell(kLossCell, {config.microSteps}, builder.getF32Type());
    cell(kSeedCell, perCount, builder.getF32Type());
    if (eval) {
      cell(kEvalLossCell, {}, builder.getF32Type());
      cell(kEvalSeedCell, {}, builder.getF32Type());
    }
    if (randomArgument(joint))
      cell(kRandomCell, {4}, builder.getI32Type());
    cell(kScalarsCell, {kScalarCount}, builder.getF32Type());
  }

  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(builder.getContext(), name);
  }

  ir::SegmentOp makeSegment(Location loc, StringRef name, int64_t times, func::FuncOp function,
                            unsigned arguments) {
    builder.setInsertionPointToEnd(module.getBody());
    SmallVector<Attribute> names;
    for (unsigned i = 0; i < arguments; ++i)
      names.push_back(builder.getStringAttr(argumentName(function, i)));
    auto segment = ir::SegmentOp::create(builder, loc, name, times, builder.getArrayAttr(names),
                                         /*offsets=*/nullptr);
    Block *body = builder.createBlock(&segment.getBody());
    for (unsigned i = 0; i < arguments; ++i)
      body->addArgument(function.getArgumentTypes()[i], function.getArgument(i).getLoc());
    builder.setInsertionPointToStart(body);
    return segment;
  }

  /// Sets the seed: from the count of labels, or, where the loss is no mean over them, from N·A.
  void makeCountSegment() {
    if (!countLabels) {
      makeSegment(joint.getLoc(), kCountSegment, 1, joint, 0);
      ir::SeedOp::create(builder, joint.getLoc(), symbol(kSeedCell), /*count_cell=*/nullptr);
      return;
    }
    ir::SegmentOp segment = makeSegment(count.getLoc(), kCountSegment, 1, count, 1);
    ir::CountOp::create(builder, countLabels.getLoc(), segment.getBody().getArgument(0),
                        countLabels.getIgnore(), kCountCell);
    ignoredLabel = countLabels.getIgnore();
    for (unsigned i = 0; i < batchArgumentCount(joint); ++i)
      if (argumentName(joint, i) == argumentName(count, 0))
        labelArgument = i;
    ir::SeedOp::create(builder, countLabels.getLoc(), symbol(kSeedCell), symbol(kCountCell));
    count.erase();
  }

  LogicalResult makeStep() {
    Location loc = joint.getLoc();
    unsigned batch = batchArgumentCount(joint);
    ir::SegmentOp microStep = makeSegment(loc, kMicroStepSegment, config.microSteps, joint, batch);
    Block &from = joint.front(), &to = microStep.getBody().front();
    for (unsigned i = 0; i < batch; ++i)
      from.getArgument(i).replaceAllUsesWith(to.getArgument(i));
    if (BlockArgument random = randomArgument(joint)) {
      auto samples = cast<RankedTensorType>(joint.getArgumentTypes().front()).getDimSize(0);
      ir::RandomOp::create(builder, loc, samples, kRandomCell);
      random.replaceAllUsesWith(ir::ScalarOp::create(builder, loc, random.getType(), kRandomCell));
    }
    if (Value seed = from.getArguments().back(); !seed.use_empty())
      seed.replaceAllUsesWith(ir::ScalarOp::create(builder, loc, seed.getType(), kSeedCell));

    SmallVector<Contribution> contributions;
    for (auto [gradient, param] : llvm::zip(end.getGradients(), end.getParams()))
      contributions.push_back({gradient, cast<FlatSymbolRefAttr>(param)});
    Value loss = end.getLoss();
    end.erase();
    to.getOperations().splice(to.end(), from.getOperations());
    joint.erase();
    makeSegment(loc, kUpdateSegment, 1, nullptr, 0);
    if (eval && failed(makeEvaluation()))
      return failure();

    FailureOr<Sharded> sharded = Sharded::read(module);
    if (failed(sharded))
      return failure();
    sharded->stage = 0;
    if (failed(placeLoss(loss, kLossCell)) || failed(placeGradients(*sharded, contributions)) ||
        failed(placeParameters(*sharded)))
      return failure();
    buildUpdate(*sharded);
    return success();
  }

  /// Forward alone, behind the step. Its seed is 1, so that the loss is a sum over labels.
  LogicalResult makeEvaluation() {
    Location loc = eval.getLoc();
    unsigned batch = eval.getNumArguments() - 1;
    ir::SegmentOp segment = makeSegment(loc, kEvalSegment, 1, eval, batch);
    Block &from = eval.front(), &to = segment.getBody().front();
    for (unsigned i = 0; i < batch; ++i)
      from.getArgument(i).replaceAllUsesWith(to.getArgument(i));
    if (labelArgument)
      ir::CountOp::create(builder, loc, to.getArgument(*labelArgument), ignoredLabel,
                          kEvalCountCell);
    ir::SeedOp::create(builder, loc, symbol(kEvalSeedCell), /*count_cell=*/nullptr);
    from.getArguments().back().replaceAllUsesWith(
        ir::ScalarOp::create(builder, loc, from.getArguments().back().getType(), kEvalSeedCell));
    Value loss = from.getTerminator()->getOperand(0);
    from.getTerminator()->erase();
    to.getOperations().splice(to.end(), from.getOperations());
    eval.erase();
    return placeLoss(loss, kEvalLossCell);
  }

  ModuleOp module;
  ir::Config config;
  OpBuilder builder{module.getContext()};
  func::FuncOp joint, count, eval;
  nn::ReturnOp end;
  nn::CountLabelsOp countLabels;
  std::optional<unsigned> labelArgument; // of @joint, where labels are counted
  int64_t ignoredLabel = 0;
};

class Replicate : public impl::ReplicatePassBase<Replicate> {
public:
  using Base::Base;
  void runOnOperation() override {
    if (failed(reachStage(getOperation(), 0)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult replicate(ModuleOp module) {
  std::optional<ir::Config> config = ir::Config::get(module);
  return config ? Replication(module, *config).run() : failure();
}

} // namespace zero
