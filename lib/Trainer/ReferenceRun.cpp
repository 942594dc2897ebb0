//===- ReferenceRun.cpp - train the joint graph in f64 -----------------------===//

#include "zero/Trainer/ReferenceRun.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Groups.h"
#include "zero/Passes/Dropout.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Runtime/InitialValues.h"
#include "zero/Trainer/Trainer.h"

#include <chrono>
#include <cstring>

using namespace mlir;

namespace zero {

using namespace training;

namespace {

std::optional<BatchType> batchType(Type type) {
  if (type.isF32())
    return BatchType::F32;
  if (type.isInteger(32))
    return BatchType::I32;
  if (type.isInteger(64))
    return BatchType::I64;
  return std::nullopt;
}

/// Elements [from, from + count) of a batch.
reference::Array arrayOf(const BatchArgument &argument, const void *values, int64_t rank) {
  bool isFloat = argument.type == BatchType::F32;
  reference::Array array(argument.shape, isFloat);
  int64_t count = array.size();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = rank * count + i;
    if (isFloat)
      array.f[i] = static_cast<const float *>(values)[at];
    else if (argument.type == BatchType::I32)
      array.i[i] = static_cast<const int32_t *>(values)[at];
    else
      array.i[i] = static_cast<const int64_t *>(values)[at];
  }
  return array;
}

reference::Optimizer optimizerOf(ModuleOp module, const CompileOptions &options) {
  reference::Optimizer optimizer;
  optimizer.kind = options.optimizer == "sgd"    ? reference::OptimizerKind::Sgd
                   : options.optimizer == "adam" ? reference::OptimizerKind::Adam
                   : options.optimizer == "lion" ? reference::OptimizerKind::Lion
                                                 : reference::OptimizerKind::AdamW;
  optimizer.beta1 = options.beta1;
  optimizer.beta2 = options.beta2;
  optimizer.eps = options.eps;
  optimizer.momentum = options.momentum;
  optimizer.weightDecay = options.weightDecay;
  optimizer.clip = options.clip;
  std::string problem; // the pipeline has refused what can't be read
  if (auto groups = ir::parseGroups(options.groups, problem))
    for (auto param : module.getOps<nn::ParamOp>())
      if (int64_t group = ir::groupOf(*groups, param.getSymName()); group >= 0)
        optimizer.rules[param.getSymName()] = {(*groups)[group].lrScale,
                                               (*groups)[group].weightDecay};
  return optimizer;
}

/// What the runtime would fill in, so that both runs start from the same bits.
zrt::Slot slotOf(nn::ParamOp param) {
  zrt::Slot slot;
  slot.parameter = param.getSymName().str();
  slot.elements = param.getTensorType().getNumElements();
  slot.init = static_cast<zrt::InitKind>(param.getInit());
  slot.initScale = param.getInitValue().convertToDouble();
  slot.zeroRow = param.zeroRowOr(-1);
  slot.shape = param.getTensorType().getShape().vec();
  return slot;
}

} // namespace

llvm::Expected<std::unique_ptr<ReferenceRun>>
ReferenceRun::create(Compiler &compiler, ModuleOp module, const TrainOptions &options) {
  if (levelOf(module) > Level::Launches)
    return llvm::createStringError("error: expects a model at level graph, joint or launches for "
                                   "--reference, got one at level " +
                                   nameOf(levelOf(module)));
  std::unique_ptr<ReferenceRun> run(new ReferenceRun());
  run->compiler = &compiler;
  run->ranks = options.compile.ranks;
  run->microSteps = options.compile.microSteps;
  CompileOptions joint = options.compile;
  joint.microSteps = run->ranks * run->microSteps;
  joint.ranks = 1;
  joint.stage = 0;
  joint.until = Level::Joint;
  if (levelOf(module) < Level::Joint && !compiler.run(module, joint))
    return compilerError(compiler);
  for (auto param : module.getOps<nn::ParamOp>())
    run->specs.push_back({param.getSymName().str(), param.getTensorType().getShape().vec()});
  if (llvm::Error error = run->openInputs(module, options))
    return std::move(error);
  llvm::Expected<reference::Parameters> values = run->initialValues(module, options);
  if (!values)
    return values.takeError();
  Schedule schedule = options.schedule;
  if (schedule.totalSteps == 0)
    schedule.totalSteps = run->total;
  FailureOr<reference::ReferenceTrainer> made = reference::ReferenceTrainer::create(
      module, std::move(*values), optimizerOf(module, options.compile),
      [schedule](int64_t stepsTaken) { return schedule.rateAt(stepsTaken); });
  if (failed(made))
    return compilerError(compiler);
  run->trainer.emplace(std::move(*made));
  run->trainer->setDropoutSeed(options.seed);
  llvm::append_range(run->heard, takeLines(compiler));
  return run;
}

