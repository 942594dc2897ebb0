//===- PaperLedgerTest.cpp - the figures of the ZeRO paper, before anything runs ---===//
//
// Rajbhandari et al., arXiv 1910.02054, section 5 and table 1: 16-bit weights and
// gradients, f32 master weights and moments (K = 12) take
//
//   stage 0: 16Ψ    1: 4Ψ + 12Ψ/N    2: 2Ψ + 14Ψ/N    3: 16Ψ/N   bytes a rank.
//
// Models have exactly Ψ parameters, and are planned as --dry-run does it (M2).
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace zero;
using namespace zero::test;

namespace {

struct Recipe {
  int64_t ranks = 1, stage = 0, microSteps = 1;
  std::string dtype = "bf16", keepF32 = "", gradDtype = "auto";
};

/// A table of `parameters` numbers, of which a loss reads one row.
std::string tableModel(int64_t parameters, int64_t width) {
  std::string rows = std::to_string(parameters / width), columns = std::to_string(width);
  std::string table = "tensor<" + rows + "x" + columns + "xf32>";
  return "nn.param @table : " + table + R"( init normal(0.02)
func.func @loss(%ids: tensor<2xi32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %t = nn.read @table : )" +
         table + R"(
  %x = nn.embedding %ids, %t : (tensor<2xi32>, )" +
         table + ") -> tensor<2x" + columns + R"(xf32>
  %loss = nn.cross_entropy %x, %labels ignoring -100 : (tensor<2x)" +
         columns + R"(xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
})";
}

Report plan(const std::string &model, const Recipe &recipe) {
  auto module = parseModel(model);
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  TrainOptions options;
  options.compile.ranks = recipe.ranks;
  options.compile.stage = recipe.stage;
  options.compile.microSteps = recipe.microSteps;
  options.compile.dtype = recipe.dtype;
  options.compile.keepF32 = recipe.keepF32;
  options.compile.gradDtype = recipe.gradDtype;
  auto report = planModule(sharedCompiler(), **module, options);
  if (!report) {
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }
  return *report;
}

/// By kind: param, grad, grad_accum, master, moment1, moment2.
using Rows = std::array<int64_t, zrt::kStateKindCount>;

int64_t total(const Rows &rows) { return std::accumulate(rows.begin(), rows.end(), int64_t(0)); }

int64_t stateBytes(int64_t parameters, int64_t ranks, int64_t stage) {
  Report report = plan(tableModel(parameters, 10), {.ranks = ranks, .stage = stage});
  EXPECT_EQ(report.parameters, parameters);
  return total(report.modelStateBytes);
}

constexpr int64_t kBillion = 1'000'000'000;

// 12 parameters at 3 ranks, by hand: 24 bytes of weights, 24 of gradients, 3 · 48 of f32.
TEST(PaperLedger, M2_TwelveParametersAtThreeRanks) {
  std::string model = tableModel(12, 3);
  EXPECT_EQ(plan(model, {.ranks = 3, .stage = 0}).modelStateBytes, (Rows{24, 24, 0, 48, 48, 48}));
  EXPECT_EQ(plan(model, {.ranks = 3, .stage = 1}).modelStateBytes, (Rows{24, 24, 0, 16, 16, 16}));
  EXPECT_EQ(plan(model, {.ranks = 3, .stage = 2}).modelStateBytes, (Rows{24, 8, 0, 16, 16, 16}));
  EXPECT_EQ(plan(model, {.ranks = 3, .stage = 3}).modelStateBytes, (Rows{8, 8, 0, 16, 16, 16}));
  // 192, 96, 80 and 64 bytes; f16 keeps as much.
  for (auto [stage, bytes] : {std::pair(0, 192), {1, 96}, {2, 80}, {3, 64}})
    for (const char *dtype : {"bf16", "f16"})
      EXPECT_EQ(total(plan(model, {.ranks = 3, .stage = stage, .dtype = dtype}).modelStateBytes),
                bytes);
}

