//===- SameBitsPrecisionTest.cpp - 16 bits, whatever the stage (N1) -----------===//
//
// Like f32, training in bf16 and f16 has one result at every stage and bucket size.
//
//===----------------------------------------------------------------------===//

#include "ExpectSame.h"

#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

// Smaller than most parameters, and larger than the model.
constexpr int64_t kBucketBytes[] = {64, 1 << 20};

void expectSameAtAllStages(const std::string &name, Variant run) {
  const GoldenCase &golden = goldenCase(name);
  run.stage = 0;
  run.bucketBytes = 64;
  Outcome first = train(golden, run);
  ASSERT_EQ(first.error, "");
  for (int64_t stage : {0, 1, 2, 3})
    for (int64_t bytes : kBucketBytes) {
      SCOPED_TRACE(name + ", " + std::to_string(run.ranks) + " ranks, stage " +
                   std::to_string(stage) + ", buckets of " + std::to_string(bytes));
      run.stage = stage;
      run.bucketBytes = bytes;
      expectSame(train(golden, run), first);
    }
}

TEST(SameBitsPrecision, N1_BF16) { expectSameAtAllStages("gpt2-bf16", {.ranks = 3, .steps = 4}); }
// Steps 0 to 4 overflow; 5 and 6 are taken.
TEST(SameBitsPrecision, N1_F16WithSkippedSteps) {
  expectSameAtAllStages("gpt2-f16", {.ranks = 3, .steps = 7});
}
// Buckets of bf16 matrices and of f32 norms, interleaved.
TEST(SameBitsPrecision, N1_BF16WithKeptNorms) {
  expectSameAtAllStages("gpt2-bf16", {.ranks = 4, .steps = 3, .keepF32 = "*.ln_*"});
}
// f32 gradients of bf16 weights.
TEST(SameBitsPrecision, N1_BF16WithF32Gradients) {
  expectSameAtAllStages("gpt2-bf16", {.ranks = 3, .steps = 3, .gradDtype = "f32"});
}
TEST(SameBitsPrecision, N1_BF16Sgd) {
  GoldenCase golden = goldenCase("mlp");
  golden.options.compile.optimizer = "sgd";
  golden.options.compile.momentum = 0.9;
  Variant run{.ranks = 3, .stage = 0, .dtype = "bf16"};
  Outcome first = train(golden, run);
  for (int64_t stage : {1, 2, 3}) {
    run.stage = stage;
    expectSame(train(golden, run), first);
  }
}

// With two micro-steps, stages that reduce once a step agree, and those that reduce every
// micro-step: whether gradients accumulate in f32 or in bf16.
TEST(SameBitsPrecision, N1_TwoMicroStepsAgreeInTwoGroups) {
  const GoldenCase &golden = goldenCase("tiny");
  for (const char *gradDtype : {"auto", "bf16"}) {
    SCOPED_TRACE(gradDtype);
    Variant run{.ranks = 3, .stage = 0, .bucketBytes = 64, .dtype = "bf16", .gradDtype = gradDtype};
    Outcome once = train(golden, run);
    run.stage = 3;
    Outcome every = train(golden, run);
    for (int64_t bytes : kBucketBytes) {
      run.bucketBytes = bytes;
      for (int64_t stage : {0, 1, 2, 3}) {
        run.stage = stage;
        expectSame(train(golden, run), stage < 2 ? once : every);
      }
      run.stage = 2;
      run.reduceEvery = "step";
      expectSame(train(golden, run), once);
      run.reduceEvery = "micro-step";
    }
  }
}

// Nothing reads what it should not: NaN everywhere else changes no byte.
TEST(SameBitsPrecision, PoisonedMemory) {
  for (int64_t stage : {0, 3}) {
    const GoldenCase &golden = goldenCase("gpt2-bf16");
    Outcome plain = train(golden, {.ranks = 3, .stage = stage, .steps = 3});
    expectSame(train(golden, {.ranks = 3, .stage = stage, .steps = 3, .poison = true}), plain);
    expectSame(train(golden, {.ranks = 3, .stage = stage, .steps = 3, .clean = true}), plain);
    expectSame(train(golden, {.ranks = 3, .stage = stage, .steps = 3, .threadsPerRank = 2}), plain);
  }
}

} // namespace
