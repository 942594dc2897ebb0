//===- GeneratedTest.cpp - generated kernels against the reference -------------------===//

#include "Generated.h"
#include "KernelHarness.h"

using namespace mlir;

namespace zero::testing {
namespace {

CallOptions atOffset(int64_t bytes) {
  CallOptions options;
  options.offsetBytes = bytes;
  return options;
}
CallOptions inPieces(int64_t pieces) {
  CallOptions options;
  options.pieces = pieces;
  return options;
}
TEST_P(Generated, N0_bitsDependOnOperandBitsAlone) {
  const GeneratedCase &test = GetParam();
  auto kernels = Kernels::compile(test.text);
  ASSERT_TRUE(kernels);
  ir::KernelOp kernel = kernels->kernel("k");
  std::mt19937 generator(7);
  std::vector<Bytes> arguments;
  for (Type type : kernel.getArgumentTypes())
    arguments.push_back(randomTensor(type, generator, test.scale, test.bound));
  std::vector<Bytes> first = kernels->call("k", arguments);

  for (int64_t offset : {4, 60})
    EXPECT_EQ(kernels->call("k", arguments, atOffset(offset)), first) << "at offset " << offset;
  for (int64_t pieces : {2, 3})
    EXPECT_EQ(kernels->call("k", arguments, inPieces(pieces)), first)
        << "in " << pieces << " pieces";
  auto reuse = deriveMayReuse(kernel);
  for (size_t result = 0; result < reuse.size(); ++result)
    for (int64_t argument : reuse[result])
      for (int64_t offset : {0, 60}) {
        CallOptions options = atOffset(offset);
        options.pieces = 2;
        options.over.assign(reuse.size(), -1);
        options.over[result] = argument;
        EXPECT_EQ(kernels->call("k", arguments, options), first)
            << "result " << result << " over argument " << argument << " at offset " << offset;
      }

  std::vector<reference::Array> judged = kernels->judge("k", arguments);
  ASSERT_EQ(judged.size(), first.size());
  for (size_t result = 0; result < first.size(); ++result) {
    reference::Array got = arrayOf(first[result], kernel.getResultTypes()[result]);
    ASSERT_EQ(got.size(), judged[result].size());
    for (int64_t i = 0; i < got.size(); ++i) {
      double want = elementOf(judged[result], i), have = elementOf(got, i);
      ASSERT_LE(std::abs(have - want), test.tolerance * (1 + std::abs(want)))
          << "result " << result << ", element " << i << ": " << have << " for " << want;
    }
  }
}

TEST(Added, finishedResultsAreAddedToWhatTheirSlotsHold) {
  auto kernels = Kernels::compile(R"(
nn.param @p : tensor<70x20xf32> init zeros
nn.param @q : tensor<20xf32> init zeros
zero.bucket @b0 trainable over 1 ranks length 1428 chunk 1428 {
  zero.slot @p at 0 : tensor<70x20xf32> contributions 1
  zero.slot @q at 1408 : tensor<20xf32> contributions 1
}
zero.kernel @k(%x: tensor<70x20xf32>, %y: tensor<70x20xf32>) -> (tensor<70x20xf32>, tensor<20xf32>) kind generated {
  %0 = nn.mul %x, %y : (tensor<70x20xf32>, tensor<70x20xf32>) -> tensor<70x20xf32>
  %1 = nn.reduce_sum %0 over [0] : (tensor<70x20xf32>) -> tensor<20xf32>
  zero.yield %0, %1 : tensor<70x20xf32>, tensor<20xf32>
}
func.func @launches(%x: tensor<70x20xf32>, %y: tensor<70x20xf32>, %g: !zero.grads<@b0>, %h: !zero.grads<@b0>) {
  %a:2 = zero.launch @k(%x, %y) : (tensor<70x20xf32>, tensor<70x20xf32>) -> (tensor<70x20xf32>, tensor<20xf32>)
  %g1 = zero.accumulate %a#0 into %g [@p] write_first : tensor<70x20xf32>, !zero.grads<@b0>
  %h1 = zero.accumulate %a#1 into %h [@q] add : tensor<20xf32>, !zero.grads<@b0>
  zero.keep %g1 : !zero.grads<@b0>
  zero.keep %h1 : !zero.grads<@b0>
  return
})");
  ASSERT_TRUE(kernels);
  // The first run adds result 1, later ones both; adding to zeros gives the values themselves.
  std::mt19937 generator(3);
  ir::KernelOp kernel = kernels->kernel("k");
  std::vector<Bytes> arguments, before;
  for (Type type : kernel.getArgumentTypes())
    arguments.push_back(randomTensor(type, generator, 1.0, 1));
  for (Type type : kernel.getResultTypes())
    before.push_back(randomTensor(type, generator, 1.0, 1));
  CallOptions first, later;
  first.added = {1};
  first.before = {before[0], Bytes(before[1].size(), 0)};
  later.added = {0, 1};
  later.before = before;
  std::vector<Bytes> values = kernels->call("k", arguments, first);
  std::vector<Bytes> sums = kernels->call("k", arguments, later);
  for (size_t result = 0; result < 2; ++result) {
    std::vector<float> value = floatsOf(values[result]), old = floatsOf(before[result]),
                       sum = floatsOf(sums[result]);
    for (size_t i = 0; i < sum.size(); ++i)
      ASSERT_EQ(sum[i], old[i] + value[i]) << "result " << result << ", element " << i;
  }
}

/// A value has the same bits alone and in a group.
TEST(N0, sameBitsAloneAndInAGroup) {
  auto kernels = Kernels::compile(R"(
zero.kernel @alone(%x: tensor<130x77xf32>) -> tensor<77xf32> kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<130x77xf32>) -> tensor<77xf32>
  zero.yield %0 : tensor<77xf32>
}
zero.kernel @grouped(%x: tensor<130x77xf32>, %w: tensor<77xf32>) -> (tensor<77xf32>, tensor<130x77xf32>) kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<130x77xf32>) -> tensor<77xf32>
  %1 = nn.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<130x77xf32>, tensor<77xf32>, tensor<77xf32>) -> tensor<130x77xf32>
  zero.yield %0, %1 : tensor<77xf32>, tensor<130x77xf32>
}
zero.kernel @inside(%x: tensor<130x77xf32>, %z: tensor<2x77xf32>) -> tensor<2x77xf32> kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<130x77xf32>) -> tensor<77xf32>
  %1 = nn.add %0, %z : (tensor<77xf32>, tensor<2x77xf32>) -> tensor<2x77xf32>
  zero.yield %1 : tensor<2x77xf32>
}
zero.kernel @norm(%x: tensor<130x77xf32>, %w: tensor<77xf32>) -> tensor<130x77xf32> kind generated {
  %1 = nn.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<130x77xf32>, tensor<77xf32>, tensor<77xf32>) -> tensor<130x77xf32>
  zero.yield %1 : tensor<130x77xf32>
})");
  ASSERT_TRUE(kernels);
  std::mt19937 generator(5);
  Bytes x = randomTensor(kernels->kernel("grouped").getArgumentTypes()[0], generator, 1.0, 1);
  Bytes w = randomTensor(kernels->kernel("grouped").getArgumentTypes()[1], generator, 1.0, 1);
  std::vector<Bytes> grouped = kernels->call("grouped", {x, w});
  EXPECT_EQ(kernels->call("alone", {x})[0], grouped[0]);
  EXPECT_EQ(kernels->call("norm", {x, w})[0], grouped[1]);
  // Adding zero leaves a sum as it is.
  Bytes inside = kernels->call("inside", {x, Bytes(2 * 77 * 4, 0)})[0];
  EXPECT_EQ(Bytes(inside.begin(), inside.begin() + 77 * 4), grouped[0]);
}

} // namespace
} // namespace zero::testing
