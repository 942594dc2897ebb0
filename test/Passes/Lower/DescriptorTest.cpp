//===- DescriptorTest.cpp - what a kernel's body asks of the runtime -----------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

namespace zero::testing {
namespace {

using Operand = KernelCall::Operand;

std::string text(const KernelCall &call) {
  std::string result;
  for (const Operand &operand : call.operands) {
    result += result.empty() ? "" : " ";
    result += operand.source == Operand::Argument ? "a"
              : operand.source == Operand::Result ? "r"
                                                  : "w";
    result += std::to_string(operand.index);
    if (operand.byteOffset)
      result += "+" + std::to_string(operand.byteOffset);
  }
  return result;
}

/// Without the workspace, whose size is the library's affair.
std::string operandsBeforeWorkspace(const KernelCall &call) {
  std::string all = text(call);
  size_t at = all.rfind(" w0");
  return at == std::string::npos || at + 3 != all.size() ? all : all.substr(0, at);
}

std::string refusal(const std::string &module) {
  auto kernels = Kernels::compile(module);
  std::string why;
  EXPECT_FALSE(describeKernel(kernels->kernel("k"), 1, why));
  return why;
}

TEST(GemmDescriptor, leadingDimensionsBecomeRows) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<2x3x6xf32> kind gemm {
  %y = nn.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  zero.yield %y : tensor<2x3x6xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::GemmDesc &d = call.kernel.gemm;
  // [2·3, 4] times [4, 6].
  EXPECT_EQ(std::tie(d.batch, d.m, d.n, d.k), std::make_tuple(1, 6, 6, 4));
  EXPECT_EQ(std::tie(d.aRow, d.aCol, d.bRow, d.bCol, d.cRow), std::make_tuple(4, 1, 6, 1, 6));
  EXPECT_TRUE(d.hasBias);
  EXPECT_FALSE(d.hasResidual);
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a1 a2 r0");
  // 2·6·6·4 for the product, 6·6 for the bias.
  EXPECT_EQ(call.kernel.flops, 2 * 6 * 6 * 4 + 36);
}

TEST(GemmDescriptor, weightGradientContractsRows) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %dy: tensor<2x3x6xf32>) -> tensor<4x6xf32> kind gemm {
  %dw = nn.dot_general %x, %dy contracting [0, 1] x [0, 1] : (tensor<2x3x4xf32>, tensor<2x3x6xf32>) -> tensor<4x6xf32>
  zero.yield %dw : tensor<4x6xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::GemmDesc &d = call.kernel.gemm;
  // A is x transposed: its rows are x's columns.
  EXPECT_EQ(std::tie(d.batch, d.m, d.n, d.k), std::make_tuple(1, 4, 6, 6));
  EXPECT_EQ(std::tie(d.aRow, d.aCol, d.bRow, d.bCol, d.cRow), std::make_tuple(1, 4, 6, 1, 6));
}

TEST(GemmDescriptor, transposedWeightAndEpilogue) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>, %r: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> kind gemm {
  %0 = nn.dot_general %x, %w contracting [2] x [1] : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %1 = nn.add %0, %b : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  %2 = nn.gelu tanh %1 : tensor<2x3x6xf32>
  %3 = nn.add %r, %2 : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  zero.yield %3 : tensor<2x3x6xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::GemmDesc &d = call.kernel.gemm;
  EXPECT_EQ(std::tie(d.bRow, d.bCol), std::make_tuple(1, 4));
  EXPECT_TRUE(d.hasBias && d.hasResidual);
  EXPECT_EQ(d.activation, zrt::Activation::GeluTanh);
  EXPECT_EQ(d.residualRow, 6);
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a1 a2 a3 r0");
  // The residual is read where C is written.
  EXPECT_EQ(deriveMayReuse(kernels->kernel("k"))[0], llvm::SmallVector<int64_t>{3});
}

TEST(GemmDescriptor, stridedRowsBecomeABatch) {
  // The rows of x lie 10 apart within a batch entry and 100 between: two sizes, so the outer is the
  // batch.
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>) -> tensor<2x3x6xf32> kind gemm strides [[100, 10, 1], []] {
  %y = nn.linear %x, %w : (tensor<2x3x4xf32>, tensor<4x6xf32>) -> tensor<2x3x6xf32>
  zero.yield %y : tensor<2x3x6xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::GemmDesc &d = call.kernel.gemm;
  EXPECT_EQ(std::tie(d.batch, d.m, d.n, d.k), std::make_tuple(2, 3, 6, 4));
  EXPECT_EQ(std::tie(d.aBatch, d.bBatch, d.cBatch, d.aRow), std::make_tuple(100, 0, 18, 10));
}

TEST(GemmDescriptor, batchDimensionsAndReshapedHeads) {
  // q [2, 5, 12] seen as [2, 5, 3, 4] and transposed to [2, 3, 5, 4]: batch strides 60 and 4 do not
  // merge with 3 heads, so this needs two batches.
  EXPECT_EQ(refusal(R"(
zero.kernel @k(%q: tensor<2x5x12xf32>, %s: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32> kind gemm {
  %0 = nn.reshape %q to [2, 5, 3, 4] : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %1 = nn.transpose %0 by [0, 2, 1, 3] : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = nn.dot_general %1, %s batch [0, 1] x [0, 1] contracting [3] x [2] : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  zero.yield %2 : tensor<2x3x5x7xf32>
})"),
            "expects dimensions that merge to one batch, got 2");
}

TEST(GemmDescriptor, transposedResultSwapsTheOperands) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%x: tensor<3x4xf32>, %w: tensor<4x6xf32>) -> tensor<6x3xf32> kind gemm {
  %0 = nn.dot_general %x, %w contracting [1] x [0] : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  %1 = nn.transpose %0 by [1, 0] : (tensor<3x6xf32>) -> tensor<6x3xf32>
  zero.yield %1 : tensor<6x3xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::GemmDesc &d = call.kernel.gemm;
  // Cᵀ = wᵀ·xᵀ: wᵀ has rows 1 and columns 6 apart, xᵀ rows 1 and columns 4.
  EXPECT_EQ(std::tie(d.m, d.n, d.k), std::make_tuple(6, 3, 4));
  EXPECT_EQ(std::tie(d.aRow, d.aCol, d.bRow, d.bCol, d.cRow), std::make_tuple(1, 6, 1, 4, 3));
  EXPECT_EQ(operandsBeforeWorkspace(call), "a1 a0 r0");
}

TEST(GemmDescriptor, refusesWhatNoEpilogueHolds) {
  EXPECT_EQ(refusal(R"(
zero.kernel @k(%x: tensor<3x4xf32>, %w: tensor<4x6xf32>) -> tensor<3x6xf32> kind gemm {
  %0 = nn.linear %x, %w : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  %1 = nn.tanh %0 : tensor<3x6xf32>
  zero.yield %1 : tensor<3x6xf32>
})"),
            "expects bias, activation and residual after a product, got nn.tanh");
  EXPECT_EQ(refusal(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %y: tensor<2x3x6xf32>) -> tensor<4x6xf32> kind gemm strides [[100, 10, 1], []] {
  %0 = nn.dot_general %x, %y contracting [0, 1] x [0, 1] : (tensor<2x3x4xf32>, tensor<2x3x6xf32>) -> tensor<4x6xf32>
  zero.yield %0 : tensor<4x6xf32>
})"),
            "expects contracted dimensions that lie behind one another in both operands");
}

