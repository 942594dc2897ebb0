//===- Pipeline.cpp - from the module's level to another ---------------------===//
//
// One pass that runs the others: the level of the module decides where it
// begins, so that text of any level goes back in, and zero-opt, zero-run and
// embedders string the passes together in one place.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace zero {
#define GEN_PASS_DEF_PIPELINEPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

class Pipeline : public impl::PipelinePassBase<Pipeline> {
public:
  using Base::Base;

  void runOnOperation() override {
    std::optional<Level> target = parseLevel(until);
    if (!target) {
      emitError(getOperation().getLoc())
          << "expects until=graph|joint|launches|sharded|scheduled|arena|llvm, "
             "got until="
          << until;
      return signalPassFailure();
    }
    Level level = levelOf(getOperation());
    if (level > *target) {
      emitError(getOperation().getLoc())
          << "expects a module at or before level " << nameOf(*target) << ", got one at level "
          << nameOf(level);
      return signalPassFailure();
    }
    // Text of a later level may have been edited by hand: it is held against the laws first.
    if (level >= Level::Sharded && verify && failed(run(createVerifyPass())))
      return signalPassFailure();
    if (level < Level::Sharded && failed(run(createConfigurePass(configuration()))))
      return signalPassFailure();
    std::optional<ir::Config> config = ir::Config::get(getOperation());
    if (!config)
      return signalPassFailure();
    if (level == Level::Launches &&
        failed(run(createPlaceCheckpointsPass({recompute, activationBudget}))))
      return signalPassFailure();
    for (; level < *target; level = static_cast<Level>(static_cast<int>(level) + 1)) {
      std::vector<std::unique_ptr<Pass>> passes;
      if (level == Level::Graph)
        passes = graphPasses();
      for (auto &pass : passesFrom(level, *config))
        passes.push_back(std::move(pass));
      for (auto &pass : passes)
        if (failed(run(std::move(pass))))
          return signalPassFailure();
    }
    if (*target == Level::Graph)
      for (auto &pass : graphPasses())
        if (failed(run(std::move(pass))))
          return signalPassFailure();
  }

private:
  /// Those that leave level G as level G.
  std::vector<std::unique_ptr<Pass>> graphPasses() const {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(createCloseBatchPass({microBatch}));
    if (dtype != "f32" || !keepF32.empty())
      passes.push_back(createMixedPrecisionPass({dtype, keepF32}));
    return passes;
  }

  /// The passes that lead from a level to the next.
  std::vector<std::unique_ptr<Pass>> passesFrom(Level level, const ir::Config &config) const {
    std::vector<std::unique_ptr<Pass>> passes;
    switch (level) {
    case Level::Graph:
      passes.push_back(createAutodiffPass({gradDtype, evaluate}));
      break;
    case Level::Joint:
      passes.push_back(createFormLaunchesPass());
      passes.push_back(createPlaceCheckpointsPass({recompute, activationBudget}));
      break;
    case Level::Launches:
      passes.push_back(createReplicatePass());
      if (config.stage >= 1)
        passes.push_back(createShardOptimizerPass());
      if (config.stage >= 2)
        passes.push_back(createShardGradientsPass());
      if (config.stage >= 3)
        passes.push_back(createShardParametersPass());
      passes.push_back(createBucketCollectivesPass({holdBytes}));
      break;
    case Level::Sharded:
      passes.push_back(createSchedulePass());
      break;
    case Level::Scheduled:
      passes.push_back(createPlanArenaPass());
      break;
    case Level::Arena:
      passes.push_back(createLowerPass());
      break;
    case Level::Executable:
      break;
    }
    return passes;
  }

  LogicalResult run(std::unique_ptr<Pass> pass) {
    OpPassManager pipeline("builtin.module");
    pipeline.addPass(std::move(pass));
    if (clean) {
      pipeline.addPass(createCanonicalizerPass());
      pipeline.addPass(createCSEPass());
    }
    if (verify)
      pipeline.addPass(createVerifyPass());
    return runPipeline(pipeline, getOperation());
  }

  ConfigurePassOptions configuration() const {
    ConfigurePassOptions options;
    options.ranks = ranks;
    options.stage = stage;
    options.microSteps = microSteps;
    options.bucketBytes = bucketBytes;
    options.threadsPerRank = threadsPerRank;
    options.reduceEvery = reduceEvery;
    options.lossMean = lossMean;
    options.optimizer = optimizer;
    options.beta1 = beta1;
    options.beta2 = beta2;
    options.eps = eps;
    options.weightDecay = weightDecay;
    options.momentum = momentum;
    options.clip = clip;
    options.groups = groups;
    return options;
  }
};

} // namespace
} // namespace zero
