//===- LedgerTest.cpp - memory and communication, planned and measured ----===//

#include "Cases.h"

#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

int64_t sum(const Report &report) {
  int64_t bytes = 0;
  for (int64_t kind : report.modelStateBytes)
    bytes += kind;
  return bytes;
}

int64_t bytesOf(const Report &report, zrt::StateKind kind) {
  return report.modelStateBytes[static_cast<size_t>(kind)];
}

// GPT-2 of the golden run: nothing frozen or unused, one micro-step. ⌊·⌋ is taken kind by kind.
TEST(Ledger, M2_StateBytesOfTheStages) {
  for (int64_t ranks : {1, 2, 3, 4})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
      Outcome outcome = train(goldenCase("gpt2"), {.ranks = ranks, .stage = stage, .steps = 0});
      ASSERT_EQ(outcome.error, "");
      const Report &report = outcome.report;
      int64_t full = 4 * report.parameters, shard = 4 * report.parameters / ranks;
      EXPECT_EQ(bytesOf(report, zrt::StateKind::Param), stage >= 3 ? shard : full);
      EXPECT_EQ(bytesOf(report, zrt::StateKind::Grad), stage >= 2 ? shard : full);
      EXPECT_EQ(bytesOf(report, zrt::StateKind::Moment1), stage >= 1 ? shard : full);
      EXPECT_EQ(bytesOf(report, zrt::StateKind::Moment2), stage >= 1 ? shard : full);
      EXPECT_EQ(bytesOf(report, zrt::StateKind::GradAccum), 0);
      EXPECT_EQ(bytesOf(report, zrt::StateKind::Master), 0);
    }
}

// Reported, planned and allocated arena are one number; the peak's rows sum to the lower bound.
TEST(Ledger, M1_ArenaIsReportedPlannedAndAllocated) {
  for (const char *name : {"tiny", "mlp", "gpt2", "gpt2-accum4"})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(std::string(name) + ", stage " + std::to_string(stage));
      std::string error;
      auto trainer = makeTrainer(goldenCase(name), {.ranks = 3, .stage = stage}, error);
      ASSERT_TRUE(trainer) << error;
      const Report &report = trainer->report();
      EXPECT_EQ(report.arenaBytes, trainer->session().program().arenaBytes);
      EXPECT_EQ(report.arenaBytes, trainer->session().allocatedArenaBytes());
      const Report::Peak &peak = report.peak;
      EXPECT_EQ(peak.states, sum(report));
      EXPECT_EQ(peak.states + peak.control + peak.activations + peak.buckets + peak.inputs +
                    peak.workspace + peak.padding,
                report.arenaLowerBoundBytes);
      EXPECT_GE(peak.padding, 0);
      EXPECT_GE(report.arenaBytes, report.arenaLowerBoundBytes);
      EXPECT_LE(report.arenaBytes, report.arenaLowerBoundBytes * 5 / 4);
    }
}

// The states of WALKTHROUGH.md at 3 ranks: 82 trainable, 4 frozen, 6 unused elements, two
// micro-steps.
TEST(Ledger, M2_TinyAsInTheWalkthrough) {
  const int64_t totals[] = {1352, 914, 695, 449};
  for (int64_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    Outcome outcome =
        train(goldenCase("tiny"), {.ranks = 3, .stage = stage, .bucketBytes = 64, .steps = 0});
    ASSERT_EQ(outcome.error, "");
    const Report &report = outcome.report;
    EXPECT_EQ(report.parameters, 82);
    EXPECT_EQ(report.frozenParameters, 4);
    EXPECT_EQ(report.unusedParameters, 6);
    // The table's figures are of the sum, the report's of each kind: at most 3 bytes below.
    EXPECT_LE(sum(report), totals[stage]);
    EXPECT_GE(sum(report), totals[stage] - 3);
    EXPECT_EQ(bytesOf(report, zrt::StateKind::Grad), 0);
    // Real elements over the ranks: 82·4 ÷ 3 = 109⅓, and 92·4 ÷ 3 = 122⅔ with frozen and unused.
    EXPECT_EQ(bytesOf(report, zrt::StateKind::Param), stage == 3 ? 122 : 368);
    EXPECT_EQ(bytesOf(report, zrt::StateKind::GradAccum), stage >= 2 ? 109 : 328);
    EXPECT_EQ(bytesOf(report, zrt::StateKind::Moment1), stage >= 1 ? 109 : 328);
  }
}

