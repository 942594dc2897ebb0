//===- OptimizerTest.cpp - groups, Lion, and what keys dropout ------------===//

#include "TinySession.h"

#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

/// One row on one rank with label 0, w = 0, b = 4, x = (1, 0, …): out − label = 4, so the gradients
/// are 4 of w[0] and 4 of b.
struct Worked {
  explicit Worked(TinyOptions given) : options(std::move(given)), batch(options) {
    options.rows = 1;
    batch = TinyBatch(options);
    batch.xAt(0, 0, 0) = 1;
  }

  void begin(Program program) {
    std::string error;
    session = Session::create(std::move(program), tinyKernels(options), {}, error);
    ASSERT_TRUE(session) << error;
    std::vector<float> w(kFeatures, 0.0f);
    float b = 4.0f;
    ASSERT_TRUE(session->setParameter("w", w.data(), kFeatures, error)) << error;
    ASSERT_TRUE(session->setParameter("b", &b, 1, error)) << error;
  }

  void step(double lr, int64_t stepsTaken) {
    StepResult result;
    std::string error;
    ASSERT_TRUE(session->step(batch.input(lr, stepsTaken), result, error)) << error;
  }

  float w() { return state(*session, "w", kFeatures)[0]; }
  float b() { return state(*session, "b", 1)[0]; }

  TinyOptions options;
  TinyBatch batch;
  std::unique_ptr<Session> session;
};

TEST(Optimizer, GroupsScaleTheRateAndSayWhatIsDecayed) {
  // Without groups: SGD of 1/8 with decay 1/2 of w alone: w = 0 − 4/8, b = 4 − 4/8.
  // b in group 0, rate halved: 4 − 4/16. In group 1, decayed by 1/4 although slots of rank 1 are
  // not: 4 − (4 + 4/4)/8. In group 2, both: 4 − 2·(4 + 4·0)/8.
  struct Case {
    int32_t group;
    float b;
  };
  for (ElementType type : {ElementType::f32, ElementType::f16})
    for (const Case &c : {Case{-1, 3.5f}, {0, 3.75f}, {1, 3.375f}, {2, 3.0f}})
      for (int64_t stage : {0, 1, 2, 3}) {
        Worked run({.stage = stage,
                    .rows = 1,
                    .optimizer = {.kind = OptimizerKind::Sgd,
                                  .weightDecay = 0.5,
                                  .groups = {{0.5, {}}, {1.0, 0.25}, {2.0, 0.0}}},
                    .type = type});
        Program program = tinyProgram(run.options);
        program.buckets[0].slots[1].group = c.group;
        run.begin(program);
        run.step(0.125, 0);
        EXPECT_EQ(run.w(), -0.5f);
        EXPECT_EQ(run.b(), c.b) << "group " << c.group;
      }
}

TEST(Optimizer, AGroupCanTakeDecayAway) {
  // w = 8 decays by 1/2 of it: with x = 0 its gradient is 0, so w = 8 − (8/2)/8; in a group without
  // decay it stays.
  for (int32_t group : {-1, 0}) {
    Worked run(
        {.optimizer = {.kind = OptimizerKind::Sgd, .weightDecay = 0.5, .groups = {{1.0, 0.0}}}});
    run.batch.xAt(0, 0, 0) = 0;
    Program program = tinyProgram(run.options);
    program.buckets[0].slots[0].group = group;
    run.begin(program);
    std::vector<float> w(kFeatures, 8.0f);
    std::string error;
    ASSERT_TRUE(run.session->setParameter("w", w.data(), kFeatures, error));
    run.step(0.125, 0);
    EXPECT_EQ(run.w(), group == -1 ? 7.5f : 8.0f);
  }
}

TEST(Optimizer, LionStepsByTheSign) {
  // β1 = ½, β2 = ¾, rate 1/8. Step 0: c = ½·0 + ½·4 > 0, b = 4 − 1/8, m = ¾·0 + ¼·4 = 1. With a
  // label of 12 in step 1 the gradient is (w + b − 12) = −1/8 + 31/8 − 12 = −8.25: c = ½ − 4.125 <
  // 0, so b = 4 again and m = ¾ − ¼·8.25 = −1.3125. The other weights have gradient 0 and stay.
  for (ElementType type : {ElementType::f32, ElementType::bf16})
    for (int64_t stage : {0, 1, 2, 3}) {
      Worked run({.stage = stage,
                  .rows = 1,
                  .optimizer = {.kind = OptimizerKind::Lion, .beta1 = 0.5, .beta2 = 0.75},
                  .type = type});
      Program program = tinyProgram(run.options);
      program.buckets[0].state[int(StateKind::Moment2)].present = false;
      run.begin(program);
      run.step(0.125, 0);
      EXPECT_EQ(run.w(), -0.125f);
      EXPECT_EQ(run.b(), 3.875f);
      EXPECT_EQ(state(*run.session, "b", 1, StateKind::Moment1)[0], 1.0f);
      run.batch.labelAt(0, 0) = 12;
      run.step(0.125, 1);
      EXPECT_EQ(run.w(), 0.0f);
      EXPECT_EQ(run.b(), 4.0f);
      // The gradient is stored in the weights' type: −8.25 is exact in bf16.
      EXPECT_EQ(state(*run.session, "b", 1, StateKind::Moment1)[0], -1.3125f);
      EXPECT_EQ(state(*run.session, "w", kFeatures)[1], 0.0f);
    }
}

TEST(Optimizer, N2_DropoutIsKeyedByTheSampleInTheGlobalBatch) {
  // A program that does nothing else: three runs, micro-batches of 5; a kernel copies the cell to a
  // place of each run. With N ranks, rank r begins run a at sample (a·N + r)·5.
  for (int64_t ranks : {1, 2, 3}) {
    Program program;
    program.ranks = ranks;
    program.microBatch = 5;
    program.arenaBytes = program.persistentBytes = 128;
    program.scalars = {{"random", ElementType::i32, 4, 0}};
    program.kernels = {{"copy", KernelKind::Generated, {}, {}, {}, {}, {}, 0}};
    Row random, copy;
    random.opcode = Opcode::SetRandom;
    random.operands = {0};
    copy.kernel = 0;
    copy.operands = {0, 64};
    copy.perRunBytes = {0, 16};
    program.segments = {{"micro_step", SegmentRole::Step, 3, {}, {random, copy}}};
    std::vector<GeneratedKernel> kernels = {
        [](char **operands, int64_t, int64_t) { std::copy_n(operands[0], 16, operands[1]); }};
    std::string error;
    auto session = Session::create(program, kernels, {}, error);
    ASSERT_TRUE(session) << error;
    StepInput input;
    input.data.resize(1);
    input.seed = 0x123456789abcdef0u;
    input.stepsTaken = 70; // seven steps were skipped, and had masks of their own
    input.stepsRun = 77;
    StepResult result;
    ASSERT_TRUE(session->step(input, result, error)) << error;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      auto *words = reinterpret_cast<const uint32_t *>(session->arena(rank) + 64);
      for (int64_t a = 0; a < 3; ++a)
        EXPECT_EQ(std::vector<uint32_t>(words + 4 * a, words + 4 * a + 4),
                  (std::vector<uint32_t>{0x9abcdef0u, 0x12345678u, 77,
                                         uint32_t((a * ranks + rank) * 5)}));
    }
  }
}

} // namespace
