//===- PoisonTest.cpp - poison shows reads of what nobody wrote -----------===//

#include "TinyProgram.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace zrt;
using namespace zrt::test;

namespace {

/// The result names what lies in the session.
struct OneStep {
  std::unique_ptr<Session> session;
  StepResult result;
};

OneStep runOnce(const Program &program, const TinyOptions &options, bool poison) {
  std::string error;
  auto session = Session::create(program, tinyKernels(), {.poison = poison}, error);
  EXPECT_TRUE(session) << error;
  session->initialize(1);
  TinyBatch batch(options);
  batch.fill(1);
  StepResult result;
  EXPECT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
  return {std::move(session), result};
}

TEST(Poison, AGradientThatIsAddedBeforeItIsWrittenShows) {
  TinyOptions options{.ranks = 2, .stage = 0, .microSteps = 2};
  Program program = tinyProgram(options);
  EXPECT_TRUE(runOnce(program, options, true).result.finite);
  program.segments[1].rows[0].mode = WriteMode::Add; // never written first
  EXPECT_TRUE(runOnce(program, options, false).result.finite);
  OneStep run = runOnce(program, options, true);
  EXPECT_FALSE(run.result.finite);
  EXPECT_EQ(run.result.firstNonFinite, "w");
}

TEST(Poison, AReadAfterFreeShows) {
  TinyOptions options{.ranks = 2, .stage = 3};
  Program program = tinyProgram(options);
  std::vector<Row> &rows = program.segments[1].rows;
  rows[0].frees = rows[1].frees; // the gathered weights, one row too early
  EXPECT_TRUE(runOnce(program, options, false).result.finite);
  EXPECT_FALSE(runOnce(program, options, true).result.finite);
}

TEST(Poison, AnUpdateOfUnreducedPiecesShows) {
  // Stage 1 reduces in place, so a norm over the full gradients reads pieces that others own.
  TinyOptions options{.ranks = 2, .stage = 1};
  Program program = tinyProgram(options);
  EXPECT_TRUE(runOnce(program, options, true).result.finite);
  Row &norm = program.segments[2].rows[1];
  ASSERT_EQ(norm.opcode, Opcode::Norm);
  norm.sumOverRanks = false;
  EXPECT_TRUE(runOnce(program, options, false).result.finite);
  EXPECT_FALSE(runOnce(program, options, true).result.finite);
}

TEST(Poison, PaddingIsPoisonedAndReadByNothing) {
  // Full weights at stage 0: [0, 5) is w, [16, 17) is b, the rest is padding.
  TinyOptions options{.ranks = 2, .stage = 0};
  std::string error;
  auto session = Session::create(tinyProgram(options), tinyKernels(), {.poison = true}, error);
  ASSERT_TRUE(session) << error;
  session->initialize(1);
  TinyBatch batch(options);
  batch.fill(1);
  StepResult result;
  ASSERT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
  EXPECT_TRUE(result.finite);
  auto *weights = reinterpret_cast<float *>(session->arena(0));
  for (int64_t i = 0; i < 18; ++i)
    EXPECT_EQ(std::isnan(weights[i]), !(i < 5 || i == 16)) << i;
}

} // namespace
