//===- EvaluationTest.cpp - a loss without a step -------------------------===//

#include "TinySession.h"

#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

/// w = 0, b = 2: a row with label l has loss ½·(2 − l)².
void setWeights(Session &session) {
  std::vector<float> w(kFeatures, 0.0f);
  float b = 2.0f;
  std::string error;
  ASSERT_TRUE(session.setParameter("w", w.data(), kFeatures, error)) << error;
  ASSERT_TRUE(session.setParameter("b", &b, 1, error)) << error;
}

TEST(Evaluation, SumsOverLabelsAndRanks) {
  // Labels 0, 1, 2, · (ignored) in a batch of two rows on two ranks: 2 + ½ + 0 over 3 labels, or
  // over one run of two ranks.
  for (ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16})
    for (int64_t stage : {0, 1, 2, 3})
      for (bool tokenMean : {true, false}) {
        TinyOptions options{.ranks = 2,
                            .stage = stage,
                            .microSteps = 2,
                            .tokenMean = tokenMean,
                            .type = type,
                            .evaluates = true};
        auto session = start(options, {.poison = true});
        setWeights(*session);
        TinyBatch batch(options);
        batch.labels = {0, 1, 2, kIgnored, 7, 7, 7, 7}; // micro-step 0 is evaluated
        std::vector<char> before = everyByte(*session);
        EvalResult result;
        std::string error;
        ASSERT_TRUE(session->evaluate(batch.evaluation(), result, error)) << error;
        EXPECT_EQ(result.lossSum, 2.5);
        EXPECT_EQ(result.labelCount, tokenMean ? 3 : 2);
        EXPECT_EQ(everyByte(*session), before);
      }
}

TEST(Evaluation, ALossThatIsNoMeanOverLabelsNeedsNoCount) {
  TinyOptions options{.ranks = 3, .tokenMean = false, .evaluates = true};
  Program program = tinyProgram(options);
  program.segments[3].rows.erase(program.segments[3].rows.begin());
  std::string error;
  auto session = Session::create(program, tinyKernels(options), {}, error);
  ASSERT_TRUE(session) << error;
  setWeights(*session);
  TinyBatch batch(options); // six labels of 0: a loss of 2 each
  EvalResult result;
  ASSERT_TRUE(session->evaluate(batch.evaluation(), result, error)) << error;
  EXPECT_EQ(result.lossSum, 12.0);
  EXPECT_EQ(result.labelCount, 3);
}

TEST(Evaluation, ChangesNothingForTheStepsAround) {
  for (int64_t stage : {0, 3}) {
    TinyOptions options{.ranks = 3,
                        .stage = stage,
                        .microSteps = 2,
                        .optimizer = kAdamW,
                        .type = ElementType::bf16,
                        .evaluates = true};
    auto plain = start(options), evaluating = start(options, {.poison = true});
    for (Session *session : {plain.get(), evaluating.get()})
      session->initialize(2);
    TinyBatch batch(options);
    for (int step = 0; step < 3; ++step) {
      batch.fill(uint32_t(step));
      StepResult a, b;
      EvalResult evaluated;
      std::string error;
      ASSERT_TRUE(plain->step(batch.input(0.1, step), a, error)) << error;
      ASSERT_TRUE(evaluating->evaluate(batch.evaluation(), evaluated, error)) << error;
      TrafficCount sent = evaluating->traffic();
      ASSERT_TRUE(evaluating->step(batch.input(0.1, step), b, error)) << error;
      EXPECT_EQ(a.loss, b.loss);
      EXPECT_EQ(a.labelCount, b.labelCount);
      EXPECT_EQ(evaluating->traffic().allGatherElements, plain->traffic().allGatherElements);
      if (step > 0) // what an evaluation sends is no part of a step's traffic
        EXPECT_EQ(sent.allGatherElements, plain->traffic().allGatherElements);
      EXPECT_EQ(everyByte(*plain), everyByte(*evaluating));
    }
  }
}

TEST(Evaluation, F1_ChecksItsData) {
  TinyOptions options{.ranks = 2, .evaluates = true};
  auto session = start(options);
  TinyBatch batch(options);
  EvalResult result;
  std::string error;
  auto data = batch.evaluation();
  data[3].pop_back();
  EXPECT_FALSE(session->evaluate(data, result, error));
  EXPECT_EQ(error, "segment 'eval': expects 3 arguments over all runs, got 2");
  batch.labelAt(0, 3) = -1;
  EXPECT_FALSE(session->evaluate(batch.evaluation(), result, error));
  EXPECT_EQ(error, "argument 'labels': expects values in [0, 1073741824) or -100, got -1 (segment "
                   "'eval', run 0, rank 1, row 1, element 0)");
}

} // namespace
