//===- OptimizersTest.cpp - every optimizer, with groups, against f64 ---------===//
//
// The case `tiny`, trained by the compiled program and by the f64 reference: a group of
// matrices at half the rate, a bias that decays though its rank is 1, weights that don't
// decay at all, and the rest.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include "zero/Trainer/ReferenceRun.h"

#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;
using namespace zero::training;

namespace {

struct Curve {
  std::vector<double> losses;
  Weights weights;
};

Curve trainTo(TrainingRun &run) {
  Curve curve;
  while (run.stepsRun() < run.totalSteps()) {
    auto record = run.step();
    if (!record) {
      ADD_FAILURE() << llvm::toString(record.takeError());
      break;
    }
    curve.losses.push_back(record->loss.value());
  }
  curve.weights = weightsOf(run);
  return curve;
}

TrainOptions optionsOf(const std::string &optimizer) {
  TrainOptions options = goldenCase("tiny").options;
  CompileOptions &compile = options.compile;
  compile.optimizer = optimizer;
  compile.groups = "fc.w:lr=0.5;pr.b:weight-decay=0.5,lr=2;wt?:weight-decay=0";
  compile.weightDecay = 0.1;
  compile.bucketBytes = 256;
  if (optimizer == "sgd")
    compile.momentum = 0.5;
  if (optimizer == "lion")
    compile.beta2 = 0.75;
  options.schedule = {ScheduleKind::InverseSqrt, optimizer == "sgd" ? 0.1 : 2e-3, 4, 0, 1e-3};
  return options;
}

template <typename Run> Curve trainBy(TrainOptions options, int64_t ranks, int64_t stage) {
  ModelOptions model = goldenCase("tiny").model(ranks);
  auto module = readModel(sharedCompiler(), model);
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  options.compile.microBatch = model.microBatch;
  options.compile.ranks = ranks;
  options.compile.stage = stage;
  auto run = Run::create(sharedCompiler(), **module, options);
  if (!run) {
    ADD_FAILURE() << llvm::toString(run.takeError());
    return {};
  }
  return trainTo(**run);
}

TEST(Optimizers, N3_GroupsFollowTheReference) {
  for (const char *optimizer : {"adamw", "adam", "sgd", "lion"}) {
    TrainOptions options = optionsOf(optimizer);
    Curve truth = trainBy<ReferenceRun>(options, 1, 0);
    ASSERT_EQ(truth.losses.size(), 20u);
    for (auto [ranks, stage] : {std::pair(1, 0), {3, 0}, {3, 1}, {2, 2}, {3, 3}}) {
      SCOPED_TRACE(std::string(optimizer) + ", " + std::to_string(ranks) + " ranks, stage " +
                   std::to_string(stage));
      Curve curve = trainBy<Trainer>(options, ranks, stage);
      ASSERT_EQ(curve.losses.size(), truth.losses.size());
      for (size_t step = 0; step < truth.losses.size(); ++step)
        EXPECT_NEAR(curve.losses[step], truth.losses[step], 1e-6 * truth.losses[step]) << step;
      EXPECT_LE(weightDistance(curve.weights, truth.weights), 3e-6);
    }
  }
}

// Without its group each parameter ends elsewhere, so that none of the three was without effect.
TEST(Optimizers, EveryGroupMovesItsParameterAlone) {
  TrainOptions options = optionsOf("lion");
  options.steps = 1;
  Curve with = trainBy<Trainer>(options, 1, 0);
  options.compile.groups = "";
  Curve without = trainBy<Trainer>(options, 1, 0);
  for (const auto &[name, values] : with.weights) {
    bool isGrouped = name == "fc.w" || name == "pr.b" || name == "wte";
    EXPECT_EQ(values != without.weights[name], isGrouped) << name;
  }
}

} // namespace
