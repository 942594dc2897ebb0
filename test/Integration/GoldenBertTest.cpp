//===- GoldenBertTest.cpp - BERT against its truth (N2, N3) -------------------===//
//
// The golden runs at every stage and several rank counts.
//
//===----------------------------------------------------------------------===//

#include "ExpectGolden.h"

using namespace zero;
using namespace zero::test;

namespace {

// N2: the masked labels are spread unevenly over rows, and so over ranks and micro-steps; the truth
// is the one-rank curve.
TEST(GoldenBert, N2_N3_Bert) { expectGoldenAtAllStages("bert", {1, 2, 3, 4}); }
TEST(GoldenBert, N2_N3_BertThreeMicroSteps) {
  expectGoldenAtAllStages("bert-accum3", {1, 2, 3, 4});
}

// All tokens are of type 0, yet the table is trained as a whole: row 1 gets no gradient and decays.
TEST(GoldenBert, TokenTypesThatAreNotUsedDecay) {
  const GoldenCase &golden = goldenCase("bert");
  const std::string name = "bert.embeddings.token_type_embeddings.weight";
  Outcome before = train(golden, {.ranks = 2, .stage = 3, .steps = 0});
  Outcome after = train(golden, {.ranks = 2, .stage = 3, .steps = 1});
  ASSERT_EQ(before.error + after.error, "");
  // The first step of a warm-up over 5 to 3e-3, with decay 0.1: 1 − 6e-4 · 0.1.
  std::vector<float> &row = before.weights[name], &trained = after.weights[name];
  ASSERT_EQ(row.size(), 96u);
  for (size_t i = 48; i < 96; ++i)
    EXPECT_FLOAT_EQ(trained[i], row[i] * (1.0f - 6e-5f));
}

} // namespace
