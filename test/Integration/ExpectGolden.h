//===- ExpectGolden.h - an f32 run against its f64 truth ----------------------===//
//
// Tolerances are those of golden/README.md: losses 1e-6, gradient norms 3e-6, final
// weights together 3e-6, all relative to the f64 truth (N3).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_INTEGRATION_EXPECTGOLDEN_H
#define ZERO_TEST_INTEGRATION_EXPECTGOLDEN_H

#include "Cases.h"

#include <cmath>
#include <gtest/gtest.h>

namespace zero::test {

inline void expectGolden(const std::string &name, int64_t ranks, int64_t stage) {
  SCOPED_TRACE(name + " at " + std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
  const GoldenCase &golden = goldenCase(name);
  Outcome outcome = train(golden, {.ranks = ranks, .stage = stage});
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.records.size(), golden.truth.size());
  for (size_t i = 0; i < golden.truth.size(); ++i) {
    const training::StepRecord &record = outcome.records[i];
    const TruthStep &truth = golden.truth[i];
    EXPECT_NEAR(record.loss.value(), truth.loss, 1e-6 * std::abs(truth.loss)) << "step " << i;
    EXPECT_NEAR(record.gradNorm.value(), truth.gradNorm, 3e-6 * truth.gradNorm) << "step " << i;
    EXPECT_NEAR(record.lr, truth.lr, 1e-15) << "step " << i;
  }
  EXPECT_LE(weightDistance(outcome.weights, golden.final), 3e-6);
}

inline void expectGoldenAtAllStages(const std::string &name,
                                    std::initializer_list<int64_t> rankCounts) {
  for (int64_t ranks : rankCounts)
    for (int64_t stage : {0, 1, 2, 3})
      expectGolden(name, ranks, stage);
}

} // namespace zero::test

#endif // ZERO_TEST_INTEGRATION_EXPECTGOLDEN_H
