//===- MayReuseTest.cpp - which arguments a result may be written over ----------------===//
//
// What is allowed here is executed in GeneratedTest.cpp, byte-equal; here stands what
// has to be allowed, and what has to be refused and why.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

namespace zero::testing {
namespace {

using Lists = llvm::SmallVector<llvm::SmallVector<int64_t>>;

Lists reuseOf(const std::string &module) {
  auto kernels = Kernels::compile(module);
  return kernels ? deriveMayReuse(kernels->kernel("k")) : Lists();
}

TEST(MayReuse, elementwiseOverOperandsOfItsShape) {
  // %b is broadcast: its element is read again in the next row.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf32>, %y: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<6x4xf32> kind generated {
  %0 = nn.mul %x, %y : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = nn.add %0, %b : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  zero.yield %1 : tensor<6x4xf32>
})"),
            (Lists{{0, 1}}));
}

TEST(MayReuse, groupOfRowsAndColumns) {
  // WALKTHROUGH's row 17: %x is read by the sum of the same row before the row is written.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf32>, %w: tensor<4xf32>, %dy: tensor<6x4xf32>, %dh: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>) kind generated {
  %0 = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  %2 = nn.add %0, %dh : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  zero.yield %2, %1 : tensor<6x4xf32>, tensor<4xf32>
})"),
            (Lists{{0, 2, 3}, {}}));
}

TEST(MayReuse, rowSumOfWhatIsOverwritten) {
  // r = x·x over x, and the row sums of x: both read x's row before it is written.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6xf32>) kind generated {
  %0 = nn.mul %x, %x : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = nn.reduce_sum %x over [1] : (tensor<6x4xf32>) -> tensor<6xf32>
  zero.yield %0, %1 : tensor<6x4xf32>, tensor<6xf32>
})"),
            (Lists{{0}, {}}));
}

TEST(MayReuse, notOverWhatIsReadElsewhere) {
  // A transpose reads elements after others were written in their place.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<4x4xf32>) -> tensor<4x4xf32> kind generated {
  %0 = nn.transpose %x by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  zero.yield %0 : tensor<4x4xf32>
})"),
            (Lists{{}}));
  // The mean of a column is that of all rows.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf32>) -> tensor<6x4xf32> kind generated {
  %0 = nn.reduce_mean %x over [0] : (tensor<6x4xf32>) -> tensor<4xf32>
  %1 = nn.sub %x, %0 : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  zero.yield %1 : tensor<6x4xf32>
})"),
            (Lists{{}}));
  // An embedding of six rows from a table of six reads any of them at any time.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%t: tensor<6xi32>, %w: tensor<6x4xf32>) -> tensor<6x4xf32> kind generated {
  %0 = nn.embedding %t, %w : (tensor<6xi32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  zero.yield %0 : tensor<6x4xf32>
})"),
            (Lists{{}}));
}

TEST(MayReuse, notOverWhatALaterStageReads) {
  // The sums have other columns than the product, so they are summed when it is written.
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf32>, %y: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<8xf32>) kind generated {
  %0 = nn.mul %x, %y : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = nn.reshape %x to [3, 8] : (tensor<6x4xf32>) -> tensor<3x8xf32>
  %2 = nn.reduce_sum %1 over [0] : (tensor<3x8xf32>) -> tensor<8xf32>
  zero.yield %0, %2 : tensor<6x4xf32>, tensor<8xf32>
})"),
            (Lists{{1}, {}}));
}

TEST(MayReuse, needsEqualWidthAndContiguousBytes) {
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<6x4xf64>, %i: tensor<6x4xi32>, %s: tensor<6x4xf32>) -> tensor<6x4xf32> kind generated strides [[], [], [8, 1]] {
  %0 = nn.convert %x to f32 : tensor<6x4xf64>
  %1 = nn.convert %i to f32 : tensor<6x4xi32>
  %2 = nn.add %0, %1 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %3 = nn.add %2, %s : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  zero.yield %3 : tensor<6x4xf32>
})"),
            (Lists{{1}}));
}

TEST(MayReuse, throughReshapesThatKeepTheOrder) {
  EXPECT_EQ(reuseOf(R"(
zero.kernel @k(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> kind generated {
  %0 = nn.reshape %x to [6, 4] : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = nn.layer_norm %0, %w, %b eps 1.0e-5 : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %2 = nn.reshape %1 to [2, 3, 4] : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  zero.yield %2 : tensor<2x3x4xf32>
})"),
            (Lists{{0}}));
}

} // namespace
} // namespace zero::testing
