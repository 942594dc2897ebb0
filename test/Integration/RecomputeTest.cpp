//===- RecomputeTest.cpp - what runs again, and what it saves (N1, C1) ----===//
//
// Recomputation moves no trained bit, whatever is kept, and a layer less kept is a
// layer less held.
//
//===----------------------------------------------------------------------===//

#include "ExpectSame.h"
#include "RecomputeModels.h"

#include "zero/Passes/Recompute.h"
#include "zero/Passes/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

using namespace zero;
using namespace zero::test;

namespace {

// Every policy at every stage, read through poison and through canonicalize and cse after every
// pass, which must not merge what runs again with what ran. The trainer holds the traffic of a step
// against the plan (C1).
void expectSameByAllPolicies(const char *name, const std::string &dtype) {
  const GoldenCase &golden = goldenCase(name);
  for (int64_t stage : {0, 1, 2, 3}) {
    Variant run{.ranks = 2, .stage = stage, .steps = 3, .dtype = dtype};
    Outcome kept = train(golden, run);
    ASSERT_EQ(kept.error, "");
    EXPECT_EQ(kept.report.recomputedLaunches, 0);
    EXPECT_EQ(kept.report.flopsRatio(), 1.0);
    for (const char *policy : kPolicies) {
      SCOPED_TRACE(std::string(name) + " " + dtype + ", stage " + std::to_string(stage) + ", " +
                   policy);
      run.recompute = policy;
      run.poison = run.clean = false;
      Outcome again = train(golden, run);
      expectSame(again, kept);
      EXPECT_GT(again.report.recomputedLaunches, 0);
      EXPECT_LT(again.report.activationBytes, kept.report.activationBytes);
      run.clean = true;
      Outcome cleaned = train(golden, run);
      expectSame(cleaned, kept);
      EXPECT_EQ(cleaned.report.recomputedLaunches, again.report.recomputedLaunches);
      run.clean = false;
      run.poison = true;
      expectSame(train(golden, run), kept);
    }
  }
}

TEST(Recompute, N1_Gpt2) { expectSameByAllPolicies("gpt2", "f32"); }
TEST(Recompute, N1_Gpt2InBf16) { expectSameByAllPolicies("gpt2", "bf16"); }

// Backward of a layer reads its input (4 · 16 values of 4 bytes), u and g (4 · 64 each): 256 + 1024
// + 1024 bytes more a layer. Where layers run again, their inputs stay: 256 bytes. A minimum cut
// keeps input and u, and makes g of u again: 1280 bytes.
TEST(Recompute, ActivationBytesOfALayer) {
  for (auto [policy, bytes] :
       {std::pair("none", 2304), std::pair("every-block", 256), std::pair("min-cut", 1280)})
    for (int64_t stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(std::string(policy) + ", stage " + std::to_string(stage));
      int64_t four = plan(deepModel(4), policy, stage).activationBytes;
      EXPECT_EQ(plan(deepModel(12), policy, stage).activationBytes - four, 8 * bytes);
    }
}

// A layer forward: two products of 2 · 4 · 16 · 64 operations. Repeated are the first product and
// gelu of each layer, as the second's result is the next layer's input.
TEST(Recompute, RepeatedOperationsOfALayer) {
  Report kept = plan(deepModel(6), "none", 0), again = plan(deepModel(6), "every-block", 0);
  EXPECT_EQ(again.recomputedLaunches, 2 * 6);
  EXPECT_GE(again.recomputedFlops, 6 * (2 * 4 * 16 * 64 + 4 * 64));
  EXPECT_LT(again.recomputedFlops, 6 * 2 * (2 * 4 * 16 * 64));
  EXPECT_EQ(again.flops - again.recomputedFlops, kept.flops);
  Report cheap = plan(deepModel(6), "min-cut", 0);
  EXPECT_EQ(cheap.recomputedLaunches, 6); // gelu
}

// gelu runs twice in forward, and the product that reads its second run is repeated in backward
// behind a third: it reads the third, so that the second need not live till then.
TEST(Recompute, RepetitionsReadTheLatestRun) {
  auto module = parseModel(deepModel(2));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  CompileOptions options;
  options.until = Level::Launches;
  ASSERT_TRUE(sharedCompiler().run(**module, options)) << sharedCompiler().takeDiagnostics();
  llvm::FailureOr<JointGraph> graph = JointGraph::read(**module);
  ASSERT_TRUE(llvm::succeeded(graph));
  // Forward is product, gelu, product, twice: gelu is 1, the product that reads it 2.
  ASSERT_EQ(graph->launches[2].inputs, std::vector<int64_t>(1, 1));
  Sequence sequence = {0, 1, 1};
  for (int64_t i = 2; i < static_cast<int64_t>(graph->launches.size()); ++i) {
    if (i == graph->firstBackward + 1)
      sequence.insert(sequence.end(), {1, 2});
    sequence.push_back(i);
  }
  applySequence(*graph, sequence);
  std::vector<ir::LaunchOp> gelus, products;
  for (auto launch :
       (*module)->lookupSymbol<mlir::func::FuncOp>("joint").front().getOps<ir::LaunchOp>()) {
    if (launch.getKernel() == graph->launches[1].op.getKernel())
      gelus.push_back(launch);
    if (launch.getKernel() == graph->launches[2].op.getKernel())
      products.push_back(launch);
  }
  // Gelu of layer 1 three times and of layer 2 once between; the product likewise.
  ASSERT_EQ(gelus.size(), 4u);
  ASSERT_EQ(products.size(), 3u);
  EXPECT_EQ(traceView(products[0].getArgs()[0]).root, gelus[1].getResult(0));
  EXPECT_EQ(traceView(products[2].getArgs()[0]).root, gelus[3].getResult(0));
}

// With a bucket a layer, what runs again reads the weights that backward gathers anyway: no policy
// sends more than another.
TEST(Recompute, C1_RepetitionsUseTheGatherOfBackward) {
  for (int64_t stage : {0, 1, 2, 3}) {
    int64_t kept = plan(deepModel(6), "none", stage).communication.total();
    for (const char *policy : kPolicies)
      EXPECT_EQ(plan(deepModel(6), policy, stage).communication.total(), kept)
          << policy << ", stage " << stage;
  }
}

// A bucket a weight, a layer's two are a and b. Forward gathers 12; backward reads b, then a, of
// each layer, where b of the last is still there and a of the first is not wanted, as x needs no
// gradient: 22 gathers. What runs again of a layer reads a, which is gathered before b and waits
// for backward; only a of the first is gathered for it alone: 23. A minimum cut repeats gelu, which
// reads none. Where nothing is held, a is gathered again behind b: in the last layer a, b, a; in
// four others a, b, a; in the first a, b: 12 + 3 + 4 · 3 + 2. Each sends half of its 1024 elements.
TEST(Recompute, C1_GathersOfLayersOfSeveralBuckets) {
  constexpr int64_t kSent = 1024 / 2, kBucket = 4096;
  auto gathers = [&](const Report &report) { return report.communication.allGather / kSent; };
  EXPECT_EQ(gathers(plan(deepModel(6), "none", 3, kBucket)), 22);
  EXPECT_EQ(gathers(plan(deepModel(6), "min-cut", 3, kBucket)), 22);
  Report held = plan(deepModel(6), "every-block", 3, kBucket);
  Report dropped = plan(deepModel(6), "every-block", 3, kBucket, /*holdBytes=*/0);
  EXPECT_EQ(gathers(held), 23);
  EXPECT_EQ(gathers(dropped), 29);
}

// Between a repetition and the first launch that reads it run other repetitions only.
TEST(Recompute, RepetitionsStandJustBeforeTheirUse) {
  for (const char *policy : kPolicies) {
    SCOPED_TRACE(policy);
    auto module = parseModel(deepModel(4));
    ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
    CompileOptions options;
    options.recompute = policy;
    options.until = Level::Sharded;
    ASSERT_TRUE(sharedCompiler().run(**module, options)) << sharedCompiler().takeDiagnostics();
    int repetitions = 0;
    for (auto segment : (*module)->getOps<ir::SegmentOp>()) {
      std::vector<ir::LaunchOp> launches;
      for (auto launch : segment.getBody().front().getOps<ir::LaunchOp>())
        launches.push_back(launch);
      for (size_t at = 0; at < launches.size(); ++at) {
        if (!isRecomputed(launches[at]))
          continue;
        ++repetitions;
        auto reads = [&](ir::LaunchOp launch) {
          return llvm::any_of(launch.getArgs(), [&](mlir::Value value) {
            return traceView(value).root.getDefiningOp() == launches[at].getOperation();
          });
        };
        size_t reader = at + 1;
        while (reader < launches.size() && !reads(launches[reader]))
          EXPECT_TRUE(isRecomputed(launches[reader++])) << at;
        EXPECT_LT(reader, launches.size()) << at;
      }
    }
    EXPECT_GE(repetitions, 4);
  }
}

// The report names the op at the fullest instant, and whose bytes it holds.
TEST(Recompute, ReportNamesThePeaksMoment) {
  Report report = plan(deepModel(6), "none", 0);
  EXPECT_EQ(report.peakSegment, "micro_step");
  EXPECT_EQ(llvm::StringRef(report.peakOp).take_front(7), "launch ");
  EXPECT_LT(report.peakTime, report.peakTimes);
  int64_t held = 0;
  for (size_t i = 0; i < report.holders.size(); ++i) {
    held += report.holders[i].bytes;
    EXPECT_GE(report.holders[i].count, 1);
    if (i)
      EXPECT_LE(report.holders[i].bytes, report.holders[i - 1].bytes);
  }
  EXPECT_EQ(held, report.peak.activations + report.peak.buckets + report.peak.inputs +
                      report.peak.workspace);
}

// GPT-2 mini of bench/, planned: the packing meets its bound at every stage and policy.
TEST(Recompute, ArenaMeetsItsBound) {
  std::string path = testing::TempDir() + "mini.json";
  std::error_code code;
  llvm::raw_fd_ostream(path, code)
      << R"({"model_type": "gpt2", "n_layer": 6, "n_embd": 384, "n_head": 6, "n_positions": 256,
             "vocab_size": 256, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0})";
  for (int64_t stage : {0, 1, 2, 3})
    for (const char *policy : {"none", "every-block", "min-cut"}) {
      SCOPED_TRACE(std::string(policy) + ", stage " + std::to_string(stage));
      auto module = readModel(sharedCompiler(), {.path = path, .microBatch = 8});
      ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
      TrainOptions options;
      options.compile.microBatch = 8;
      options.compile.ranks = 2;
      options.compile.stage = stage;
      options.compile.recompute = policy;
      auto report = planModule(sharedCompiler(), **module, options);
      ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
      EXPECT_EQ(report->arenaBytes, report->arenaLowerBoundBytes);
    }
}

} // namespace
