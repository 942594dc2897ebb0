//===- ReferenceTrainer.cpp - train a joint graph in f64 -----------------===//

#include "zero/Reference/ReferenceTrainer.h"

#include "zero/Dialect/NN/NN.h"

#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

/// The name of a batch argument: its `nn.name`, or `argN`.
std::string argumentName(func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, "nn.name"))
    return name.str();
  return "arg" + std::to_string(index);
}

LogicalResult checkParameters(ModuleOp module, const Parameters &parameters) {
  for (auto param : module.getOps<nn::ParamOp>()) {
    auto it = parameters.find(param.getSymName());
    if (it == parameters.end())
      return param.emitError() << "expects an initial value, got none";
    if (!it->second.fits(param.getTensorType()))
      return param.emitError() << "expects an initial value of " << param.getTensorType()
                               << ", got " << shapeText(it->second.shape);
  }
  return success();
}

/// [A, …]: one array a micro-step, one after the other.
Array stack(ArrayRef<SmallVector<Array>> batches, size_t argument) {
  Array whole = batches[0][argument];
  whole.shape.insert(whole.shape.begin(), static_cast<int64_t>(batches.size()));
  for (const SmallVector<Array> &batch : batches.drop_front()) {
    llvm::append_range(whole.f, batch[argument].f);
    llvm::append_range(whole.i, batch[argument].i);
  }
  return whole;
}

bool allFinite(ArrayRef<double> values) {
  return llvm::all_of(values, [](double value) { return std::isfinite(value); });
}

} // namespace

FailureOr<ReferenceTrainer> ReferenceTrainer::create(ModuleOp module, Parameters parameters,
                                                     const Optimizer &optimizer, LearningRate rate,
                                                     const Registry &registry) {
  ReferenceTrainer trainer;
  trainer.joint = module.lookupSymbol<func::FuncOp>("joint");
  trainer.count = module.lookupSymbol<func::FuncOp>("count");
  if (!trainer.joint || trainer.joint.isExternal())
    return module.emitError() << "expects a function @joint, as nn-autodiff makes it, found none";
  auto end = dyn_cast<nn::ReturnOp>(trainer.joint.getBody().front().getTerminator());
  if (!end || trainer.joint.getNumArguments() == 0)
    return trainer.joint.emitError() << "expects a seed as last argument, and nn.return at the end";
  if (failed(checkParameters(module, parameters)))
    return failure();

  llvm::StringMap<bool> seen;
  for (auto symbol : end.getParams().getAsRange<FlatSymbolRefAttr>())
    if (seen.try_emplace(symbol.getValue(), true).second)
      trainer.trained.push_back(symbol.getValue());
  for (auto param : module.getOps<nn::ParamOp>())
    trainer.decays[param.getSymName()] = param.decays();
  trainer.weights = std::move(parameters);
  trainer.optimizer = optimizer;
  trainer.rate = std::move(rate);
  trainer.registry = &registry;
  return trainer;
}

/// The labels of all micro-steps of the step; -1 where the module has no `@count`.
FailureOr<int64_t> ReferenceTrainer::countLabels(ArrayRef<SmallVector<Array>> batches) const {
  if (!count)
    return -1;
  func::FuncOp countFunction = count, jointFunction = joint;
  SmallVector<Array> arguments;
  for (unsigned i = 0; i < countFunction.getNumArguments(); ++i) {
    std::string name = argumentName(countFunction, i);
    std::optional<unsigned> same;
    for (unsigned j = 0; j < batchArguments(); ++j)
      if (argumentName(jointFunction, j) == name)
        same = j;
    if (!same)
      return countFunction.emitError() << "expects '" << name << "' to be an argument of @joint";
    arguments.push_back(stack(batches, *same));
  }
  FailureOr<Results> results = evaluate(countFunction, arguments, weights, *registry);
  if (failed(results))
    return failure();
  if (results->size() != 1 || (*results)[0].isFloat || (*results)[0].size() != 1)
    return countFunction.emitError() << "expects one integer as result";
  return (*results)[0].i[0];
}

/// All arguments but the seed, which is last, and what keys dropout, which stands before it.
int64_t ReferenceTrainer::batchArguments() const {
  func::FuncOp function = joint;
  unsigned count = function.getNumArguments();
  bool drops = count >= 2 && function.getArgAttr(count - 2, "nn.random");
  return count - (drops ? 2 : 1);
}

/// Seed, step and the number of the micro-step's first sample: every micro-step has as many.
Array ReferenceTrainer::randomState(ArrayRef<Array> batch, int64_t microStep) const {
  auto low = static_cast<uint32_t>(dropoutSeed), high = static_cast<uint32_t>(dropoutSeed >> 32);
  return Array::integers({4}, {low, high, taken, microStep * batch.front().shape.front()});
}