TEST(AttentionDescriptor, sliceOfAPackedProjection) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%qkv: tensor<2x5x36xf32>) -> (tensor<2x5x12xf32>, tensor<2x3x5xf32>) kind attention {
  %a, %b, %c = nn.split %qkv along 2 sizes [12, 12, 12] : (tensor<2x5x36xf32>) -> (tensor<2x5x12xf32>, tensor<2x5x12xf32>, tensor<2x5x12xf32>)
  %q = nn.reshape %a to [2, 5, 3, 4] : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %k = nn.reshape %b to [2, 5, 3, 4] : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %v = nn.reshape %c to [2, 5, 3, 4] : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %o, %lse = nn.attention %q, %k, %v scale 0.5 causal : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %r = nn.reshape %o to [2, 5, 12] : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  zero.yield %r, %lse : tensor<2x5x12xf32>, tensor<2x3x5xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::AttentionDesc &d = call.kernel.attention;
  EXPECT_EQ(std::tie(d.batch, d.queryLen, d.keyLen, d.heads, d.kvHeads, d.headDim),
            std::make_tuple(2, 5, 5, 3, 3, 4));
  EXPECT_EQ(std::tie(d.k.batch, d.k.time, d.k.head), std::make_tuple(180, 36, 4));
  EXPECT_EQ(std::tie(d.out.batch, d.out.time, d.out.head), std::make_tuple(60, 12, 4));
  EXPECT_TRUE(d.causal);
  // k begins 12 elements, v 24 elements behind q.
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a0+48 a0+96 r0 r1");
}

