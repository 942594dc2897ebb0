//===- HalfSessionTest.cpp - training in 16 bits ---------------------------===//

#include "TinySession.h"
#include "zero/Runtime/HalfFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace zrt;
using namespace zrt::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr ElementType kHalves[] = {ElementType::bf16, ElementType::f16};

/// With gradients of the weights' type, and of f32.
std::vector<TinyOptions> kindsOf16Bits() {
  std::vector<TinyOptions> list;
  for (ElementType type : kHalves)
    for (ElementType gradType : {type, ElementType::f32})
      list.push_back({.type = type, .gradType = gradType});
  return list;
}

std::string text(const TinyOptions &o) {
  return std::string(name(o.type)) + " with gradients in " + std::string(name(o.gradientType())) +
         ", " + std::to_string(o.ranks) + " ranks, stage " + std::to_string(o.stage);
}

std::vector<float> widened(ElementType type, const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / size_t(elementBytes(type)));
  toFloats(type, bytes.data(), int64_t(values.size()), values.data());
  return values;
}

std::vector<float> rounded(ElementType type, std::vector<float> values) {
  std::vector<uint16_t> bits(values.size());
  fromFloats(type, values.data(), int64_t(values.size()), bits.data());
  toFloats(type, bits.data(), int64_t(values.size()), values.data());
  return values;
}

TEST(HalfSession, N1_AllStagesGiveTheSameBits) {
  for (TinyOptions options : kindsOf16Bits())
    for (int64_t ranks : {1, 2, 3, 4})
      for (const OptimizerDesc &optimizer : {kMomentum, kAdamW}) {
        options.ranks = ranks;
        options.optimizer = optimizer;
        options.stage = 0;
        Trace expected = train(options, 5);
        for (int64_t stage : {1, 2, 3})
          for (int64_t chunk : {1, 8, 1000}) {
            options.stage = stage;
            options.chunk = chunk;
            EXPECT_EQ(train(options, 5), expected) << text(options);
          }
      }
}

TEST(HalfSession, N1_MicroStepsAgreeAmongStagesThatReduceAlike) {
  // Three micro-steps added up in 16 bits, and in f32.
  for (TinyOptions options : kindsOf16Bits())
    for (int64_t ranks : {1, 2, 3, 4}) {
      options.ranks = ranks;
      options.microSteps = 3;
      options.optimizer = kAdamW;
      auto at = [&](int64_t stage) {
        options.stage = stage;
        return train(options, 5);
      };
      EXPECT_EQ(at(0), at(1)) << text(options);
      EXPECT_EQ(at(2), at(3)) << text(options);
    }
}

TEST(HalfSession, N1_PoisonAndThreadsChangeNothing) {
  for (TinyOptions options : kindsOf16Bits())
    for (int64_t stage : {0, 1, 2, 3}) {
      options.ranks = 3;
      options.stage = stage;
      options.microSteps = 2;
      options.optimizer = kAdamW;
      Trace expected = train(options, 4);
      EXPECT_EQ(train(options, 4, {.poison = true, .profile = true}), expected) << text(options);
      options.threads = 2;
      EXPECT_EQ(train(options, 4), expected) << text(options);
    }
}

TEST(HalfSession, WeightsAreTheRoundedMasters) {
  for (TinyOptions options : kindsOf16Bits())
    for (int64_t stage : {0, 1, 2, 3}) {
      options.ranks = 2;
      options.stage = stage;
      auto session = start(options);
      session->initialize(4);
      auto expectRounded = [&] {
        std::vector<float> masters = state(*session, "w", kFeatures, StateKind::Master);
        EXPECT_EQ(state(*session, "w", kFeatures), masters);
        EXPECT_EQ(widened(options.type, stored(*session, "w", StateKind::Param)),
                  rounded(options.type, masters))
            << text(options);
        EXPECT_NE(rounded(options.type, masters), masters); // else the test would show nothing
      };
      // The masters start as the weights of an f32 model do.
      auto f32 = start({.ranks = 2, .stage = stage});
      f32->initialize(4);
      EXPECT_EQ(state(*session, "w", kFeatures), state(*f32, "w", kFeatures));
      expectRounded();
      TinyBatch batch(options);
      batch.fill(1);
      StepResult result;
      std::string error;
      ASSERT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
      expectRounded();
    }
}

TEST(HalfSession, MastersKeepWhatTheWeightsCannotHold) {
  // w = 0, b = 1, one row with label 0: the gradient of b is b, 1 in bf16 as long as b rounds to 1.
  // Each step takes 2^-10, and bf16 steps by 2^-8 below 1 (ties at 2^-9): after three steps the
  // master is 1 − 3·2^-10, beyond the tie, and the weight is 1 − 2^-8. Without a master, b would
  // stay 1 for ever.
  for (int64_t stage : {0, 1, 2, 3}) {
    TinyOptions options{.ranks = 1, .stage = stage, .rows = 1, .type = ElementType::bf16};
    auto session = start(options);
    std::string error;
    std::vector<float> zeros(kFeatures, 0.0f);
    float one = 1.0f;
    ASSERT_TRUE(session->setParameter("w", zeros.data(), kFeatures, error)) << error;
    ASSERT_TRUE(session->setParameter("b", &one, 1, error)) << error;
    TinyBatch batch(options);
    const float weights[] = {1.0f, 1.0f, 1.0f - 0x1p-8f};
    for (int step = 0; step < 3; ++step) {
      StepResult result;
      ASSERT_TRUE(session->step(batch.input(0x1p-10, step), result, error)) << error;
      EXPECT_EQ(result.gradNorm, 1.0);
      EXPECT_EQ(state(*session, "b", 1)[0], 1.0f - float(step + 1) * 0x1p-10f);
      EXPECT_EQ(widened(options.type, stored(*session, "b", StateKind::Param))[0], weights[step]);
    }
  }
}