LogicalResult ReferenceTrainer::accumulate(ArrayRef<Array> batch, int64_t microStep, double seed,
                                           Gradients &gradients, double &loss) const {
  func::FuncOp jointFunction = joint;
  SmallVector<Array> arguments(batch);
  if (batchArguments() + 2 == jointFunction.getNumArguments())
    arguments.push_back(randomState(batch, microStep));
  arguments.push_back(Array::scalar(seed));
  FailureOr<Results> results = evaluate(jointFunction, arguments, weights, *registry);
  if (failed(results))
    return failure();
  loss += (*results)[0].f[0];
  auto end = cast<nn::ReturnOp>(jointFunction.getBody().front().getTerminator());
  for (auto [symbol, part] : llvm::zip_equal(end.getParams().getAsRange<FlatSymbolRefAttr>(),
                                             ArrayRef(*results).drop_front())) {
    std::vector<double> &sum = gradients[symbol.getValue()];
    sum.resize(part.f.size(), 0.0);
    for (size_t k = 0; k < sum.size(); ++k)
      sum[k] += part.f[k];
  }
  return success();
}

FailureOr<StepResult> ReferenceTrainer::step(ArrayRef<SmallVector<Array>> batches) {
  if (batches.empty())
    return joint.emitError() << "expects at least one micro-step, got none";
  for (const SmallVector<Array> &batch : batches)
    if (static_cast<int64_t>(batch.size()) != batchArguments())
      return joint.emitError() << "expects " << batchArguments() << " batch arguments, got "
                               << batch.size();
  FailureOr<int64_t> labels = countLabels(batches);
  if (failed(labels))
    return failure();

  StepResult result;
  result.learningRate = rate(taken);
  result.count = std::max<int64_t>(*labels, 0);
  // Without a label every sum is 0, whatever the seed.
  double divisor =
      *labels < 0 ? static_cast<double>(batches.size()) : std::max<int64_t>(*labels, 1);
  Gradients gradients;
  for (auto [microStep, batch] : llvm::enumerate(batches))
    if (failed(accumulate(batch, static_cast<int64_t>(microStep), 1.0 / divisor, gradients,
                          result.loss)))
      return failure();

  if (!std::isfinite(result.loss))
    return joint.emitError() << "step " << taken << ": expects a finite loss, got " << result.loss;
  double squares = 0.0;
  for (StringRef name : trained) {
    if (!allFinite(gradients[name]))
      return joint.emitError() << "step " << taken << ": expects finite gradients, parameter '"
                               << name << "' has others";
    for (double g : gradients[name])
      squares += g * g;
  }
  result.gradNorm = std::sqrt(squares);
  double clipFactor =
      optimizer.clip > 0.0 ? std::min(1.0, optimizer.clip / (result.gradNorm + 1e-6)) : 1.0;
  ++taken;
  for (StringRef name : trained)
    update(name, gradients[name], clipFactor, result.learningRate);
  return result;
}

void ReferenceTrainer::update(StringRef name, ArrayRef<double> gradient, double clipFactor,
                              double lr) {
  std::vector<double> &weight = weights[name].f;
  Moments &moment = moments[name];
  bool first = moment.first.empty();
  moment.first.resize(weight.size(), 0.0);
  moment.second.resize(weight.size(), 0.0);
  ParameterRule rule = optimizer.rules.lookup(name);
  double decay = rule.weightDecay.value_or(decays.lookup(name) ? optimizer.weightDecay : 0.0);
  lr *= rule.lrScale;
  double correction1 = 1.0 - std::pow(optimizer.beta1, static_cast<double>(taken));
  double correction2 = 1.0 - std::pow(optimizer.beta2, static_cast<double>(taken));

  for (size_t k = 0; k < weight.size(); ++k) {
    double g = gradient[k] * clipFactor;
    double &m = moment.first[k], &v = moment.second[k];
    if (optimizer.kind == OptimizerKind::AdamW || optimizer.kind == OptimizerKind::Lion)
      weight[k] *= 1.0 - lr * decay;
    else
      g += decay * weight[k];
    if (optimizer.kind == OptimizerKind::Sgd) {
      m = first ? g : optimizer.momentum * m + g;
      weight[k] -= lr * m;
    } else if (optimizer.kind == OptimizerKind::Lion) {
      double direction = optimizer.beta1 * m + (1.0 - optimizer.beta1) * g;
      weight[k] -= lr * ((direction > 0.0) - (direction < 0.0));
      m = optimizer.beta2 * m + (1.0 - optimizer.beta2) * g;
    } else {
      m = optimizer.beta1 * m + (1.0 - optimizer.beta1) * g;
      v = optimizer.beta2 * v + (1.0 - optimizer.beta2) * g * g;
      weight[k] -= lr / correction1 * m / (std::sqrt(v) / std::sqrt(correction2) + optimizer.eps);
    }
  }
}

} // namespace zero::reference
