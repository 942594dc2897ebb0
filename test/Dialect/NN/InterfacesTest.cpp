//===- InterfacesTest.cpp - families, costs and decay -----------------------===//

#include "Graph.h"

#include <limits>

using namespace zero::nn;

namespace {

KernelFamily familyOf(const std::string &arguments, const std::string &op) {
  Graph graph(arguments, op);
  return llvm::cast<KernelOpInterface>(graph.first()).getKernelFamily();
}

int64_t flopsOf(const std::string &arguments, const std::string &op) {
  Graph graph(arguments, op);
  return llvm::cast<CostOpInterface>(graph.first()).getFlops();
}

const char *const x = "%x: tensor<2x3x4xf32>";

TEST(KernelFamily, ReductionsAreRowsOnlyAlongExactlyTheLastDimension) {
  EXPECT_EQ(familyOf(x, "%0 = nn.reduce_sum %x over [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>"),
            KernelFamily::Row);
  EXPECT_EQ(
      familyOf(x, "%0 = nn.reduce_max %x over [2] keep : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>"),
      KernelFamily::Row);
  EXPECT_EQ(familyOf(x, "%0 = nn.reduce_sum %x over [0, 1] : (tensor<2x3x4xf32>) -> tensor<4xf32>"),
            KernelFamily::Column);
  EXPECT_EQ(
      familyOf(x, "%0 = nn.reduce_mean %x over [1, 2] : (tensor<2x3x4xf32>) -> tensor<2xf32>"),
      KernelFamily::Column);
}

TEST(KernelFamily, ViewsRenameElementsAndMovesDoNot) {
  EXPECT_EQ(familyOf(x, "%0 = nn.reshape %x to [6, 4] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>"),
            KernelFamily::View);
  EXPECT_EQ(
      familyOf(x, "%0 = nn.transpose %x by [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>"),
      KernelFamily::View);
  EXPECT_EQ(familyOf(x, "%0 = nn.concat %x, %x along 0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> "
                        "tensor<4x3x4xf32>"),
            KernelFamily::Move);
  EXPECT_EQ(familyOf("", "%0 = nn.iota along 0 : tensor<4xi32>"), KernelFamily::Move);
}

TEST(KernelFamily, WindowsOfImagesAreAFamilyOfTheirOwn) {
  const std::string image = "%x: tensor<2x4x4x3xf32>";
  EXPECT_EQ(familyOf(image, "%0 = nn.patches %x window [2, 2] strides [2, 2] : "
                            "(tensor<2x4x4x3xf32>) -> tensor<2x2x2x2x6xf32>"),
            KernelFamily::Window);
  EXPECT_EQ(familyOf(image, "%0 = nn.max_pool %x window [2, 2] strides [2, 2] : "
                            "(tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>"),
            KernelFamily::Window);
}

TEST(KernelFamily, CountingLabelsStaysOutsideLaunches) {
  EXPECT_EQ(familyOf("%l: tensor<3xi32>",
                     "%0 = nn.count_labels %l ignoring -100 : (tensor<3xi32>) -> tensor<i64>"),
            KernelFamily::None);
}

TEST(Flops, AMultiplyAddIsTwo) {
  // 6 rows · 5 columns, each 4 multiply-adds: 6 · 5 · 8 = 240; with a bias 6 · 5 · 9 = 270.
  EXPECT_EQ(
      flopsOf("%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>",
              "%0 = nn.linear %x, %w : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>"),
      240);
  EXPECT_EQ(flopsOf("%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>, %b: tensor<5xf32>",
                    "%0 = nn.linear %x, %w, %b transposed : (tensor<2x3x4xf32>, tensor<5x4xf32>, "
                    "tensor<5xf32>) -> tensor<2x3x5xf32>"),
            270);
  // [4, 5] from 2 · 3 contracted pairs: 20 · 12 = 240.
  EXPECT_EQ(flopsOf("%x: tensor<2x3x4xf32>, %y: tensor<2x3x5xf32>",
                    "%0 = nn.dot_general %x, %y contracting [0, 1] x [0, 1] : (tensor<2x3x4xf32>, "
                    "tensor<2x3x5xf32>) -> tensor<4x5xf32>"),
            240);
}

TEST(Flops, AConvolutionCountsItsWindowForEachResult) {
  // 2 · 3 · 3 · 5 results of 2 · 2 · 3 multiply-adds: 90 · 24 = 2160.
  EXPECT_EQ(flopsOf("%x: tensor<2x4x4x3xf32>, %w: tensor<2x2x3x5xf32>",
                    "%0 = nn.convolution %x, %w : (tensor<2x4x4x3xf32>, tensor<2x2x3x5xf32>) -> "
                    "tensor<2x3x3x5xf32>"),
            2160);
  // 2 · 2 · 2 · 3 maxima of 4.
  EXPECT_EQ(flopsOf("%x: tensor<2x4x4x3xf32>",
                    "%0 = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x4x4x3xf32>) -> "
                    "tensor<2x2x2x3xf32>"),
            96);
}

TEST(Flops, ACausalMaskLeavesHalfOfAttention) {
  // Two products of 2 · 3 · 5 · 5 scores and depth 4: 2 · 2 · 150 · 4 = 2400.
  const std::string t = "tensor<2x5x3x4xf32>";
  const std::string types =
      " : (" + t + ", " + t + ", " + t + ") -> (" + t + ", tensor<2x3x5xf32>)";
  EXPECT_EQ(flopsOf("%q: " + t, "%0:2 = nn.attention %q, %q, %q scale 0.5" + types), 2400);
  EXPECT_EQ(flopsOf("%q: " + t, "%0:2 = nn.attention %q, %q, %q scale 0.5 causal" + types), 1200);
}

TEST(Flops, NormsAndRotationsCountAnElementsOperations) {
  // 24 elements: x² 1, its mean 1, scaling 1, weight 1; and two products and their sum.
  EXPECT_EQ(flopsOf("%x: tensor<2x3x4xf32>, %w: tensor<4xf32>",
                    "%0 = nn.rms_norm %x, %w eps 1.0e-6 : (tensor<2x3x4xf32>, tensor<4xf32>) -> "
                    "tensor<2x3x4xf32>"),
            96);
  EXPECT_EQ(flopsOf("%x: tensor<2x3x1x4xf32>",
                    "%0 = nn.rotary %x frequencies [1.0, 0.1] : tensor<2x3x1x4xf32>"),
            72);
}

TEST(Flops, AreZeroWhileAShapeIsOpen) {
  EXPECT_EQ(flopsOf("%x: tensor<?x4xf32>", "%0 = nn.neg %x : tensor<?x4xf32>"), 0);
  EXPECT_EQ(flopsOf("%x: tensor<?x4xf32>", "%0 = nn.dot_general %x, %x contracting [0] x [0] : "
                                           "(tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>"),
            0);
}

TEST(Flops, SaturateInsteadOfOverflowing) {
  // 2^60 elements at 9 operations each pass 2^63.
  EXPECT_EQ(flopsOf("%x: tensor<1152921504606846976xf32>",
                    "%0 = nn.gelu tanh %x : tensor<1152921504606846976xf32>"),
            std::numeric_limits<int64_t>::max());
}

TEST(Param, DecaysFromRankTwoOnUnlessItSaysOtherwise) {
  mlir::MLIRContext context;
  context.loadDialect<NNDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    nn.param @matrix : tensor<2x2xf32> init zeros
    nn.param @vector : tensor<2xf32> init zeros
    nn.param @frugal : tensor<2x2xf32> init zeros {weight_decay = false}
    nn.param @scaled : tensor<2xf32> init zeros {weight_decay = true}
  )",
                                                        &context);
  ASSERT_TRUE(module);
  std::vector<bool> decays;
  for (ParamOp param : module->getOps<ParamOp>())
    decays.push_back(param.decays());
  EXPECT_EQ(decays, (std::vector<bool>{true, false, false, true}));
}

} // namespace
