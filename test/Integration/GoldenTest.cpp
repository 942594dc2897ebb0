//===- GoldenTest.cpp - the golden runs at every stage and many rank counts --===//
//
// Small models and GPT-2; GoldenModelsTest.cpp has the other families.
//
//===----------------------------------------------------------------------===//

#include "ExpectGolden.h"

using namespace zero;
using namespace zero::test;

namespace {

TEST(Golden, N3_Tiny) { expectGoldenAtAllStages("tiny", {1, 2, 3, 6}); }
// At 24 ranks each has one row, and some have no label.
TEST(Golden, N3_Mlp) { expectGoldenAtAllStages("mlp", {1, 2, 3, 4, 8, 24}); }
TEST(Golden, N3_Gpt2) { expectGoldenAtAllStages("gpt2", {1, 2, 3, 4}); }
TEST(Golden, N3_Gpt2FourMicroSteps) { expectGoldenAtAllStages("gpt2-accum4", {1, 2, 3, 4}); }

// A parameter without a use and a frozen one come back bit by bit.
TEST(Golden, UnusedAndFrozenStayAsTheyWere) {
  const GoldenCase &golden = goldenCase("tiny");
  Outcome before = train(golden, {.ranks = 3, .stage = 3, .steps = 0});
  Outcome after = train(golden, {.ranks = 3, .stage = 3, .steps = 5});
  ASSERT_EQ(after.error, "");
  EXPECT_EQ(after.weights["extra"], before.weights["extra"]);
  EXPECT_EQ(after.weights["ln.b"], before.weights["ln.b"]);
  EXPECT_NE(after.weights["wte"], before.weights["wte"]);
}

// N ranks with a batch of B/N see what one rank with B sees.
TEST(Golden, N2_MlpAtOneAndTwentyFourRanksIsOneCurve) {
  const GoldenCase &golden = goldenCase("mlp");
  Outcome one = train(golden, {.ranks = 1, .stage = 0});
  Outcome many = train(golden, {.ranks = 24, .stage = 3});
  ASSERT_EQ(one.error + many.error, "");
  for (size_t i = 0; i < one.records.size(); ++i)
    EXPECT_NEAR(many.records[i].loss.value(), one.records[i].loss.value(),
                1e-6 * one.records[i].loss.value());
  EXPECT_LE(weightDistance(many.weights, one.weights), 3e-6);
}

} // namespace
