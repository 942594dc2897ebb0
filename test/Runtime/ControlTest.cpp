//===- ControlTest.cpp - counts, seeds, norm, clipping --------------------===//

#include "TinyProgram.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

std::unique_ptr<Session> start(const TinyOptions &options) {
  std::string error;
  auto made = Session::create(tinyProgram(options), tinyKernels(), {.poison = true}, error);
  EXPECT_TRUE(made) << error;
  return made;
}

void set(Session &session, const char *name, std::vector<float> values) {
  std::string error;
  ASSERT_TRUE(session.setParameter(name, values.data(), int64_t(values.size()), error)) << error;
}

StepResult step(Session &session, TinyBatch &batch, double lr, double lossScale = 1.0) {
  StepInput input = batch.input(lr, 0);
  input.lossScale = lossScale;
  StepResult result;
  std::string error;
  EXPECT_TRUE(session.step(input, result, error)) << error;
  return result;
}

std::vector<float> seeds(Session &session, int64_t rank) {
  const Scalar *scalar = session.program().findScalar("seed");
  auto *values = reinterpret_cast<float *>(session.arena(rank) + scalar->offset);
  return {values, values + scalar->elements};
}

/// Two ranks, two rows, two micro-steps; labels (· ignored):
///   micro-step 0: rank 0 [1 ·], rank 1 [1 1]   → 3 over ranks
///   micro-step 1: rank 0 [· ·], rank 1 [1 ·]   → 1 over ranks
/// w = b = x = 0, so each labelled row has loss ½ and b's gradient −1.
TinyBatch threeAndOne(const TinyOptions &options) {
  TinyBatch batch(options);
  batch.labels = {1, kIgnored, 1, 1, kIgnored, kIgnored, 1, kIgnored};
  return batch;
}

struct MeanCase {
  LossMean mean;
  bool tokenMean;
  std::vector<float> seeds[2]; // of each rank
  double loss;
};

TEST(Control, N2_TheSeedIsTheLossScaleOverWhatIsAveraged) {
  const MeanCase cases[] = {
      // One mean over all four labels.
      {LossMean::Step, true, {{0.25f}, {0.25f}}, 0.5},
      // Mean over ranks in each micro-step, then of the two: 1/(3·2), 1/(1·2).
      {LossMean::MicroStep, true, {{float(1.0 / 6), 0.5f}, {float(1.0 / 6), 0.5f}}, 0.5},
      // Mean on each rank and micro-step, then of the four: 1/(1·4), none; 1/(2·4), 1/(1·4).
      // Three of the four means are ½: 3/8.
      {LossMean::Rank, true, {{0.25f, 0.0f}, {0.125f, 0.25f}}, 0.375},
      // Not a mean over labels: 1/(N·A), whatever the labels; four rows of ½.
      {LossMean::Step, false, {{0.25f}, {0.25f}}, 0.5},
  };
  for (const MeanCase &c : cases)
    for (int64_t stage : {0, 3}) {
      TinyOptions options{.ranks = 2,
                          .stage = stage,
                          .microSteps = 2,
                          .lossMean = c.mean,
                          .tokenMean = c.tokenMean};
      auto session = start(options);
      set(*session, "w", {0, 0, 0, 0, 0});
      set(*session, "b", {0});
      TinyBatch batch = threeAndOne(options);
      StepResult result = step(*session, batch, 0.0);
      EXPECT_EQ(seeds(*session, 0), c.seeds[0]);
      EXPECT_EQ(seeds(*session, 1), c.seeds[1]);
      EXPECT_NEAR(result.loss, c.loss, 1e-7);
      EXPECT_NEAR(result.gradNorm, 2 * c.loss, 1e-7); // b's gradient: −1 where the loss has ½
      EXPECT_EQ(result.labelCount, 4);
    }
}

TEST(Control, N2_TheLossScaleCancels) {
  TinyOptions options{.ranks = 2, .stage = 3, .microSteps = 2};
  auto session = start(options);
  set(*session, "w", {0, 0, 0, 0, 0});
  set(*session, "b", {0});
  TinyBatch batch = threeAndOne(options);
  StepResult result = step(*session, batch, 1.0, 1024.0);
  EXPECT_EQ(seeds(*session, 0), std::vector<float>{256.0f});
  EXPECT_EQ(result.loss, 0.5);
  EXPECT_EQ(result.gradNorm, 1.0);
  float b;
  std::string error;
  ASSERT_TRUE(session->getParameter("b", &b, 1, error));
  EXPECT_EQ(b, 1.0f); // 0 − 1 · (−1)
}

