//===- EvaluationTest.cpp - held-out loss, in the arena of training -----------===//

#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

/// The golden batches serve as held-out data: micro-steps are batches of their own.
double evaluateAt(const std::string &name, const Variant &run, int64_t steps) {
  const GoldenCase &golden = goldenCase(name);
  std::string error;
  auto trainer = makeTrainer(golden, run, error);
  EXPECT_TRUE(trainer) << error;
  if (!trainer)
    return NAN;
  for (int64_t step = 0; step < steps; ++step)
    if (auto record = trainer->step(); !record)
      ADD_FAILURE() << llvm::toString(record.takeError());
  auto loss = trainer->evaluate();
  if (!loss) {
    ADD_FAILURE() << llvm::toString(loss.takeError());
    return NAN;
  }
  return loss->value_or(NAN);
}

// After the same steps, whoever holds the weights.
TEST(Evaluation, IsTheSameAtEveryStageAndRankCount) {
  Variant run{.ranks = 1, .stage = 0, .evaluates = true};
  double one = evaluateAt("gpt2", run, 3);
  EXPECT_GT(one, 0.0);
  for (int64_t ranks : {2, 3})
    for (int64_t stage : {0, 1, 3}) {
      run.ranks = ranks;
      run.stage = stage;
      EXPECT_NEAR(evaluateAt("gpt2", run, 3), one, 2e-6 * one)
          << ranks << " ranks, stage " << stage;
    }
}

// Weights, moments and later steps don't know that there was an evaluation.
TEST(Evaluation, ChangesNothing) {
  const GoldenCase &golden = goldenCase("gpt2");
  std::string error;
  for (int64_t stage : {1, 3}) {
    auto evaluated = makeTrainer(golden, {.ranks = 2, .stage = stage, .evaluates = true}, error);
    auto plain = makeTrainer(golden, {.ranks = 2, .stage = stage}, error);
    ASSERT_TRUE(evaluated && plain) << error;
    for (int64_t step = 0; step < 4; ++step) {
      ASSERT_TRUE(static_cast<bool>(evaluated->step()));
      ASSERT_TRUE(static_cast<bool>(evaluated->evaluate()));
      ASSERT_TRUE(static_cast<bool>(plain->step()));
    }
    EXPECT_EQ(firstDifference(weightsOf(*evaluated), weightsOf(*plain)), "");
  }
}

// At a rate of 0 all steps have the same weights: their losses, by their labels, are the mean over
// the file. Labels are ignored here and there, and micro-steps differ in how many they have.
TEST(Evaluation, N2_IsTheMeanOverAllLabels) {
  for (const char *name : {"tiny", "mlp"}) {
    const GoldenCase &golden = goldenCase(name);
    std::string error;
    auto trainer =
        makeTrainer(golden, {.ranks = 3, .stage = 2, .evaluates = true, .lr = 0.0}, error);
    ASSERT_TRUE(trainer) << error;
    double sum = 0.0, labels = 0.0;
    while (trainer->stepsRun() < trainer->totalSteps()) {
      auto record = trainer->step();
      ASSERT_TRUE(static_cast<bool>(record));
      double count = static_cast<double>(trainer->lastResult().labelCount);
      sum += record->loss.value() * count;
      labels += count;
    }
    auto loss = trainer->evaluate();
    ASSERT_TRUE(static_cast<bool>(loss));
    EXPECT_NEAR(loss->value(), sum / labels, 1e-6 * sum / labels) << name;
  }
}

} // namespace
