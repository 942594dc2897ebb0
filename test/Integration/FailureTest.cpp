//===- FailureTest.cpp - a step that can't be taken leaves the weights (F1) ---===//

#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;
using namespace zero::training;

namespace {

// Names the step, counted from 1, and a parameter; no weight has moved.
TEST(Failure, F1_NonFiniteStepIsNamedAndChangesNothing) {
  for (int64_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    std::string error;
    auto trainer = makeTrainer(goldenCase("tiny"), {.ranks = 3, .stage = stage}, error);
    ASSERT_TRUE(trainer) << error;
    ASSERT_FALSE(llvm::errorToBool(trainer->step().takeError()));
    std::vector<float> bias(6, 0.0f);
    bias[3] = NAN;
    ASSERT_TRUE(trainer->session().setParameter("fc.b", bias.data(), 6, error)) << error;
    Weights before = weightsOf(*trainer);
    auto record = trainer->step();
    ASSERT_FALSE(bool(record));
    std::string text = llvm::toString(record.takeError());
    EXPECT_NE(text.find("step 2 of 20"), std::string::npos) << text;
    EXPECT_NE(text.find("first of parameter '"), std::string::npos) << text;
    EXPECT_EQ(firstDifference(weightsOf(*trainer), before), "");
    EXPECT_EQ(trainer->stepsTaken(), 1);
  }
}

/// Three ranks of f16 at a loss scale of 4, with a bias that is infinite: every step overflows.
std::unique_ptr<Trainer> makeOverflowing(int64_t stage, int64_t growthInterval,
                                         std::string &error) {
  GoldenCase golden = goldenCase("tiny");
  golden.options.lossScale = {.initial = 4, .growthInterval = growthInterval};
  auto trainer = makeTrainer(golden, {.ranks = 3, .stage = stage, .dtype = "f16"}, error);
  std::vector<float> bias(6, 0.0f);
  bias[3] = INFINITY;
  if (trainer && !trainer->session().setParameter("fc.b", bias.data(), 6, error))
    trainer.reset();
  return trainer;
}

// From 4 the scale is halved twice, for steps that are skipped: data moves on, steps taken and the
// rate don't. The third overflow, at 1, ends the run.
TEST(Failure, F1_OverflowsAreSkippedDownToTheSmallestScale) {
  for (int64_t stage : {0, 2, 3}) {
    SCOPED_TRACE(stage);
    std::string error;
    auto trainer = makeOverflowing(stage, /*growthInterval=*/8, error);
    ASSERT_TRUE(trainer) << error;
    Weights before = weightsOf(*trainer);
    for (int64_t step = 0; step < 2; ++step) {
      auto record = trainer->step();
      ASSERT_TRUE(bool(record)) << llvm::toString(record.takeError());
      EXPECT_TRUE(record->skipped);
      EXPECT_EQ(record->step, step);
      EXPECT_EQ(record->lossScale, step == 0 ? 4.0 : 2.0);
      EXPECT_EQ(record->lr, goldenCase("tiny").options.schedule.rateAt(0));
      EXPECT_FALSE(record->gradNorm);
    }
    auto record = trainer->step();
    ASSERT_FALSE(bool(record));
    std::string text = llvm::toString(record.takeError());
    EXPECT_NE(text.find("step 3 of 20: expects a finite loss and finite gradients at the smallest "
                        "loss scale, 1, got"),
              std::string::npos)
        << text;
    EXPECT_EQ(firstDifference(weightsOf(*trainer), before), "");
    EXPECT_EQ(trainer->stepsRun(), 2);
    EXPECT_EQ(trainer->stepsTaken(), 0);
  }
}

// One that is fixed at 4 skips the two steps that halving would take to 1, then ends the run.
TEST(Failure, F1_OverflowsAtAFixedScaleEndTheRunWhereTheyGoOn) {
  std::string error;
  auto trainer = makeOverflowing(/*stage=*/3, /*growthInterval=*/0, error);
  ASSERT_TRUE(trainer) << error;
  Weights before = weightsOf(*trainer);
  for (int64_t step = 0; step < 2; ++step) {
    auto record = trainer->step();
    ASSERT_TRUE(bool(record)) << llvm::toString(record.takeError());
    EXPECT_TRUE(record->skipped);
    EXPECT_EQ(record->lossScale, 4.0);
  }
  auto record = trainer->step();
  ASSERT_FALSE(bool(record));
  std::string text = llvm::toString(record.takeError());
  EXPECT_NE(text.find("step 3 of 20: expects a finite loss and finite gradients at the fixed loss "
                      "scale, 4, after 2 skipped steps in a row, got"),
            std::string::npos)
      << text;
  EXPECT_EQ(firstDifference(weightsOf(*trainer), before), "");
}

// Without f16 there is no scale to be told.
TEST(Failure, F1_ALossScaleNeedsF16) {
  GoldenCase golden = goldenCase("tiny");
  golden.options.lossScale = LossScaleOptions();
  std::string error;
  EXPECT_FALSE(makeTrainer(golden, {.ranks = 3, .dtype = "bf16"}, error));
  EXPECT_EQ(error,
            "error: expects a loss scale only in a run with weights of f16, got one without");
}

// A model at level A or X goes on where it is, to the same weights.
TEST(Failure, ModulesOfAnyLevelTrain) {
  const GoldenCase &golden = goldenCase("tiny");
  Weights first;
  for (Level level : {Level::Graph, Level::Joint, Level::Launches, Level::Sharded, Level::Scheduled,
                      Level::Arena, Level::Executable}) {
    SCOPED_TRACE(nameOf(level).str());
    auto module = readModel(sharedCompiler(), golden.model(3));
    ASSERT_TRUE(bool(module));
    TrainOptions options = golden.options;
    options.compile.ranks = 3;
    options.compile.stage = 3;
    options.compile.microBatch = 2;
    options.compile.until = level;
    ASSERT_TRUE(sharedCompiler().run(**module, options.compile))
        << sharedCompiler().takeDiagnostics();
    std::string text;
    llvm::raw_string_ostream os(text);
    (*module)->print(os);
    auto again = parseModel(text);
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    auto trainer = Trainer::create(sharedCompiler(), **again, options);
    ASSERT_TRUE(bool(trainer)) << llvm::toString(trainer.takeError());
    for (int step = 0; step < 3; ++step)
      ASSERT_FALSE(llvm::errorToBool((*trainer)->step().takeError()));
    Weights weights = weightsOf(**trainer);
    if (first.empty())
      first = weights;
    EXPECT_EQ(firstDifference(weights, first), "");
  }
}

} // namespace