// Lengths with padding at 3 ranks: b0…b5 hold 21, 6, 24, 6, 24, 6 = 87 elements, f0 6.
TEST(Ledger, C1_TinyAsInTheWalkthrough) {
  struct Sent {
    int64_t allGather, reduceScatter, allReduce;
  };
  // Stage 0: an all-reduce of 87 counts twice: 2·87·2/3 = 116. Stage 1: 87·2/3 = 58 each way. Stage
  // 2 reduces both micro-steps. Stage 3 gathers, a micro-step, b0 twice (28), b1 twice (8), f0 once
  // (4), b2 twice (32), b3 once (4), b4 twice (32), b5 once (4) = 112.
  const Sent expected[] = {{0, 0, 116}, {58, 58, 0}, {58, 116, 0}, {224, 116, 0}};
  for (int64_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    std::string error;
    auto trainer =
        makeTrainer(goldenCase("tiny"), {.ranks = 3, .stage = stage, .bucketBytes = 64}, error);
    ASSERT_TRUE(trainer) << error;
    const Report::Communication &plan = trainer->report().communication;
    EXPECT_EQ(plan.allGather, expected[stage].allGather);
    EXPECT_EQ(plan.reduceScatter, expected[stage].reduceScatter);
    EXPECT_EQ(plan.allReduce, expected[stage].allReduce);
    ASSERT_FALSE(llvm::errorToBool(trainer->step().takeError()));
    for (int64_t rank = 0; rank < 3; ++rank) {
      zrt::TrafficCount sent = trainer->session().traffic(rank);
      EXPECT_EQ(sent.allGatherElements, expected[stage].allGather);
      EXPECT_EQ(sent.reduceScatterElements, expected[stage].reduceScatter);
      EXPECT_EQ(sent.allReduceElements, expected[stage].allReduce);
    }
  }
}

// The formulas of a model with nothing frozen or tied, Ψ with padding, A = 4 micro-steps, N ranks:
// stages 0 and 1 send 2Ψ, stage 2 (A+1)Ψ, stage 3 at most 3AΨ, each times (N−1)/N.
TEST(Ledger, C1_Formulas) {
  const GoldenCase &golden = goldenCase("gpt2-accum4");
  for (int64_t ranks : {2, 3, 4})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stage " + std::to_string(stage));
      std::string error;
      auto trainer = makeTrainer(golden, {.ranks = ranks, .stage = stage}, error);
      ASSERT_TRUE(trainer) << error;
      int64_t elements = 0, largest = 0;
      for (const zrt::Bucket &bucket : trainer->session().program().buckets) {
        elements += bucket.lengthElements;
        largest = std::max(largest, bucket.lengthElements);
      }
      int64_t unit = elements / ranks * (ranks - 1),
              total = trainer->report().communication.total();
      if (stage <= 1)
        EXPECT_EQ(total, 2 * unit);
      else if (stage == 2)
        EXPECT_EQ(total, 5 * unit);
      else
        // The tied embedding adds at most one region of use; what backward doesn't read is left
        // out.
        EXPECT_TRUE(total > 2 * 4 * unit && total <= 3 * 4 * unit + 4 * largest) << total;
    }
}

