//===- Configure.cpp - zero.config from options ---------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_CONFIGUREPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A group without a parameter is a pattern that was misspelt, or one that comes too late. What is
/// left for all may be nothing.
std::string checkMatches(ModuleOp module, const ir::Config &config) {
  std::vector<bool> used(config.groups.size());
  for (auto param : module.getOps<nn::ParamOp>())
    if (int64_t group = ir::groupOf(config.groups, param.getSymName());
        group >= 0 && param.getTrainable())
      used[group] = true;
  for (auto [group, isUsed] : llvm::zip(config.groups, used))
    if (!isUsed && group.pattern != "*")
      return "expects group '" + group.pattern +
             "' to match a trainable parameter that no group before it matches, got none";
  return "";
}

class Configure : public impl::ConfigurePassBase<Configure> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ir::Config config;
    config.ranks = ranks;
    config.stage = stage;
    config.microSteps = microSteps;
    config.bucketBytes = bucketBytes;
    config.threadsPerRank = threadsPerRank;
    config.reduceEveryStep = reduceEvery == "step";
    config.lossMean = lossMean;
    config.optimizer = optimizer;
    config.beta1 = beta1;
    config.beta2 = beta2;
    config.eps = eps;
    config.weightDecay = weightDecay;
    config.momentum = momentum;
    config.clip = clip;

    std::string problem = config.check();
    if (std::string wrong; problem.empty()) {
      std::optional<std::vector<ir::ParameterGroup>> parsed = ir::parseGroups(groups, wrong);
      config.groups = parsed.value_or(config.groups);
      problem = parsed ? checkMatches(module, config) : wrong;
    }
    if (reduceEvery != "step" && reduceEvery != "micro-step")
      problem = "expects reduce-every to be one of step, micro-step, got '" + reduceEvery + "'";
    if (!problem.empty()) {
      emitError(module.getLoc(), problem);
      return signalPassFailure();
    }
    Attribute before = module->getAttr(ir::Config::kAttrName);
    config.set(module);
    Attribute after = module->getAttr(ir::Config::kAttrName);
    if (before && before != after) {
      emitError(module.getLoc()) << "expects a module without zero.config, or with " << after
                                 << ", got " << before;
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace zero