TEST(AttentionDescriptor, backwardWritesSlicesOfOneResult) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%q: tensor<2x5x3x4xf32>, %k: tensor<2x5x3x4xf32>, %v: tensor<2x5x3x4xf32>, %o: tensor<2x5x3x4xf32>, %lse: tensor<2x3x5xf32>, %do: tensor<2x5x3x4xf32>) -> tensor<2x5x36xf32> kind attention {
  %0, %1, %2 = nn.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  %3 = nn.reshape %0 to [2, 5, 12] : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  %4 = nn.reshape %1 to [2, 5, 12] : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  %5 = nn.reshape %2 to [2, 5, 12] : (tensor<2x5x3x4xf32>) -> tensor<2x5x12xf32>
  %6 = nn.concat %3, %4, %5 along 2 : (tensor<2x5x12xf32>, tensor<2x5x12xf32>, tensor<2x5x12xf32>) -> tensor<2x5x36xf32>
  zero.yield %6 : tensor<2x5x36xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::AttentionDesc &d = call.kernel.attention;
  EXPECT_TRUE(d.backward);
  EXPECT_EQ(std::tie(d.dV.batch, d.dV.time, d.dV.head), std::make_tuple(180, 36, 4));
  EXPECT_EQ(std::tie(d.dOut.batch, d.dOut.time, d.dOut.head), std::make_tuple(60, 12, 4));
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a1 a2 a3 a4 a5 r0 r0+48 r0+96");
}

TEST(AttentionDescriptor, resultThatNothingReadsLiesInTheWorkspace) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%q: tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> kind attention {
  %o, %lse = nn.attention %q, %q, %q scale 0.5 : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  zero.yield %o : tensor<2x5x3x4xf32>
})");
  KernelCall call = kernels->describe("k");
  // 2·3·5 floats take 120 bytes, 128 rounded up, behind the library's own.
  int64_t own = (zrt::workspaceBytes(call.kernel.attention, 1) + 63) / 64 * 64;
  EXPECT_EQ(call.workspaceBytes, own + 128);
  ASSERT_EQ(call.operands.size(), 6u);
  EXPECT_EQ(call.operands[4].source, Operand::Workspace);
  EXPECT_EQ(call.operands[4].byteOffset, own);
}

TEST(CrossEntropyDescriptor, gradientMayLieOverTheLogits) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%l: tensor<2x3x5xf32>, %t: tensor<2x3xi32>, %s: tensor<f32>) -> (tensor<f32>, tensor<2x3x5xf32>) kind cross_entropy {
  %loss, %dl = nn.cross_entropy_with_grad %l, %t, %s ignoring -7 : (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x3x5xf32>)
  zero.yield %loss, %dl : tensor<f32>, tensor<2x3x5xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::CrossEntropyDesc &d = call.kernel.crossEntropy;
  EXPECT_EQ(std::tie(d.rows, d.classes, d.ignore), std::make_tuple(6, 5, -7));
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a1 a2 r0 r1");
  auto reuse = deriveMayReuse(kernels->kernel("k"));
  EXPECT_TRUE(reuse[0].empty());
  EXPECT_EQ(reuse[1], llvm::SmallVector<int64_t>{0});
}

