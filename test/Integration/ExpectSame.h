//===- ExpectSame.h - two runs that must agree to the last bit (N1) -----------===//
#ifndef ZERO_TEST_INTEGRATION_EXPECTSAME_H
#define ZERO_TEST_INTEGRATION_EXPECTSAME_H

#include "Cases.h"

#include <gtest/gtest.h>

namespace zero::test {

/// Weights, losses, gradient norms and which steps were skipped.
inline void expectSame(const Outcome &outcome, const Outcome &first) {
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(firstDifference(outcome.weights, first.weights), "");
  ASSERT_EQ(outcome.records.size(), first.records.size());
  for (size_t i = 0; i < first.records.size(); ++i) {
    EXPECT_EQ(outcome.records[i].loss, first.records[i].loss) << "step " << i;
    EXPECT_EQ(outcome.records[i].gradNorm, first.records[i].gradNorm) << "step " << i;
    EXPECT_EQ(outcome.records[i].skipped, first.records[i].skipped) << "step " << i;
  }
}

} // namespace zero::test

#endif // ZERO_TEST_INTEGRATION_EXPECTSAME_H
