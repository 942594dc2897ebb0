//===- RecomputeBudgetTest.cpp - arenas within a budget (N1, M3, C1) -----------===//
//
// A budget for the arena is met to the byte or refused, by recomputation and by
// what is held for it, and what the planner of checkpoints counts is the arena.
//
//===----------------------------------------------------------------------===//

#include "ExpectSame.h"
#include "RecomputeModels.h"

#include "zero/Passes/Recompute.h"

using namespace zero;
using namespace zero::test;

namespace {

// From the arena of keeping as little as the layers need to that of keeping everything, at every
// stage: a plan without a run promises the arena that a run then allocates, within the budget.
TEST(RecomputeBudget, N1_M3_BudgetsOfGpt2) {
  const GoldenCase &golden = goldenCase("gpt2");
  for (int64_t stage : {0, 1, 2, 3}) {
    Variant run{.ranks = 2, .stage = stage, .steps = 2};
    Outcome kept = train(golden, run);
    run.recompute = "every-block";
    int64_t least = train(golden, run).report.arenaBytes;
    int64_t most = kept.report.arenaBytes;
    ASSERT_LT(least, most);
    run.recompute = "budget";
    double ratio = 1.0;
    for (int64_t budget : {most, (least + most) / 2, least}) {
      SCOPED_TRACE("stage " + std::to_string(stage) + ", budget " + std::to_string(budget));
      run.memoryBudget = budget;
      Outcome outcome = train(golden, run);
      expectSame(outcome, kept);
      EXPECT_LE(outcome.report.arenaBytes, budget);
      EXPECT_GE(outcome.report.flopsRatio(), ratio); // less memory, no fewer operations
      ratio = outcome.report.flopsRatio();
      std::string error;
      auto trainer = makeTrainer(golden, run, error); // planned again
      ASSERT_TRUE(trainer) << error;
      EXPECT_EQ(trainer->report().arenaBytes, outcome.report.arenaBytes);
      EXPECT_EQ(trainer->session().allocatedArenaBytes(), outcome.report.arenaBytes);
    }
    EXPECT_GT(ratio, 1.0);
    // States alone are more, and no plan is asked for.
    run.memoryBudget = kept.report.peak.states;
    std::string text = train(golden, run).error;
    EXPECT_NE(text.find("at least, whatever runs again"), std::string::npos) << text;
    llvm::StringRef floor = llvm::StringRef(text).split("got ").second.split(' ').first;
    int64_t bytes = 0;
    ASSERT_FALSE(floor.getAsInteger(10, bytes)) << text;
    EXPECT_GT(bytes, kept.report.peak.states);
    EXPECT_LE(bytes, least); // a plan that there is
    EXPECT_NE(text.find("bytes are missing"), std::string::npos) << text;
    EXPECT_NE(text.find("its largest holders are"), std::string::npos) << text;
  }
}

/// Brings the module to level A without further repetitions; nothing is held.
Report packed(mlir::ModuleOp module, CompileOptions options) {
  options.until = Level::Arena;
  options.holdBytes = 0;
  EXPECT_TRUE(sharedCompiler().run(module, options)) << sharedCompiler().takeDiagnostics();
  llvm::FailureOr<Report> report = makeReport(module);
  EXPECT_TRUE(llvm::succeeded(report));
  return llvm::succeeded(report) ? *report : Report();
}

// From the plan that keeps everything follows what another one takes, workspaces, buckets, batch
// and results in the place of operands included. At stage 3 gathers are issued behind other
// launches than there, which moves a bucket of parameters at most; below, one result of 64 bytes,
// of forward's, may lie over an operand that dies only where layers run again.
void expectCounted(mlir::ModuleOp launches, CompileOptions options) {
  llvm::FailureOr<JointGraph> graph = JointGraph::read(launches);
  ASSERT_TRUE(llvm::succeeded(graph));
  mlir::OwningOpRef<mlir::ModuleOp> kept = launches.clone();
  packed(*kept, options);
  llvm::FailureOr<CheckpointProblem> asked = CheckpointProblem::ofArena(*kept, *graph);
  ASSERT_TRUE(llvm::succeeded(asked));
  for (const std::vector<bool> &repeats :
       {std::vector<bool>(graph->launches.size()), repeatsOfBlocks(*graph, findBlocks(*graph)),
        repeatsOfCheap(*graph)}) {
    Sequence sequence = withoutUnread(*graph, placeLate(*graph, repeats));
    mlir::OwningOpRef<mlir::ModuleOp> again = launches.clone();
    llvm::FailureOr<JointGraph> copy = JointGraph::read(*again);
    ASSERT_TRUE(llvm::succeeded(copy));
    applySequence(*copy, sequence);
    int64_t arena = packed(*again, options).arenaBytes, counted = asked->peakBytes(sequence);
    EXPECT_GE(counted, arena);
    EXPECT_LE(counted, arena + (options.stage < 3 ? 64 : options.bucketBytes));
    EXPECT_LE(asked->floorBytes(), counted);
  }
}

TEST(RecomputeBudget, M3_PlansAreCountedInArenaBytes) {
  for (int64_t stage : {0, 1, 2, 3})
    for (bool isDeep : {true, false}) {
      SCOPED_TRACE("stage " + std::to_string(stage) + (isDeep ? ", layers" : ", gpt2"));
      ModelOptions file = goldenCase("gpt2").model(2);
      auto module = isDeep ? parseModel(deepModel(6)) : readModel(sharedCompiler(), file);
      ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
      CompileOptions options;
      options.ranks = 2;
      options.stage = stage;
      options.microBatch = isDeep ? 0 : file.microBatch;
      options.bucketBytes = isDeep ? 8192 : 32768;
      options.until = Level::Launches;
      ASSERT_TRUE(sharedCompiler().run(**module, options)) << sharedCompiler().takeDiagnostics();
      expectCounted(**module, options);
    }
}

/// `layers` times three products of 32 × 32, the first two with a gelu, and the residual; 8 rows.
std::string threeWeights(int layers) {
  std::string text, body, h = "%x";
  for (int i = 0; i < layers; ++i) {
    std::string in = h;
    for (std::string w : {"a", "b", "c"}) {
      std::string n = w + std::to_string(i);
      text += "nn.param @" + n + " : tensor<32x32xf32> init normal(0.1)\n";
      body += "%" + n + " = nn.read @" + n + " : tensor<32x32xf32>\n%u" + n + " = nn.linear " + in +
              ", %" + n + " : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>\n";
      in = "%u" + n;
      if (w == "c")
        continue;
      body += "%g" + n + " = nn.gelu tanh " + in + " : tensor<8x32xf32>\n";
      in = "%g" + n;
    }
    std::string out = "%h" + std::to_string(i);
    body += out + " = nn.add " + h + ", " + in +
            " : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>\n";
    h = out;
  }
  return text + "func.func @loss(%x: tensor<8x32xf32>, %labels: tensor<8xi32>) -> tensor<f32> {\n" +
         body + "%l = nn.cross_entropy " + h +
         ", %labels ignoring -100 : (tensor<8x32xf32>, tensor<8xi32>) -> tensor<f32>\n"
         "return %l : tensor<f32>\n}\n";
}

// A bucket a weight. What runs again of a layer reads a and b; backward reads c, b, a. Held for it,
// all three lie there while c is read; else c and b, which is gathered one region ahead: one
// bucket of 32 · 32 · 4 bytes less. The budget decides, whatever policy it bounds.
TEST(RecomputeBudget, M3_ABudgetComesBeforeHeldGathers) {
  constexpr int64_t kBucket = 4096;
  std::string model = threeWeights(4);
  Report held = plan(model, "every-block", 3, kBucket);
  Report dropped = plan(model, "every-block", 3, kBucket, /*holdBytes=*/0);
  ASSERT_EQ(held.arenaBytes, dropped.arenaBytes + kBucket);
  ASSERT_LT(held.communication.allGather, dropped.communication.allGather);
  auto within = [&](const char *policy, int64_t budget) {
    return plan(model, policy, 3, kBucket, /*holdBytes=*/-1, budget);
  };
  Report roomy = within("every-block", held.arenaBytes);
  EXPECT_EQ(roomy.arenaBytes, held.arenaBytes);
  EXPECT_EQ(roomy.communication.allGather, held.communication.allGather);
  for (int64_t budget : {held.arenaBytes - 1, dropped.arenaBytes}) {
    Report tight = within("every-block", budget);
    EXPECT_LE(tight.arenaBytes, budget);
    EXPECT_EQ(tight.recomputedLaunches, held.recomputedLaunches);
    EXPECT_GT(tight.communication.allGather, held.communication.allGather);
    EXPECT_LE(tight.communication.allGather, dropped.communication.allGather);
  }
  for (int64_t budget : {held.arenaBytes, held.arenaBytes - 1, dropped.arenaBytes}) {
    Report chosen = within("budget", budget);
    EXPECT_LE(chosen.arenaBytes, budget);
    EXPECT_GT(chosen.recomputedLaunches, 0);
  }
}

} // namespace
