//===- SessionTest.cpp - a tiny model trained at every stage --------------===//

#include "TinySession.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

TEST(Session, N1_AllStagesGiveTheSameBits) {
  for (int64_t ranks : {1, 2, 3, 4})
    for (const OptimizerDesc &optimizer :
         {OptimizerDesc{.kind = OptimizerKind::Sgd}, kMomentum, kAdamW}) {
      TinyOptions options{.ranks = ranks, .stage = 0, .optimizer = optimizer};
      Trace expected = train(options, 5);
      for (int64_t stage : {1, 2, 3})
        for (int64_t chunk : {1, 4, 8, 1000}) {
          options.stage = stage;
          options.chunk = chunk;
          EXPECT_EQ(train(options, 5), expected) << ranks << " ranks, stage " << stage;
        }
    }
}

TEST(Session, N1_MicroStepsAgreeAmongStagesThatReduceAlike) {
  for (int64_t ranks : {2, 3}) {
    TinyOptions options{.ranks = ranks, .microSteps = 3, .optimizer = kAdamW};
    auto at = [&](int64_t stage) {
      options.stage = stage;
      return train(options, 5);
    };
    EXPECT_EQ(at(0), at(1));
    EXPECT_EQ(at(2), at(3));
  }
}

TEST(Session, N1_PoisonAndThreadsChangeNothing) {
  for (int64_t stage : {0, 1, 2, 3}) {
    TinyOptions options{.ranks = 3, .stage = stage, .microSteps = 2, .optimizer = kAdamW};
    Trace expected = train(options, 4);
    EXPECT_EQ(train(options, 4, {.poison = true, .profile = true}), expected) << stage;
    options.threads = 2;
    EXPECT_EQ(train(options, 4), expected) << stage;
  }
}

/// The same training in f64, over the global batch in one piece.
struct Truth {
  double w[kFeatures], b, loss, norm;

  void step(TinyBatch &batch, double lr) {
    const TinyOptions &o = batch.options;
    double dw[kFeatures] = {}, db = 0, count = 0;
    loss = 0;
    for (int64_t a = 0; a < o.microSteps; ++a)
      for (int64_t row = 0; row < o.ranks * o.rows; ++row) {
        if (batch.labelAt(a, row) == kIgnored)
          continue;
        double difference = b - batch.labelAt(a, row);
        for (int64_t i = 0; i < kFeatures; ++i)
          difference += w[i] * double(batch.xAt(a, row, i));
        for (int64_t i = 0; i < kFeatures; ++i)
          dw[i] += difference * double(batch.xAt(a, row, i));
        db += difference;
        loss += 0.5 * difference * difference;
        ++count;
      }
    loss /= count;
    double squares = db * db / (count * count);
    for (int64_t i = 0; i < kFeatures; ++i) {
      w[i] -= lr * dw[i] / count;
      squares += dw[i] * dw[i] / (count * count);
    }
    b -= lr * db / count;
    norm = std::sqrt(squares);
  }
};

TEST(Session, N2_RanksAndMicroStepsTogetherAreOneBatch) {
  // 24 ranks with one row each (some without a label) down to one rank: the mean over all labels.
  for (int64_t ranks : {1, 2, 5, 24})
    for (int64_t stage : {0, 1, 2, 3}) {
      TinyOptions options{.ranks = ranks, .stage = stage, .microSteps = 2, .rows = 1};
      auto session = start(options);
      session->initialize(3);
      Truth truth{};
      std::vector<float> w = state(*session, "w", kFeatures);
      std::copy(w.begin(), w.end(), truth.w);
      truth.b = 0.25; // the constant that b starts from
      EXPECT_EQ(state(*session, "b", 1)[0], 0.25f);
      for (int step = 0; step < 4; ++step) {
        TinyBatch batch(options);
        batch.fill(uint32_t(step));
        batch.labelAt(0, 0) = 3; // at least one label, also at one rank
        StepResult result;
        std::string error;
        ASSERT_TRUE(session->step(batch.input(0.1, step), result, error)) << error;
        truth.step(batch, 0.1);
        EXPECT_NEAR(result.loss, truth.loss, 1e-5 * truth.loss);
        EXPECT_NEAR(result.gradNorm, truth.norm, 1e-5 * truth.norm);
      }
      w = state(*session, "w", kFeatures);
      for (int64_t i = 0; i < kFeatures; ++i)
        EXPECT_NEAR(w[i], truth.w[i], 1e-5);
      EXPECT_NEAR(state(*session, "b", 1)[0], truth.b, 1e-5);
    }
}

