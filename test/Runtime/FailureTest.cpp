//===- FailureTest.cpp - bad batches, bad numbers, bad kernels ------------===//

#include "TinyProgram.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace zrt;
using namespace zrt::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr TinyOptions kOptions{.ranks = 3, .stage = 3, .microSteps = 2};

std::unique_ptr<Session> start(const TinyOptions &options, SessionOptions session = {}) {
  std::string error;
  auto made = Session::create(tinyProgram(options), tinyKernels(), session, error);
  EXPECT_TRUE(made) << error;
  made->initialize(1);
  return made;
}

std::vector<float> parameters(const Session &session, StateKind kind = StateKind::Param) {
  std::vector<float> values(6);
  std::string error;
  EXPECT_TRUE(session.getParameter("w", values.data(), 5, error, kind)) << error;
  EXPECT_TRUE(session.getParameter("b", values.data() + 5, 1, error, kind)) << error;
  return values;
}

TEST(Failure, F1_ALabelOutOfRangeIsNamedBeforeAnythingChanges) {
  auto session = start(kOptions);
  std::vector<float> before = parameters(*session);
  TinyBatch batch(kOptions);
  batch.fill(1);
  batch.labelAt(1, 3) = -7; // micro-step 1, global row 3: rank 1, row 1
  StepResult result;
  std::string error;
  EXPECT_FALSE(session->step(batch.input(0.1, 0), result, error));
  EXPECT_EQ(error, "argument 'labels': expects values in [0, 1073741824) or -100, got -7 (segment "
                   "'micro_step', run 1, rank 1, row 1, element 0)");
  EXPECT_EQ(parameters(*session), before);
  batch.labelAt(1, 3) = 2; // and the session goes on
  EXPECT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
}

TEST(Failure, F1_StepArguments) {
  auto session = start(kOptions);
  TinyBatch batch(kOptions);
  batch.fill(1);
  StepResult result;
  std::string error;
  auto rejected = [&](auto change) {
    StepInput input = batch.input(0.1, 0);
    change(input);
    return session->step(input, result, error) ? std::string("accepted") : error;
  };
  EXPECT_EQ(rejected([](StepInput &input) { input.data.pop_back(); }),
            "expects arguments for 3 segments, got 2");
  EXPECT_EQ(rejected([](StepInput &input) { input.data[1].pop_back(); }),
            "segment 'micro_step': expects 6 arguments over all runs, got 5");
  EXPECT_EQ(rejected([](StepInput &input) { input.data[1][3] = nullptr; }),
            "argument 'x' of segment 'micro_step': expects data, got a null pointer");
  EXPECT_NE(rejected([](StepInput &input) { input.lossScale = 0; }).find("a positive loss scale"),
            std::string::npos);
  EXPECT_NE(rejected([](StepInput &input) { input.lr = kInf; }).find("a finite learning rate"),
            std::string::npos);
  EXPECT_EQ(rejected([](StepInput &input) { input.stepsTaken = -1; }),
            "expects the number of steps taken and run, got -1");
  EXPECT_EQ(rejected([](StepInput &input) { input.stepsRun = -1; }),
            "expects the number of steps taken and run, got -1");
}

TEST(Failure, F1_ANonFiniteGradientSkipsTheStepOnAllRanks) {
  // x = inf in one row of rank 2 makes dw not finite there; every rank must leave its part alone.
  for (int64_t stage : {0, 1, 2, 3}) {
    TinyOptions options{
        .ranks = 3, .stage = stage, .microSteps = 2, .optimizer = {.kind = OptimizerKind::AdamW}};
    auto session = start(options);
    TinyBatch batch(options);
    batch.fill(1);
    StepResult result;
    std::string error;
    ASSERT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
    std::vector<float> before = parameters(*session),
                       moments = parameters(*session, StateKind::Moment1);

    TinyBatch bad = batch;
    bad.labelAt(1, 5) = 1;
    bad.xAt(1, 5, 4) = kInf;
    ASSERT_TRUE(session->step(bad.input(0.1, 1), result, error)) << error;
    EXPECT_FALSE(result.finite);
    EXPECT_EQ(result.firstNonFinite, "w");
    EXPECT_FALSE(std::isfinite(result.gradNorm));
    EXPECT_EQ(parameters(*session), before);
    EXPECT_EQ(parameters(*session, StateKind::Moment1), moments);

    ASSERT_TRUE(session->step(batch.input(0.1, 1), result, error)) << error;
    EXPECT_TRUE(result.finite);
    EXPECT_EQ(result.firstNonFinite, "");
    EXPECT_NE(parameters(*session), before);
  }
}

