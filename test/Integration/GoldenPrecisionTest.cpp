//===- GoldenPrecisionTest.cpp - training in bf16 and f16 ---------------------------===//
//
// Losses lie within 0.2 % of PyTorch's own 16-bit runs at every step, and f16 skips
// the same steps at the same loss scales (golden/README.md).
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

void expectGolden(const std::string &name, int64_t ranks, int64_t stage) {
  SCOPED_TRACE(name + " at " + std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
  const GoldenCase &golden = goldenCase(name);
  Outcome outcome = train(golden, {.ranks = ranks, .stage = stage});
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.records.size(), golden.truth.size());
  for (size_t i = 0; i < golden.truth.size(); ++i) {
    const training::StepRecord &record = outcome.records[i];
    const TruthStep &truth = golden.truth[i];
    EXPECT_NEAR(record.loss.value(), truth.loss, 2e-3 * truth.loss) << "step " << i;
    EXPECT_EQ(record.skipped, truth.skipped) << "step " << i;
    EXPECT_EQ(record.lossScale, truth.lossScale) << "step " << i;
    EXPECT_NEAR(record.lr, truth.lr, 1e-15) << "step " << i;
    if (!truth.skipped)
      EXPECT_NEAR(record.gradNorm.value_or(NAN), truth.gradNorm, 1e-2 * truth.gradNorm)
          << "step " << i;
  }
}

void expectGoldenAtAllStages(const std::string &name) {
  for (int64_t ranks : {1, 2, 3, 4})
    for (int64_t stage : {0, 1, 2, 3})
      expectGolden(name, ranks, stage);
}

TEST(GoldenPrecision, N3_Gpt2InBF16) { expectGoldenAtAllStages("gpt2-bf16"); }
TEST(GoldenPrecision, N3_Gpt2InF16) { expectGoldenAtAllStages("gpt2-f16"); }

// A step of 1e-5 is far below half a digit of a bf16 weight of 0.1 (2.4e-4): only masters add such
// steps up, and come where an f32 run comes.
TEST(GoldenPrecision, MastersAddUpSmallSteps) {
  GoldenCase golden = goldenCase("mlp");
  golden.options.schedule.peak = 1e-5;
  // Weights that are not trained have no master.
  auto trained = [&](const Variant &run) {
    Outcome outcome = train(golden, run);
    EXPECT_EQ(outcome.error, "");
    std::erase_if(outcome.weights, [](const auto &entry) {
      return llvm::StringRef(entry.first).starts_with("frozen") || entry.first == "unused";
    });
    return outcome.weights;
  };
  Weights before = trained({.ranks = 2, .stage = 3, .steps = 0});
  Weights after = trained({.ranks = 2, .stage = 3});
  Weights shortAfter = trained({.ranks = 2, .stage = 3, .dtype = "bf16"});
  EXPECT_EQ(firstDifference(trained({.ranks = 2, .stage = 3, .steps = 0, .dtype = "bf16"}), before),
            "");
  double moved = weightDistance(after, before);
  EXPECT_GT(moved, 1e-4);
  EXPECT_LE(weightDistance(shortAfter, after), 0.1 * moved);
}

} // namespace
