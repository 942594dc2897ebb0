//===- RecomputeDropoutTest.cpp - masks that are drawn again (N1) -------------===//
//
// What runs again draws the masks of dropout that its first run drew, and what
// repeats as a layer does so up to the sites of its dropouts.
//
//===----------------------------------------------------------------------===//

#include "RecomputeModels.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Recompute.h"
#include "zero/Training/Safetensors.h"

#include "llvm/Support/MemoryBuffer.h"

#include <random>

using namespace zero;
using namespace zero::test;
using namespace zero::training;

namespace {

/// models/dropout.mlir, of two or of four layers. The first one's norm shares a kernel with the
/// embeddings, what the last one adds stands alone, and each attention has a kernel of its own.
std::string dropoutModel(int layers) {
  auto text = llvm::MemoryBuffer::getFile(std::string(ZERO_TEST_DATA_DIR) +
                                          "/Integration/models/dropout.mlir");
  std::string model = (*text)->getBuffer().str();
  if (layers == 4) {
    const std::string two = "%z = func.call @layer(%y)";
    const std::string types = " : (tensor<?x7x18xf32>) -> tensor<?x7x18xf32>\n";
    model.replace(model.find(two), two.size(),
                  "%y2 = func.call @layer(%y)" + types + "%y3 = func.call @layer(%y2)" + types +
                      "%z = func.call @layer(%y3)");
  }
  std::string path = testing::TempDir() + "recompute-dropout.mlir";
  std::error_code code;
  llvm::raw_fd_ostream(path, code) << model;
  return path;
}

/// On two ranks of three rows.
struct DropoutRun {
  std::vector<double> losses;
  Weights weights;
  Report report;
};

/// Gives every dropout that runs again a site, and so a mask, of its own; how many launches that
/// are.
int64_t moveMasksOfRepetitions(mlir::ModuleOp module) {
  int64_t moved = 0;
  mlir::SymbolTable symbols(module);
  module.walk([&](ir::LaunchOp launch) {
    if (!isRecomputed(launch))
      return;
    auto kernel = symbols.lookup<ir::KernelOp>(launch.getKernel()).clone();
    int64_t masks = 0;
    kernel->walk([&](mlir::Operation *op) {
      if (auto dropout = mlir::dyn_cast<nn::DropoutOp>(op))
        dropout.setRate(llvm::APFloat(0.3)), ++masks;
      if (auto attention = mlir::dyn_cast<nn::AttentionOp>(op); attention && attention.getSite())
        attention.setSite(1000), ++masks;
    });
    if (!masks)
      return kernel->destroy();
    symbols.insert(kernel);
    launch.setKernel(kernel.getSymName());
    ++moved;
  });
  return moved;
}

/// `movesMasks`: with masks that differ where they are drawn again, which must not stay unseen.
DropoutRun trainWithDropout(int layers, const std::string &policy, int64_t stage,
                            const std::string &dtype,
                            std::optional<int64_t> memoryBudget = std::nullopt,
                            bool movesMasks = false) {
  constexpr int64_t kSteps = 3, kRows = 6, kTokens = 7;
  std::string path = testing::TempDir() + "recompute-dropout.safetensors";
  std::mt19937 random(3);
  std::vector<int32_t> values(kSteps * kRows * kTokens);
  for (int32_t &value : values)
    value = static_cast<int32_t>(random() % 37);
  std::vector<int64_t> shape = {kSteps, 1, kRows, kTokens};
  TensorSpec specs[] = {{"tokens", DType::I32, shape}, {"labels", DType::I32, shape}};
  llvm::cantFail(writeSafetensors(path, specs, [&](size_t, llvm::MutableArrayRef<uint8_t> bytes) {
    memcpy(bytes.data(), values.data(), bytes.size());
    return llvm::Error::success();
  }));
  ModelOptions model;
  model.path = dropoutModel(layers);
  model.microBatch = kRows / 2;
  TrainOptions options;
  options.compile.ranks = 2;
  options.compile.stage = stage;
  options.compile.microBatch = model.microBatch;
  options.compile.dtype = dtype;
  options.compile.recompute = policy;
  options.memoryBudget = memoryBudget;
  options.seed = 5;
  options.schedule = {ScheduleKind::Constant, 3e-3, 0, kSteps};
  options.data = path;
  DropoutRun run;
  auto module = readModel(sharedCompiler(), model);
  if (module && movesMasks) {
    llvm::Expected<Report> planned = planModule(sharedCompiler(), **module, options);
    if (!planned) {
      ADD_FAILURE() << llvm::toString(planned.takeError());
      return run;
    }
    EXPECT_GT(moveMasksOfRepetitions(**module), 0);
    options.compile.recompute = "none"; // it stands in the module
  }
  auto trainer = module ? Trainer::create(sharedCompiler(), **module, options)
                        : llvm::Expected<std::unique_ptr<Trainer>>(module.takeError());
  if (!trainer) {
    ADD_FAILURE() << llvm::toString(trainer.takeError());
    return run;
  }
  for (int64_t step = 0; step < kSteps; ++step)
    run.losses.push_back(llvm::cantFail((*trainer)->step()).loss.value());
  run.weights = weightsOf(**trainer);
  run.report = (*trainer)->report();
  return run;
}

/// A mask is drawn again for the samples and sites that it was drawn for.
void expectSameWithDropout(int layers, const char *dtype, std::initializer_list<int64_t> stages,
                           int64_t launchesOfBlocks) {
  for (int64_t stage : stages) {
    DropoutRun kept = trainWithDropout(layers, "none", stage, dtype);
    for (const char *policy : kPolicies) {
      SCOPED_TRACE(std::string(dtype) + ", stage " + std::to_string(stage) + ", " + policy);
      DropoutRun again = trainWithDropout(layers, policy, stage, dtype);
      EXPECT_EQ(again.losses, kept.losses);
      EXPECT_EQ(firstDifference(again.weights, kept.weights), "");
      EXPECT_LT(again.report.activationBytes, kept.report.activationBytes);
      if (policy == llvm::StringRef("every-block"))
        EXPECT_EQ(again.report.recomputedLaunches, launchesOfBlocks);
      else
        EXPECT_GT(again.report.recomputedLaunches, 0);
    }
  }
}

// A layer is Q (qkv) A (attention) P (projection) D (dropout and sum) F (product) G (gelu) O
// (product) N (dropout, sum, and the next one's norm). Behind the embeddings and the first norm
// come Q A P D F G O N and Q A P D F G O and a last sum: the layers begin at Q, as only there
// enough of a second one follows. N of the first is read outside and stays, and so nothing needs
// its O: Q A P D F G run again. Of the second layer, O and D are read by the last sum and stay, and
// nothing needs P: Q A F G.
TEST(RecomputeDropout, N1_DropoutInTwoLayers) {
  expectSameWithDropout(2, "f32", {0, 1, 2, 3}, 6 + 4);
}

// Of four layers the boundary is where one value crosses and not two, behind D: Q A P D, three
// times F G O N Q A P D, and too little of a last one. D stays, and so nothing needs P.
TEST(RecomputeDropout, N1_DropoutInFourLayers) {
  expectSameWithDropout(4, "f32", {0, 3}, 2 + 3 * 6);
}
TEST(RecomputeDropout, N1_DropoutInBf16) { expectSameWithDropout(4, "bf16", {1, 3}, 2 + 3 * 6); }

// As far as a budget makes them, too: halfway between the arenas of keeping everything and of
// keeping layers' inputs, launches with dropout run again. Were one of their masks another one,
// the losses would be too.
TEST(RecomputeDropout, N1_BudgetsDrawTheSameMasks) {
  constexpr int64_t kStage = 3;
  DropoutRun kept = trainWithDropout(4, "none", kStage, "f32");
  int64_t most = kept.report.arenaBytes;
  int64_t least = trainWithDropout(4, "every-block", kStage, "f32").report.arenaBytes;
  ASSERT_LT(least, most);
  for (int64_t budget : {(least + most) / 2, least}) {
    DropoutRun again = trainWithDropout(4, "budget", kStage, "f32", budget);
    EXPECT_LE(again.report.arenaBytes, budget);
    EXPECT_EQ(again.losses, kept.losses);
    EXPECT_EQ(firstDifference(again.weights, kept.weights), "");
  }
  DropoutRun moved = trainWithDropout(4, "budget", kStage, "f32", least, /*movesMasks=*/true);
  ASSERT_EQ(moved.losses.size(), kept.losses.size());
  EXPECT_EQ(moved.losses[0], kept.losses[0]); // forward's masks are the same yet
  EXPECT_NE(moved.losses[1], kept.losses[1]);
}

} // namespace