TEST(Failure, F1_TheFirstParameterInOrderIsNamed) {
  // b = inf makes every difference infinite, so neither dw nor db is finite: w comes first in b0.
  auto session = start(kOptions);
  std::string error;
  ASSERT_TRUE(session->setParameter("b", &kInf, 1, error));
  TinyBatch batch(kOptions);
  batch.fill(1);
  StepResult result;
  ASSERT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
  EXPECT_FALSE(result.finite);
  EXPECT_EQ(result.firstNonFinite, "w");
}

TEST(Failure, F1_ALossThatOverflowsIsNamed) {
  // b = 3e19: the loss ½·9e38 is beyond f32, the gradient 3e19 is not.
  for (int64_t stage : {0, 3}) {
    TinyOptions options{.ranks = 2, .stage = stage, .rows = 1};
    auto session = start(options);
    std::string error;
    float large = 3e19f;
    ASSERT_TRUE(session->setParameter("b", &large, 1, error));
    std::vector<float> before = parameters(*session);
    TinyBatch batch(options); // x and labels are 0
    StepResult result;
    ASSERT_TRUE(session->step(batch.input(0.1, 0), result, error)) << error;
    EXPECT_FALSE(result.finite);
    EXPECT_EQ(result.firstNonFinite, "loss");
    EXPECT_TRUE(std::isfinite(result.gradNorm));
    EXPECT_EQ(parameters(*session), before);
  }
}

TEST(Failure, CreateRefusesWhatCannotRun) {
  std::string error;
  auto refused = [&](auto change, size_t kernels = 2) {
    Program program = tinyProgram(kOptions);
    change(program);
    std::vector<GeneratedKernel> given = tinyKernels();
    given.resize(kernels);
    return Session::create(program, given, {}, error) ? std::string("accepted") : error;
  };
  EXPECT_NE(refused([](Program &p) { p.stage = 7; }).find("stage 0, 1, 2 or 3, got 7"),
            std::string::npos);
  EXPECT_EQ(refused([](Program &) {}, 1),
            "kernel 'regression': expects one of 1 generated kernels");
  EXPECT_EQ(refused([](Program &p) { p = tinyProgram({.ranks = 2000}); }),
            "expects at most 1024 ranks in one process, got 2000");
  EXPECT_EQ(refused([](Program &p) { p.arenaBytes = INT64_MAX - 64; }),
            "rank 0: expects 9223372036854775743 bytes for its arena, got no memory");
}

TEST(Failure, F2_ARankThatWritesBeyondItsArenaEndsTheSession) {
  // The kernel's operand lies at the arena's end. Only the rank whose input says so writes there.
  Program program;
  program.ranks = 4;
  program.arenaBytes = program.persistentBytes = 64;
  program.kernels = {{"stray", KernelKind::Generated, {}, {}, {}, {}, {}, 0}};
  Row row;
  row.kernel = 0;
  row.operands = {0, 64};
  program.segments = {
      {"eval", SegmentRole::Step, 1, {{"flag", ElementType::i32, {1}, 0, {}, {}}}, {row}}};
  std::vector<GeneratedKernel> kernels = {[](char **operands, int64_t, int64_t) {
    if (*reinterpret_cast<int32_t *>(operands[0]))
      operands[1][0] = 1;
  }};
  std::string error;
  auto session = Session::create(program, kernels, {.poison = true}, error);
  ASSERT_TRUE(session) << error;
  StepResult result;
  StepInput input;
  int32_t quiet[4] = {0, 0, 0, 0}, stray[4] = {0, 0, 1, 0};
  input.data = {{quiet}};
  EXPECT_TRUE(session->step(input, result, error)) << error;
  input.data = {{stray}};
  EXPECT_FALSE(session->step(input, result, error));
  EXPECT_EQ(error, "rank 2: expects writes within the arena, got one behind its end");
  input.data = {{quiet}};
  EXPECT_FALSE(session->step(input, result, error)); // it stays ended
  EXPECT_EQ(error, "rank 2: expects writes within the arena, got one behind its end");
}

} // namespace