TEST(Session, C1_CountsWhatEachStageSends) {
  // Three ranks: length 18, so one gather or reduction sends 18 · 2/3 = 12; two micro-steps.
  struct Case {
    int64_t allReduce, reduceScatter, allGather;
  };
  const Case cases[] = {{24, 0, 0},   // all-reduce once a step, which counts twice
                        {0, 12, 12},  // reduce-scatter in place, gather in place
                        {0, 24, 12},  // reduce-scatter each micro-step
                        {0, 24, 24}}; // and gather each micro-step
  for (int64_t stage = 0; stage <= 3; ++stage) {
    TinyOptions options{.ranks = 3, .stage = stage, .microSteps = 2};
    auto session = start(options);
    session->initialize(0);
    TinyBatch batch(options);
    batch.fill(0);
    for (int step = 0; step < 2; ++step) { // counted per step, not since the start
      StepResult result;
      std::string error;
      ASSERT_TRUE(session->step(batch.input(0.1, step), result, error)) << error;
    }
    for (int64_t rank = 0; rank < 3; ++rank) {
      TrafficCount sent = session->traffic(rank);
      EXPECT_EQ(sent.allReduceElements, cases[stage].allReduce) << stage;
      EXPECT_EQ(sent.reduceScatterElements, cases[stage].reduceScatter) << stage;
      EXPECT_EQ(sent.allGatherElements, cases[stage].allGather) << stage;
      // To two peers: a count, a loss, and, where gradients are summed over ranks, an exact sum.
      int64_t normBytes = stage == 0 ? 0 : int64_t(sizeof(uint64_t)) * 11;
      EXPECT_EQ(sent.controlBytes, 2 * (8 + 8 + normBytes)) << stage;
    }
  }
}

TEST(Session, InitialWeightsDependOnSeedAndNameOnly) {
  TinyOptions options{.ranks = 1, .stage = 0};
  auto first = start(options);
  first->initialize(5);
  std::vector<float> expected = state(*first, "w", kFeatures);
  for (int64_t ranks : {2, 3, 24})
    for (int64_t stage : {0, 1, 2, 3})
      for (bool poison : {false, true}) {
        options = {.ranks = ranks, .stage = stage, .chunk = ranks * 2};
        auto other = start(options, {.poison = poison});
        other->initialize(5);
        EXPECT_EQ(state(*other, "w", kFeatures), expected);
        EXPECT_EQ(state(*other, "w", kFeatures, StateKind::Moment2),
                  std::vector<float>(kFeatures, 0.0f));
      }
  first->initialize(6);
  EXPECT_NE(state(*first, "w", kFeatures), expected);
}

TEST(Session, ParametersGoInAndOutWhole) {
  for (int64_t stage : {0, 1, 3}) {
    auto session = start({.ranks = 3, .stage = stage, .chunk = 3});
    std::vector<float> values = {1, 2, 3, 4, 5};
    std::string error;
    ASSERT_TRUE(session->setParameter("w", values.data(), 5, error));
    EXPECT_EQ(state(*session, "w", 5), values);
    EXPECT_FALSE(session->setParameter("w", values.data(), 4, error));
    EXPECT_EQ(error, "parameter 'w': expects 5 elements, got 4");
    EXPECT_FALSE(session->getParameter("v", values.data(), 5, error));
    EXPECT_EQ(error, "expects the name of a parameter, got 'v'");
    EXPECT_FALSE(session->getParameter("w", values.data(), 5, error, StateKind::Master));
    EXPECT_EQ(error, "parameter 'w': expects a state that it has, got master");
  }
}

TEST(Session, ProfileCountsRunsOfEachRow) {
  TinyOptions options{.ranks = 2, .stage = 3, .microSteps = 3};
  EXPECT_TRUE(start(options)->profile().empty());
  auto session = start(options, {.profile = true});
  session->initialize(0);
  TinyBatch batch(options);
  batch.fill(0);
  StepResult result;
  std::string error;
  for (int step = 0; step < 2; ++step)
    ASSERT_TRUE(session->step(batch.input(0.1, step), result, error)) << error;
  std::vector<RowProfile> rows = session->profile();
  ASSERT_EQ(rows.size(), 7u); // count, set_seed | gather, launch, reduce | norm, update
  EXPECT_EQ(rows[2].label, "all_gather b0");
  EXPECT_EQ(rows[3].label, "regression");
  EXPECT_EQ(rows[3].segment, "micro_step");
  EXPECT_EQ(rows[3].row, 1);
  EXPECT_EQ(rows[3].runs, 6); // 2 steps of 3 micro-steps
  EXPECT_EQ(rows[3].flops, 40);
  EXPECT_EQ(rows[6].label, "update b0");
  EXPECT_EQ(rows[6].runs, 2);
  EXPECT_GT(rows[3].seconds, 0.0);
}

TEST(Session, M1_TheArenaIsAsLargeAsPlanned) {
  TinyOptions options{.ranks = 2, .stage = 2};
  auto session = start(options);
  EXPECT_EQ(session->allocatedArenaBytes(), tinyProgram(options).arenaBytes);
  for (int64_t rank : {0, 1})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(session->arena(rank)) % 64, 0u);
}

} // namespace
