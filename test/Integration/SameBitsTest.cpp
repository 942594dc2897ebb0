//===- SameBitsTest.cpp - one result at every stage and bucket size (N1) ----===//

#include "ExpectSame.h"

#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

// Smaller than most parameters, a few parameters, and larger than the model.
constexpr int64_t kBucketBytes[] = {64, 4 << 10, 1 << 20, 1 << 30};

// With one micro-step all stages sum the same numbers in the same order.
void expectSameAtAllStages(const std::string &name, int64_t ranks, int64_t steps) {
  const GoldenCase &golden = goldenCase(name);
  Outcome first = train(golden, {.ranks = ranks, .stage = 0, .bucketBytes = 64, .steps = steps});
  ASSERT_EQ(first.error, "");
  for (int64_t stage : {0, 1, 2, 3})
    for (int64_t bytes : kBucketBytes) {
      SCOPED_TRACE(name + ", " + std::to_string(ranks) + " ranks, stage " + std::to_string(stage) +
                   ", buckets of " + std::to_string(bytes));
      expectSame(
          train(golden, {.ranks = ranks, .stage = stage, .bucketBytes = bytes, .steps = steps}),
          first);
    }
}

TEST(SameBits, N1_Gpt2At2Ranks) { expectSameAtAllStages("gpt2", 2, 4); }
TEST(SameBits, N1_Gpt2At3Ranks) { expectSameAtAllStages("gpt2", 3, 4); }
TEST(SameBits, N1_Gpt2At4Ranks) { expectSameAtAllStages("gpt2", 4, 4); }
TEST(SameBits, N1_MlpAtAllRanks) {
  for (int64_t ranks : {2, 3, 4})
    expectSameAtAllStages("mlp", ranks, 50);
}

// With two micro-steps, stages that reduce once a step agree, and those that reduce every
// micro-step.
TEST(SameBits, N1_TwoMicroStepsAgreeInTwoGroups) {
  const GoldenCase &golden = goldenCase("tiny");
  for (int64_t ranks : {2, 3, 6}) {
    SCOPED_TRACE(ranks);
    Outcome once = train(golden, {.ranks = ranks, .stage = 0, .bucketBytes = 64});
    Outcome every = train(golden, {.ranks = ranks, .stage = 3, .bucketBytes = 64});
    for (int64_t bytes : kBucketBytes) {
      for (int64_t stage : {0, 1})
        expectSame(train(golden, {.ranks = ranks, .stage = stage, .bucketBytes = bytes}), once);
      expectSame(
          train(golden, {.ranks = ranks, .stage = 2, .bucketBytes = bytes, .reduceEvery = "step"}),
          once);
      for (int64_t stage : {2, 3})
        expectSame(train(golden, {.ranks = ranks, .stage = stage, .bucketBytes = bytes}), every);
    }
  }
}

TEST(SameBits, N1_TwoRunsOfOneCommand) {
  const GoldenCase &golden = goldenCase("gpt2-accum4");
  Variant run{.ranks = 2, .stage = 3, .steps = 3};
  Outcome first = train(golden, run);
  expectSame(train(golden, run), first);
}

// canonicalize and cse after every pass move no trained bit, nor does reading garbage: poison mode
// fills fresh and freed memory with NaN.
TEST(SameBits, N1_CleanPassesAndPoison) {
  for (const char *name : {"tiny", "mlp", "gpt2"})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(std::string(name) + ", stage " + std::to_string(stage));
      const GoldenCase &golden = goldenCase(name);
      Variant run{.ranks = 3, .stage = stage, .steps = 3};
      Outcome plain = train(golden, run);
      run.clean = true;
      expectSame(train(golden, run), plain);
      run.clean = false;
      run.poison = true;
      expectSame(train(golden, run), plain);
    }
}

// Threads inside a rank share out whole units of a kernel, and change no sum.
TEST(SameBits, N0_ThreadsInsideARank) {
  const GoldenCase &golden = goldenCase("gpt2");
  Outcome one = train(golden, {.ranks = 2, .stage = 3, .steps = 3});
  expectSame(train(golden, {.ranks = 2, .stage = 3, .steps = 3, .threadsPerRank = 2}), one);
}

} // namespace