TEST(Control, N2_AStepWithoutLabelsIsZero) {
  TinyOptions options{.ranks = 2, .stage = 2, .microSteps = 2};
  auto session = start(options);
  set(*session, "w", {1, 2, 3, 4, 5});
  set(*session, "b", {6});
  TinyBatch batch(options);
  batch.labels.assign(8, kIgnored);
  StepResult result = step(*session, batch, 1.0);
  EXPECT_EQ(result.labelCount, 0);
  EXPECT_EQ(result.loss, 0.0);
  EXPECT_EQ(result.gradNorm, 0.0);
  EXPECT_TRUE(result.finite);
  float w[5];
  std::string error;
  ASSERT_TRUE(session->getParameter("w", w, 5, error));
  EXPECT_EQ(std::vector<float>(w, w + 5), (std::vector<float>{1, 2, 3, 4, 5}));
}

TEST(Control, N4_NormAndClipping) {
  // One labelled row in the whole batch, on the last rank: label 0, w = 0, b = 1, x = (2, 4, 2, 0,
  // 0). out − label = 1, so dw = x, db = 1 and the norm is √(4 + 16 + 4 + 1) = 5. Clipped at 2.5,
  // lr 1: w = −x · 2.5 / (5 + 1e-6).
  for (int64_t ranks : {1, 2, 3})
    for (int64_t stage : {0, 1, 2, 3}) {
      TinyOptions options{.ranks = ranks,
                          .stage = stage,
                          .rows = 1,
                          .optimizer = {.kind = OptimizerKind::Sgd, .clip = 2.5}};
      auto session = start(options);
      set(*session, "w", {0, 0, 0, 0, 0});
      set(*session, "b", {1});
      TinyBatch batch(options);
      batch.labels.assign(size_t(ranks), kIgnored);
      batch.labelAt(0, ranks - 1) = 0;
      batch.xAt(0, ranks - 1, 0) = 2;
      batch.xAt(0, ranks - 1, 1) = 4;
      batch.xAt(0, ranks - 1, 2) = 2;
      StepResult result = step(*session, batch, 1.0);
      EXPECT_EQ(result.gradNorm, 5.0);
      EXPECT_EQ(result.loss, 0.5);
      float w[5];
      std::string error;
      ASSERT_TRUE(session->getParameter("w", w, 5, error));
      float factor = float(2.5 / (5.0 + 1e-6));
      EXPECT_EQ(std::vector<float>(w, w + 5),
                (std::vector<float>{-2 * factor, -4 * factor, -2 * factor, 0, 0}));
      const Scalar *norm = session->program().findScalar("norm");
      for (int64_t rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(*reinterpret_cast<double *>(session->arena(rank) + norm->offset), 5.0);
    }
}

TEST(Control, CountAndSeedInsideTheMicroStep) {
  // The count row may also stand in micro_step, with one count that each run writes anew.
  TinyOptions options{.ranks = 2, .stage = 0, .microSteps = 2, .lossMean = LossMean::MicroStep};
  Program program = tinyProgram(options);
  Segment &microStep = program.segments[1];
  Row count = program.segments[0].rows[0], setSeed = program.segments[0].rows[1];
  count.operands[0] = microStep.inputs[1].offset;
  count.perRunBytes = {0, 8};
  setSeed.perRunBytes = {8, 4};
  program.segments[0].rows.clear();
  microStep.rows.insert(microStep.rows.begin(), {count, setSeed});
  std::string error;
  auto session = Session::create(program, tinyKernels(), {.poison = true}, error);
  ASSERT_TRUE(session) << error;
  set(*session, "w", {0, 0, 0, 0, 0});
  set(*session, "b", {0});
  TinyBatch batch = threeAndOne(options);
  StepResult result = step(*session, batch, 0.0);
  EXPECT_EQ(seeds(*session, 1), (std::vector<float>{float(1.0 / 6), 0.5f}));
  EXPECT_EQ(result.labelCount, 4);
  EXPECT_NEAR(result.loss, 0.5, 1e-7);
}

} // namespace