TEST(HalfSession, GradientsAddInTheirOwnType) {
  // w = 0, x = 0, one row a micro-step with label −label: the gradient of b is seed·(b + label),
  // with b = 0 and seed 1 (not a mean over labels: 1 / A times a loss scale of A = 3). Over 256, 1,
  // 1: in bf16, which steps by 2 there, (256 + 1) + 1 = 256 (ties to even); in f32, 258.
  struct Case {
    std::optional<ElementType> gradType;
    int64_t stage;
    float gradient;
  };
  const Case cases[] = {{{}, 0, 256.0f},
                        {{}, 3, 256.0f},
                        {ElementType::f32, 0, 258.0f},
                        {ElementType::f32, 3, 258.0f}};
  for (const Case &c : cases) {
    TinyOptions options{.ranks = 1,
                        .stage = c.stage,
                        .microSteps = 3,
                        .rows = 1,
                        .tokenMean = false,
                        .type = ElementType::bf16,
                        .gradType = c.gradType};
    auto session = start(options, {.poison = true});
    std::string error;
    std::vector<float> zeros(kFeatures, 0.0f);
    ASSERT_TRUE(session->setParameter("w", zeros.data(), kFeatures, error)) << error;
    ASSERT_TRUE(session->setParameter("b", zeros.data(), 1, error)) << error;
    TinyBatch batch(options);
    const int32_t differences[] = {256, 1, 1};
    for (int64_t a = 0; a < 3; ++a) {
      batch.labelAt(a, 0) = differences[a];
    }
    StepInput input = batch.input(0.0, 0);
    input.lossScale = 3.0;
    StepResult result;
    ASSERT_TRUE(session->step(input, result, error)) << error;
    EXPECT_EQ(state(*session, "b", 1, StateKind::GradAccum)[0], -c.gradient) << c.stage;
    EXPECT_EQ(result.gradNorm, double(c.gradient) / 3.0);
  }
}

TEST(HalfSession, F1_WhatIsNotFiniteStaysSoAndChangesNoByte) {
  // Micro-step 0 of 3 gives rank 1 an infinite gradient of w; what follows is finite and must not
  // hide it. Then the same session goes on as one that never met it.
  for (TinyOptions options : kindsOf16Bits())
    for (int64_t ranks : {2, 3})
      for (int64_t stage : {0, 1, 2, 3}) {
        options.ranks = ranks;
        options.stage = stage;
        options.microSteps = 3;
        options.optimizer = kAdamW;
        auto session = start(options), other = start(options);
        TinyBatch batch(options), bad(options);
        batch.fill(1);
        bad.fill(2);
        bad.labelAt(0, options.rows) = 1;
        bad.xAt(0, options.rows, 3) = kInf;
        StepResult result;
        std::string error;
        for (Session *s : {session.get(), other.get()}) {
          s->initialize(1);
          ASSERT_TRUE(s->step(batch.input(0.1, 0), result, error)) << error;
          EXPECT_TRUE(result.finite);
        }
        std::vector<char> before = everyByte(*session);
        ASSERT_TRUE(session->step(bad.input(0.1, 1), result, error)) << error;
        EXPECT_FALSE(result.finite) << text(options);
        EXPECT_EQ(result.firstNonFinite, "w");
        EXPECT_EQ(everyByte(*session), before) << text(options);

        for (Session *s : {session.get(), other.get()}) {
          ASSERT_TRUE(s->step(batch.input(0.1, 1), result, error)) << error;
          EXPECT_TRUE(result.finite);
        }
        EXPECT_EQ(everyByte(*session), everyByte(*other)) << text(options);
        EXPECT_NE(everyByte(*session), before);
      }
}

TEST(HalfSession, F16OverflowsWhereTheLossScaleIsTooLarge) {
  // The gradient of b is 2 (w = 0, b = 2, label 0): scaled by 2^14 it is 32768, by 2^15 it is
  // beyond 65504. Overflow skips the step, also with the finite loss ½·4·2^15 in f32; below it the
  // scale cancels to the bit.
  for (int64_t stage : {0, 3}) {
    TinyOptions options{.ranks = 1, .stage = stage, .rows = 1, .type = ElementType::f16};
    for (double scale : {1.0, 0x1p14, 0x1p15}) {
      auto session = start(options);
      std::string error;
      std::vector<float> zeros(kFeatures, 0.0f);
      float two = 2.0f;
      ASSERT_TRUE(session->setParameter("w", zeros.data(), kFeatures, error)) << error;
      ASSERT_TRUE(session->setParameter("b", &two, 1, error)) << error;
      TinyBatch batch(options);
      StepInput input = batch.input(0.25, 0);
      input.lossScale = scale;
      StepResult result;
      ASSERT_TRUE(session->step(input, result, error)) << error;
      EXPECT_EQ(result.loss, 2.0);
      EXPECT_EQ(result.finite, scale < 0x1p15);
      EXPECT_EQ(result.firstNonFinite, result.finite ? "" : "b");
      EXPECT_EQ(state(*session, "b", 1)[0], result.finite ? 1.5f : 2.0f); // 2 − ¼·2
    }
  }
}

TEST(HalfSession, N1_APowerOfTwoAsLossScaleChangesNoWeight) {
  // bf16 has the exponents of f32, so that scaling is exact everywhere.
  for (int64_t stage : {0, 3}) {
    TinyOptions options{.ranks = 3,
                        .stage = stage,
                        .microSteps = 2,
                        .optimizer = kAdamW,
                        .type = ElementType::bf16};
    Trace plain = train(options, 4), scaled = train(options, 4, {}, 0x1p16);
    EXPECT_EQ(scaled, plain);
  }
}

} // namespace