TEST(PaperLedger, M2_OneAndAHalfBillion) {
  const int64_t psi = 3 * kBillion / 2;
  EXPECT_EQ(stateBytes(psi, 4, 0), 24 * kBillion);
  EXPECT_EQ(stateBytes(psi, 4, 1), 10'500'000'000);
  EXPECT_EQ(stateBytes(psi, 4, 2), 8'250'000'000);
  EXPECT_EQ(stateBytes(psi, 4, 3), 6 * kBillion);
  EXPECT_EQ(stateBytes(psi, 8, 0), 24 * kBillion);
  EXPECT_EQ(stateBytes(psi, 8, 1), 8'250'000'000);
  EXPECT_EQ(stateBytes(psi, 8, 2), 5'625'000'000);
  EXPECT_EQ(stateBytes(psi, 8, 3), 3 * kBillion);
}

TEST(PaperLedger, M2_ThreeBillionAtEightRanks) {
  EXPECT_EQ(stateBytes(3 * kBillion, 8, 2), 11'250'000'000);
}

// The paper's figure 1: 120, 31.4, 16.6 and 1.9 GB.
TEST(PaperLedger, M2_SevenAndAHalfBillionAtSixtyFourRanks) {
  const int64_t psi = 15 * kBillion / 2;
  EXPECT_EQ(stateBytes(psi, 64, 0), 120 * kBillion);
  EXPECT_EQ(stateBytes(psi, 64, 1), 31'406'250'000);
  EXPECT_EQ(stateBytes(psi, 64, 2), 16'640'625'000);
  EXPECT_EQ(stateBytes(psi, 64, 3), 1'875'000'000);
}

// Table 1's last row: 128 billion take 513, 257 and 2 GB, a trillion 4011, 2013 and 15.6.
TEST(PaperLedger, M2_LargeModelsAtAThousandRanks) {
  EXPECT_EQ(stateBytes(128 * kBillion, 1024, 0), 2048 * kBillion);
  EXPECT_EQ(stateBytes(128 * kBillion, 1024, 1), 513'500'000'000);
  EXPECT_EQ(stateBytes(128 * kBillion, 1024, 2), 257'750'000'000);
  EXPECT_EQ(stateBytes(128 * kBillion, 1024, 3), 2 * kBillion);
  EXPECT_EQ(stateBytes(1000 * kBillion, 1024, 0), 16000 * kBillion);
  EXPECT_EQ(stateBytes(1000 * kBillion, 1024, 1), 4'011'718'750'000);
  EXPECT_EQ(stateBytes(1000 * kBillion, 1024, 2), 2'013'671'875'000);
  EXPECT_EQ(stateBytes(1000 * kBillion, 1024, 3), 15'625'000'000);
}

// Over several micro-steps gradients accumulate in f32, unless they are asked for in 16 bits.
TEST(PaperLedger, M2_GradientsOverMicroSteps) {
  std::string model = tableModel(12, 3);
  auto rows = [&](int64_t stage, const std::string &gradDtype) {
    return plan(model, {.ranks = 3, .stage = stage, .microSteps = 2, .gradDtype = gradDtype})
        .modelStateBytes;
  };
  EXPECT_EQ(rows(0, "auto"), (Rows{24, 0, 48, 48, 48, 48}));
  EXPECT_EQ(rows(1, "f32"), (Rows{24, 0, 48, 16, 16, 16}));
  EXPECT_EQ(rows(2, "auto"), (Rows{24, 0, 16, 16, 16, 16}));
  EXPECT_EQ(total(rows(0, "bf16")), 192);
  EXPECT_EQ(total(rows(1, "bf16")), 96);
  EXPECT_EQ(total(rows(2, "bf16")), 80);
  EXPECT_EQ(total(rows(3, "bf16")), 64);
  // One micro-step, f32 gradients on request.
  EXPECT_EQ(plan(model, {.ranks = 3, .stage = 0, .gradDtype = "f32"}).modelStateBytes,
            (Rows{24, 48, 0, 48, 48, 48}));
}

// 12 bf16 weights have masters; 6 kept ones in f32 have none, and gradients of their own type.
TEST(PaperLedger, M2_KeptParametersStayF32) {
  const char *model = R"(
nn.param @w : tensor<4x3xf32> init normal(0.02)
nn.param @ln.w : tensor<3xf32> init ones
nn.param @ln.b : tensor<3xf32> init zeros
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x3xf32>
  %g = nn.read @ln.w : tensor<3xf32>
  %b = nn.read @ln.b : tensor<3xf32>
  %y = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %n = nn.layer_norm %y, %g, %b eps 1.0e-5 : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %loss = nn.cross_entropy %n, %labels ignoring -100 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
})";
  Report report = plan(model, {.ranks = 2, .stage = 0, .keepF32 = "ln.*"});
  EXPECT_EQ(report.modelStateBytes,
            (Rows{12 * 2 + 6 * 4, 12 * 2 + 6 * 4, 0, 12 * 4, 18 * 4, 18 * 4}));
  report = plan(model, {.ranks = 2, .stage = 3, .keepF32 = "ln.*"});
  EXPECT_EQ(report.modelStateBytes, (Rows{24, 24, 0, 24, 36, 36}));
}

} // namespace
