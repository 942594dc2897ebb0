//===- Configure.cpp - zero.config from options ---------------------------------===//

#include "zero/Dialect/Zero/Config.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Passes.h"

namespace zero {
#define GEN_PASS_DEF_CONFIGUREPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

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
    if (reduceEvery != "step" && reduceEvery != "micro-step")
      problem = "expects reduce-every to be one of step, micro-step, got '" + reduceEvery + "'";
    if (!problem.empty()) {
      module.emitError(problem);
      return signalPassFailure();
    }
    Attribute before = module->getAttr(ir::Config::kAttrName);
    config.set(module);
    Attribute after = module->getAttr(ir::Config::kAttrName);
    if (before && before != after) {
      module.emitError() << "expects a module without zero.config, or with " << after << ", got "
                         << before;
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace zero