llvm::Error ReferenceRun::openInputs(ModuleOp module, const TrainOptions &options) {
  auto joint = module.lookupSymbol<func::FuncOp>(kJointName);
  auto count = module.lookupSymbol<func::FuncOp>(kCountName);
  for (unsigned i = 0; joint && i < batchArgumentCount(joint); ++i) {
    auto type = cast<RankedTensorType>(joint.getArgumentTypes()[i]);
    std::optional<BatchType> element = batchType(type.getElementType());
    if (!element)
      return llvm::createStringError("error: expects batch arguments of f32, i32 or i64");
    BatchArgument argument;
    argument.name = argumentName(joint, i);
    argument.type = *element;
    argument.shape = type.getShape().vec();
    argument.role = count && argumentName(count, 0) == argument.name ? BatchRole::Labels
                    : *element == BatchType::F32                     ? BatchRole::Other
                                                                     : BatchRole::Tokens;
    arguments.push_back(std::move(argument));
  }
  return openBatches(options, arguments, ranks, microSteps);
}

llvm::Expected<reference::Parameters> ReferenceRun::initialValues(ModuleOp module,
                                                                  const TrainOptions &options) {
  reference::Parameters values;
  auto set = [&](llvm::StringRef name, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> from) {
    values[name] = reference::Array::floats(shape, {from.begin(), from.end()});
  };
  if (!options.weights.empty()) {
    if (llvm::Error error = loadWeights(
            options.weights, specs,
            [&](size_t index, llvm::ArrayRef<float> from) {
              set(specs[index].name, specs[index].shape, from);
              return llvm::Error::success();
            },
            heard))
      return std::move(error);
    return values;
  }
  for (auto param : module.getOps<nn::ParamOp>()) {
    zrt::Slot slot = slotOf(param);
    std::vector<float> filled(static_cast<size_t>(slot.elements));
    zrt::fillInitialValues(slot, options.seed, 0, slot.elements, filled.data());
    set(slot.parameter, param.getTensorType().getShape(), filled);
  }
  return values;
}

llvm::Expected<StepRecord> ReferenceRun::step() {
  auto begin = std::chrono::steady_clock::now();
  if (llvm::Error error = data->load(run))
    return std::move(error);
  SmallVector<SmallVector<reference::Array>> batches;
  for (int64_t micro = 0; micro < microSteps; ++micro)
    for (int64_t rank = 0; rank < ranks; ++rank) {
      SmallVector<reference::Array> &batch = batches.emplace_back();
      for (size_t i = 0; i < arguments.size(); ++i)
        batch.push_back(arrayOf(arguments[i], data->batch(micro, static_cast<int64_t>(i)), rank));
    }
  FailureOr<reference::StepResult> result = trainer->step(batches);
  if (failed(result))
    return compilerError(*compiler);
  StepRecord record;
  record.step = run;
  record.loss = result->loss;
  record.lr = result->learningRate;
  record.gradNorm = result->gradNorm;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (std::optional<int64_t> tokens = data->tokensPerStep())
    record.tokensPerSecond = static_cast<double>(*tokens) / record.seconds;
  ++run;
  ++taken;
  return record;
}

llvm::Error ReferenceRun::readParameter(size_t index, llvm::MutableArrayRef<float> values) const {
  const reference::Array &array = trainer->parameters().find(specs[index].name)->second;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(array.f[i]);
  return llvm::Error::success();
}

} // namespace zero