TEST(CrossEntropyDescriptor, refusesWideLabels) {
  EXPECT_EQ(refusal(R"(
zero.kernel @k(%l: tensor<6x5xf32>, %t: tensor<6xi64>, %s: tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>) kind cross_entropy {
  %loss, %dl = nn.cross_entropy_with_grad %l, %t, %s ignoring -7 : (tensor<6x5xf32>, tensor<6xi64>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
  zero.yield %loss, %dl : tensor<f32>, tensor<6x5xf32>
})"),
            "expects elements of type i32, got tensor<6xi64>");
}

TEST(ScatterDescriptor, countsRowsOfAllIndexDimensions) {
  auto kernels = Kernels::compile(R"(
zero.kernel @k(%t: tensor<2x3xi32>, %dx: tensor<2x3x4xf32>) -> tensor<5x4xf32> kind scatter {
  %0 = nn.scatter_add %t, %dx into 5 rows : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
  zero.yield %0 : tensor<5x4xf32>
})");
  KernelCall call = kernels->describe("k");
  const zrt::ScatterDesc &d = call.kernel.scatter;
  EXPECT_EQ(std::tie(d.rows, d.width, d.tableRows), std::make_tuple(6, 4, 5));
  EXPECT_EQ(operandsBeforeWorkspace(call), "a0 a1 r0");
}

TEST(GeneratedDescriptor, unitsAndWorkspace) {
  auto kernels = Kernels::compile(R"(
zero.kernel @rows(%x: tensor<2x3x20xf32>) -> tensor<2x3x20xf32> kind generated {
  %0 = nn.softmax %x : tensor<2x3x20xf32>
  zero.yield %0 : tensor<2x3x20xf32>
}
zero.kernel @walk(%x: tensor<3x4000xf32>) -> tensor<3x4000xf32> kind generated {
  %0 = nn.relu %x : tensor<3x4000xf32>
  zero.yield %0 : tensor<3x4000xf32>
}
zero.kernel @columns(%x: tensor<30x600xf32>) -> tensor<600xf32> kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<30x600xf32>) -> tensor<600xf32>
  zero.yield %0 : tensor<600xf32>
}
zero.kernel @both(%x: tensor<30x600xf32>) -> (tensor<30x600xf32>, tensor<600xf32>) kind generated {
  %0 = nn.relu %x : tensor<30x600xf32>
  %1 = nn.reduce_sum %0 over [0] : (tensor<30x600xf32>) -> tensor<600xf32>
  zero.yield %0, %1 : tensor<30x600xf32>, tensor<600xf32>
})");
  // One unit a row.
  EXPECT_EQ(kernels->describe("rows").kernel.generated.units, 6);
  // 12,000 elements in a row, cut into 4,096: 3 units.
  EXPECT_EQ(kernels->describe("walk").kernel.generated.units, 3);
  // 600 columns in blocks of 256: 3 units, accumulators on the stack.
  EXPECT_EQ(kernels->describe("columns").kernel.generated.units, 3);
  EXPECT_EQ(kernels->describe("columns").workspaceBytes, 0);
  // Rows and columns together: one unit, and two rows of 608 floats (whole vectors) as
  // accumulators.
  EXPECT_EQ(kernels->describe("both").kernel.generated.units, 1);
  EXPECT_EQ(kernels->describe("both").workspaceBytes, 2 * 608 * 4);
  EXPECT_EQ(text(kernels->describe("both")), "a0 r0 r1 w0");
}

} // namespace
} // namespace zero::testing