// Every trainable bucket is reduced once a step, or once a micro-step; the others never.
TEST(Ledger, S4_EveryGradientIsReducedOnce) {
  for (int64_t stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(stage);
    std::string error;
    auto trainer =
        makeTrainer(goldenCase("tiny"), {.ranks = 3, .stage = stage, .bucketBytes = 64}, error);
    ASSERT_TRUE(trainer) << error;
    const zrt::Program &program = trainer->session().program();
    std::vector<int64_t> reductions(program.buckets.size());
    for (const zrt::Segment &segment : program.segments)
      for (const zrt::Row &row : segment.rows)
        if (row.opcode == zrt::Opcode::ReduceScatter || row.opcode == zrt::Opcode::AllReduce)
          reductions[static_cast<size_t>(row.bucket)] += segment.times;
    for (size_t b = 0; b < reductions.size(); ++b) {
      bool trainable = program.buckets[b].bucketClass == zrt::BucketClass::Trainable;
      EXPECT_EQ(reductions[b], trainable ? (stage >= 2 ? 2 : 1) : 0) << program.buckets[b].name;
    }
  }
}

// Twice the layers: the same gather and reduce buffers.
TEST(Ledger, M4_BucketBytesDoNotGrowWithDepth) {
  auto bucketBytes = [](int layers) -> int64_t {
    std::string text;
    for (int i = 0; i < layers; ++i)
      text += "nn.param @w" + std::to_string(i) + " : tensor<16x16xf32> init normal(0.1)\n";
    text += "func.func @loss(%x: tensor<4x16xf32>, %labels: tensor<4xi32>) -> tensor<f32> {\n";
    std::string h = "%x";
    for (int i = 0; i < layers; ++i) {
      std::string n = std::to_string(i);
      text += "%p" + n + " = nn.read @w" + n + " : tensor<16x16xf32>\n%u" + n + " = nn.linear " +
              h + ", %p" + n + " : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>\n%h" +
              n + " = nn.gelu tanh %u" + n + " : tensor<4x16xf32>\n";
      h = "%h" + n;
    }
    text += "%l = nn.cross_entropy " + h +
            ", %labels ignoring -100 : (tensor<4x16xf32>, tensor<4xi32>) -> tensor<f32>\n"
            "return %l : tensor<f32>\n}\n";
    auto module = parseModel(text);
    if (!module) {
      ADD_FAILURE() << llvm::toString(module.takeError());
      return -1;
    }
    TrainOptions options;
    options.compile.ranks = 2;
    options.compile.stage = 3;
    options.compile.bucketBytes = 1024;
    auto report = planModule(sharedCompiler(), **module, options);
    if (!report) {
      ADD_FAILURE() << llvm::toString(report.takeError());
      return -1;
    }
    return report->bucketBytes;
  };
  int64_t eight = bucketBytes(8);
  EXPECT_GT(eight, 0);
  EXPECT_EQ(bucketBytes(16), eight);
}

// M3: a budget one byte short is refused with the peak's holders, the exact arena is not.
TEST(Ledger, M3_BudgetDecidesBeforeAnythingRuns) {
  const GoldenCase &golden = goldenCase("tiny");
  TrainOptions options = golden.options;
  options.compile.ranks = 3;
  options.compile.stage = 3;
  options.compile.microBatch = 2;
  auto plan = [&] {
    auto module = readModel(sharedCompiler(), golden.model(3));
    return planModule(sharedCompiler(), **module, options);
  };
  auto free = plan();
  ASSERT_TRUE(bool(free));
  options.memoryBudget = free->arenaBytes;
  auto exact = plan();
  EXPECT_TRUE(bool(exact)) << llvm::toString(exact.takeError());
  options.memoryBudget = free->arenaBytes - 1;
  auto missing = plan();
  ASSERT_FALSE(bool(missing));
  std::string text = llvm::toString(missing.takeError());
  EXPECT_NE(text.find("1 bytes are missing"), std::string::npos) << text;
  EXPECT_NE(text.find("its largest holders are"), std::string::npos) << text;
}

} // namespace
