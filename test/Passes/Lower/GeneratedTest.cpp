//===- GeneratedTest.cpp - generated kernels against the reference -------------------===//
//
// Each case is one kernel. It runs with its buffers at offsets of 0, 4 and 60
// bytes, in one piece and in several, with each result over each argument that
// deriveMayReuse allows: all byte-equal (law N0). Then the first run is compared with the
// f64 reference within `tolerance`·(1 + |reference|).
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace zero::testing {
namespace {

struct Case {
  const char *name;
  const char *text; // defines @k
  double tolerance = 1e-6;
  int64_t bound = 5; // of integer arguments
  double scale = 1.0;
};

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

class Generated : public ::testing::TestWithParam<Case> {};

TEST_P(Generated, N0_bitsDependOnOperandBitsAlone) {
  const Case &test = GetParam();
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

const Case kElementwise[] = {
    {"chainOverOneDimension", R"(
zero.kernel @k(%x: tensor<3x7x5xf32>, %y: tensor<3x7x5xf32>) -> tensor<3x7x5xf32> kind generated {
  %0 = nn.add %x, %y : (tensor<3x7x5xf32>, tensor<3x7x5xf32>) -> tensor<3x7x5xf32>
  %1 = nn.gelu tanh %0 : tensor<3x7x5xf32>
  %2 = nn.mul %1, %y : (tensor<3x7x5xf32>, tensor<3x7x5xf32>) -> tensor<3x7x5xf32>
  zero.yield %2 : tensor<3x7x5xf32>
})"},
    {"severalUnits", R"(
zero.kernel @k(%x: tensor<100x129xf32>) -> tensor<100x129xf32> kind generated {
  %0 = nn.silu %x : tensor<100x129xf32>
  zero.yield %0 : tensor<100x129xf32>
})"},
    {"broadcasts", R"(
zero.kernel @k(%x: tensor<3x5x19xf32>, %b: tensor<19xf32>, %s: tensor<f32>, %c: tensor<5x1xf32>) -> tensor<3x5x19xf32> kind generated {
  %0 = nn.add %x, %b : (tensor<3x5x19xf32>, tensor<19xf32>) -> tensor<3x5x19xf32>
  %1 = nn.mul %0, %s : (tensor<3x5x19xf32>, tensor<f32>) -> tensor<3x5x19xf32>
  %2 = nn.sub %1, %c : (tensor<3x5x19xf32>, tensor<5x1xf32>) -> tensor<3x5x19xf32>
  zero.yield %2 : tensor<3x5x19xf32>
})"},
    {"smallTimesSmall", R"(
zero.kernel @k(%a: tensor<4x1xf32>, %b: tensor<1x23xf32>, %c: tensor<23xf32>) -> tensor<4x23xf32> kind generated {
  %0 = nn.mul %b, %c : (tensor<1x23xf32>, tensor<23xf32>) -> tensor<1x23xf32>
  %1 = nn.add %a, %0 : (tensor<4x1xf32>, tensor<1x23xf32>) -> tensor<4x23xf32>
  zero.yield %1 : tensor<4x23xf32>
})"},
    {"transposedView", R"(
zero.kernel @k(%x: tensor<9x21xf32>, %y: tensor<9x21xf32>) -> tensor<9x21xf32> kind generated strides [[1, 9], []] {
  %0 = nn.sub %x, %y : (tensor<9x21xf32>, tensor<9x21xf32>) -> tensor<9x21xf32>
  zero.yield %0 : tensor<9x21xf32>
})"},
    {"broadcastView", R"(
zero.kernel @k(%x: tensor<4x17xf32>) -> tensor<4x17xf32> kind generated strides [[17, 1]] {
  zero.yield %x : tensor<4x17xf32>
})"},
    {"copyOfSlices", R"(
zero.kernel @k(%x: tensor<3x4x5x6xf32>) -> tensor<3x4x5x6xf32> kind generated strides [[400, 7, 30, 1]] {
  zero.yield %x : tensor<3x4x5x6xf32>
})"},
    {"twoResults", R"(
zero.kernel @k(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>, tensor<6x20xf32>) kind generated {
  %0 = nn.add %x, %y : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  %1 = nn.relu %0 : tensor<6x20xf32>
  zero.yield %0, %1 : tensor<6x20xf32>, tensor<6x20xf32>
})"},
    {"compareAndSelect", R"(
zero.kernel @k(%i: tensor<7x19xi32>, %x: tensor<7x19xf32>, %m: tensor<19xi1>) -> (tensor<7x19xf32>, tensor<7x19xi1>) kind generated {
  %two = nn.constant dense<2> : tensor<i32>
  %0 = nn.compare lt %i, %two : (tensor<7x19xi32>, tensor<i32>) -> tensor<7x19xi1>
  %1 = nn.neg %x : tensor<7x19xf32>
  %2 = nn.select %0, %x, %1 : (tensor<7x19xi1>, tensor<7x19xf32>, tensor<7x19xf32>) -> tensor<7x19xf32>
  %3 = nn.convert %m to f32 : tensor<19xi1>
  %4 = nn.mul %2, %3 : (tensor<7x19xf32>, tensor<19xf32>) -> tensor<7x19xf32>
  zero.yield %4, %0 : tensor<7x19xf32>, tensor<7x19xi1>
})"},
    {"activations", R"(
zero.kernel @k(%x: tensor<40x50xf32>) -> (tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>) kind generated {
  %0 = nn.gelu tanh %x : tensor<40x50xf32>
  %1 = nn.gelu erf %x : tensor<40x50xf32>
  %2 = nn.silu %x : tensor<40x50xf32>
  zero.yield %0, %1, %2 : tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>
})",
     5e-7, 5, 4.0},
    {"activationGradients", R"(
zero.kernel @k(%x: tensor<40x50xf32>, %dy: tensor<40x50xf32>) -> (tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>) kind generated {
  %0 = nn.gelu_grad tanh %dy, %x : tensor<40x50xf32>
  %1 = nn.gelu_grad erf %dy, %x : tensor<40x50xf32>
  %2 = nn.silu_grad %dy, %x : tensor<40x50xf32>
  zero.yield %0, %1, %2 : tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>
})",
     2e-6, 5, 4.0},
    {"extremes", R"(
zero.kernel @k(%x: tensor<40x50xf32>) -> (tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>) kind generated {
  %0 = nn.gelu_grad tanh %x, %x : tensor<40x50xf32>
  %1 = nn.silu_grad %x, %x : tensor<40x50xf32>
  %2 = nn.gelu tanh %x : tensor<40x50xf32>
  zero.yield %0, %1, %2 : tensor<40x50xf32>, tensor<40x50xf32>, tensor<40x50xf32>
})",
     2e-6, 5, 1e5},
    {"scalars", R"(
zero.kernel @k(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> kind generated {
  %0 = nn.div %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  zero.yield %0 : tensor<f32>
})"},
    {"doubles", R"(
zero.kernel @k(%x: tensor<5x18xf64>) -> tensor<5x18xf32> kind generated {
  %0 = nn.exp %x : tensor<5x18xf64>
  %1 = nn.convert %0 to f32 : tensor<5x18xf64>
  zero.yield %1 : tensor<5x18xf32>
})"},
};
INSTANTIATE_TEST_SUITE_P(Elementwise, Generated, ::testing::ValuesIn(kElementwise),
                         [](auto &info) { return info.param.name; });

const Case kRows[] = {
    {"layerNorm", R"(
zero.kernel @k(%x: tensor<2x3x37xf32>, %w: tensor<37xf32>, %b: tensor<37xf32>) -> tensor<2x3x37xf32> kind generated {
  %y = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x3x37xf32>, tensor<37xf32>, tensor<37xf32>) -> tensor<2x3x37xf32>
  zero.yield %y : tensor<2x3x37xf32>
})",
     2e-6},
    {"layerNormOfSum", R"(
zero.kernel @k(%x: tensor<5x48xf32>, %r: tensor<5x48xf32>, %w: tensor<48xf32>, %b: tensor<48xf32>) -> (tensor<5x48xf32>, tensor<5x48xf32>) kind generated {
  %s = nn.add %x, %r : (tensor<5x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %y = nn.layer_norm %s, %w, %b eps 1.0e-5 : (tensor<5x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<5x48xf32>
  zero.yield %s, %y : tensor<5x48xf32>, tensor<5x48xf32>
})",
     2e-6},
    {"layerNormGradWithResidual", R"(
zero.kernel @k(%x: tensor<2x35x19xf32>, %w: tensor<19xf32>, %dy: tensor<2x35x19xf32>, %dh: tensor<2x35x19xf32>) -> (tensor<19xf32>, tensor<19xf32>, tensor<2x35x19xf32>) kind generated {
  %0 = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<2x35x19xf32>, tensor<19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  %1 = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<19xf32>
  %2 = nn.reduce_sum %dy over [0, 1] : (tensor<2x35x19xf32>) -> tensor<19xf32>
  %3 = nn.add %0, %dh : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  zero.yield %1, %2, %3 : tensor<19xf32>, tensor<19xf32>, tensor<2x35x19xf32>
})",
     6e-6},
    {"layerNormGradWeightAlone", R"(
zero.kernel @k(%x: tensor<70x50xf32>, %dy: tensor<70x50xf32>) -> tensor<50xf32> kind generated {
  %1 = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<70x50xf32>, tensor<70x50xf32>) -> tensor<50xf32>
  zero.yield %1 : tensor<50xf32>
})",
     6e-6},
    {"rmsNormOfSum", R"(
zero.kernel @k(%x: tensor<5x37xf32>, %r: tensor<5x37xf32>, %w: tensor<37xf32>) -> (tensor<5x37xf32>, tensor<5x37xf32>) kind generated {
  %s = nn.add %x, %r : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  %y = nn.rms_norm %s, %w eps 1.0e-6 : (tensor<5x37xf32>, tensor<37xf32>) -> tensor<5x37xf32>
  zero.yield %s, %y : tensor<5x37xf32>, tensor<5x37xf32>
})",
     2e-6},
    {"rmsNormGradWithResidual", R"(
zero.kernel @k(%x: tensor<2x35x19xf32>, %w: tensor<19xf32>, %dy: tensor<2x35x19xf32>, %dh: tensor<2x35x19xf32>) -> (tensor<19xf32>, tensor<2x35x19xf32>) kind generated {
  %0 = nn.rms_norm_grad_input %x, %w, %dy eps 1.0e-6 : (tensor<2x35x19xf32>, tensor<19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  %1 = nn.rms_norm_grad_weight %x, %dy eps 1.0e-6 : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<19xf32>
  %3 = nn.add %0, %dh : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  zero.yield %1, %3 : tensor<19xf32>, tensor<2x35x19xf32>
})",
     6e-6},
    {"rmsNormGradWeightAlone", R"(
zero.kernel @k(%x: tensor<70x50xf32>, %dy: tensor<70x50xf32>) -> tensor<50xf32> kind generated {
  %1 = nn.rms_norm_grad_weight %x, %dy eps 1.0e-6 : (tensor<70x50xf32>, tensor<70x50xf32>) -> tensor<50xf32>
  zero.yield %1 : tensor<50xf32>
})",
     6e-6},
    {"bothNormsOfOneValue", R"(
zero.kernel @k(%x: tensor<3x21xf32>, %w: tensor<21xf32>) -> (tensor<3x21xf32>, tensor<3x21xf32>) kind generated {
  %0 = nn.rms_norm %x, %w eps 1.0e-5 : (tensor<3x21xf32>, tensor<21xf32>) -> tensor<3x21xf32>
  %1 = nn.layer_norm %x, %w, %w eps 1.0e-5 : (tensor<3x21xf32>, tensor<21xf32>, tensor<21xf32>) -> tensor<3x21xf32>
  zero.yield %0, %1 : tensor<3x21xf32>, tensor<3x21xf32>
})",
     3e-6},
    {"softmax", R"(
zero.kernel @k(%x: tensor<4x3x33xf32>) -> tensor<4x3x33xf32> kind generated {
  %y = nn.softmax %x : tensor<4x3x33xf32>
  zero.yield %y : tensor<4x3x33xf32>
})",
     1e-6, 5, 4.0},
    {"softmaxOfMaskedScores", R"(
zero.kernel @k(%x: tensor<4x31xf32>, %m: tensor<31xi1>, %low: tensor<f32>) -> tensor<4x31xf32> kind generated {
  %0 = nn.select %m, %x, %low : (tensor<31xi1>, tensor<4x31xf32>, tensor<f32>) -> tensor<4x31xf32>
  %y = nn.softmax %0 : tensor<4x31xf32>
  zero.yield %y : tensor<4x31xf32>
})"},
    {"softmaxGrad", R"(
zero.kernel @k(%y: tensor<6x40xf32>, %dy: tensor<6x40xf32>) -> tensor<6x40xf32> kind generated {
  %dx = nn.softmax_grad %y, %dy : tensor<6x40xf32>
  zero.yield %dx : tensor<6x40xf32>
})",
     3e-6},
    {"longRowInBlocks", R"(
zero.kernel @k(%x: tensor<2x5003xf32>) -> (tensor<2xf32>, tensor<2x1xf32>, tensor<2xf32>) kind generated {
  %0 = nn.reduce_sum %x over [1] : (tensor<2x5003xf32>) -> tensor<2xf32>
  %1 = nn.reduce_max %x over [1] keep : (tensor<2x5003xf32>) -> tensor<2x1xf32>
  %2 = nn.reduce_mean %x over [1] : (tensor<2x5003xf32>) -> tensor<2xf32>
  zero.yield %0, %1, %2 : tensor<2xf32>, tensor<2x1xf32>, tensor<2xf32>
})",
     3e-6},
    {"rowScalarsUsedAlongTheRow", R"(
zero.kernel @k(%x: tensor<3x4x21xf32>) -> (tensor<3x4x21xf32>, tensor<3x4xf32>) kind generated {
  %m = nn.reduce_max %x over [2] keep : (tensor<3x4x21xf32>) -> tensor<3x4x1xf32>
  %d = nn.sub %x, %m : (tensor<3x4x21xf32>, tensor<3x4x1xf32>) -> tensor<3x4x21xf32>
  %e = nn.exp %d : tensor<3x4x21xf32>
  %s = nn.reduce_sum %e over [2] : (tensor<3x4x21xf32>) -> tensor<3x4xf32>
  %r = nn.reshape %s to [3, 4, 1] : (tensor<3x4xf32>) -> tensor<3x4x1xf32>
  %y = nn.div %e, %r : (tensor<3x4x21xf32>, tensor<3x4x1xf32>) -> tensor<3x4x21xf32>
  zero.yield %y, %s : tensor<3x4x21xf32>, tensor<3x4xf32>
})"},
    {"rmsNormWritten", R"(
zero.kernel @k(%x: tensor<5x30xf32>, %w: tensor<30xf32>) -> tensor<5x30xf32> kind generated {
  %eps = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.mul %x, %x : (tensor<5x30xf32>, tensor<5x30xf32>) -> tensor<5x30xf32>
  %1 = nn.reduce_mean %0 over [1] keep : (tensor<5x30xf32>) -> tensor<5x1xf32>
  %2 = nn.add %1, %eps : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %3 = nn.rsqrt %2 : tensor<5x1xf32>
  %4 = nn.mul %x, %3 : (tensor<5x30xf32>, tensor<5x1xf32>) -> tensor<5x30xf32>
  %5 = nn.mul %4, %w : (tensor<5x30xf32>, tensor<30xf32>) -> tensor<5x30xf32>
  zero.yield %5 : tensor<5x30xf32>
})",
     2e-6},
    {"softmaxThenTranspose", R"(
zero.kernel @k(%x: tensor<4x6xf32>) -> tensor<6x4xf32> kind generated {
  %0 = nn.softmax %x : tensor<4x6xf32>
  %1 = nn.transpose %0 by [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  zero.yield %1 : tensor<6x4xf32>
})"},
    {"softmaxOverHeads", R"(
zero.kernel @k(%x: tensor<3x24xf32>) -> tensor<3x24xf32> kind generated {
  %0 = nn.reshape %x to [3, 2, 12] : (tensor<3x24xf32>) -> tensor<3x2x12xf32>
  %1 = nn.softmax %0 : tensor<3x2x12xf32>
  %2 = nn.reshape %1 to [3, 24] : (tensor<3x2x12xf32>) -> tensor<3x24xf32>
  zero.yield %2 : tensor<3x24xf32>
})"},
};
INSTANTIATE_TEST_SUITE_P(Rows, Generated, ::testing::ValuesIn(kRows),
                         [](auto &info) { return info.param.name; });

const Case kRotations[] = {
    {"halvesWithinOneVector", R"(
zero.kernel @k(%x: tensor<2x5x3x14xf32>) -> tensor<2x5x3x14xf32> kind generated {
  %y = nn.rotary %x frequencies [1.0, 0.9, 0.7, 0.3, 0.1, 0.05, 0.01] : tensor<2x5x3x14xf32>
  zero.yield %y : tensor<2x5x3x14xf32>
})"},
    {"middleInsideTheSecondVector", R"(
zero.kernel @k(%x: tensor<2x3x2x38xf32>) -> tensor<2x3x2x38xf32> kind generated {
  %y = nn.rotary %x frequencies [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01] factor 1.3 inverse : tensor<2x3x2x38xf32>
  zero.yield %y : tensor<2x3x2x38xf32>
})"},
    {"wholeVectors", R"(
zero.kernel @k(%x: tensor<1x3x2x32xf32>) -> tensor<1x3x2x32xf32> kind generated {
  %y = nn.rotary %x frequencies [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04] : tensor<1x3x2x32xf32>
  zero.yield %y : tensor<1x3x2x32xf32>
})"},
    // 1,000,001 rad is 318,310 half turns: f32 angles would be off by 0.03.
    {"largeAngles", R"(
zero.kernel @k(%x: tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32> kind generated {
  %y = nn.rotary %x frequencies [1000001.0] : tensor<1x2x3x2xf32>
  zero.yield %y : tensor<1x2x3x2xf32>
})"},
    {"partOfAPackedProjection", R"(
zero.kernel @k(%x: tensor<2x3x2x6xf32>) -> tensor<2x3x2x6xf32> kind generated strides [[90, 30, 6, 1]] {
  %y = nn.rotary %x frequencies [1.0, 0.5, 0.1] : tensor<2x3x2x6xf32>
  zero.yield %y : tensor<2x3x2x6xf32>
})"},
    {"lanesOverHeadsAndPositions", R"(
zero.kernel @k(%x: tensor<2x5x3x4xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x3x5xf32>) kind generated {
  %0 = nn.rotary %x frequencies [1.0, 0.1] : tensor<2x5x3x4xf32>
  %1 = nn.transpose %0 by [0, 3, 1, 2] : (tensor<2x5x3x4xf32>) -> tensor<2x4x5x3xf32>
  %2 = nn.transpose %0 by [0, 3, 2, 1] : (tensor<2x5x3x4xf32>) -> tensor<2x4x3x5xf32>
  zero.yield %1, %2 : tensor<2x4x5x3xf32>, tensor<2x4x3x5xf32>
})"},
    {"normBeforeAndSumBehind", R"(
zero.kernel @k(%x: tensor<2x5x3x12xf32>, %w: tensor<12xf32>) -> (tensor<2x5x3xf32>, tensor<12xf32>) kind generated {
  %0 = nn.rms_norm %x, %w eps 1.0e-5 : (tensor<2x5x3x12xf32>, tensor<12xf32>) -> tensor<2x5x3x12xf32>
  %1 = nn.rotary %0 frequencies [1.0, 0.9, 0.8, 0.7, 0.6, 0.5] : tensor<2x5x3x12xf32>
  %2 = nn.reduce_sum %1 over [3] : (tensor<2x5x3x12xf32>) -> tensor<2x5x3xf32>
  %3 = nn.reduce_sum %1 over [0, 1, 2] : (tensor<2x5x3x12xf32>) -> tensor<12xf32>
  zero.yield %2, %3 : tensor<2x5x3xf32>, tensor<12xf32>
})",
     6e-6},
    {"depthOfTwoTimesOnePosition", R"(
zero.kernel @k(%x: tensor<3x1x1x2xf32>) -> tensor<3x1x1x2xf32> kind generated {
  %y = nn.rotary %x frequencies [1.0] factor 0.5 : tensor<3x1x1x2xf32>
  zero.yield %y : tensor<3x1x1x2xf32>
})"},
};
INSTANTIATE_TEST_SUITE_P(Rotations, Generated, ::testing::ValuesIn(kRotations),
                         [](auto &info) { return info.param.name; });

// Masks at each kind of index that a lane may have: consecutive from a multiple of four,
// consecutive from elsewhere, and any other; with rows of one sample, of several, and samples that
// end inside a row. The reference has a generator of its own.
const Case kDropout[] = {
    {"rowsOfOneSample", R"(
zero.kernel @k(%x: tensor<3x4x40xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<3x4x40xf32> kind generated {
  %0 = nn.dropout %x rate 0.3 keyed by %r, %s samples 3 : tensor<3x4x40xf32>
  zero.yield %0 : tensor<3x4x40xf32>
})"},
    {"oddRows", R"(
zero.kernel @k(%x: tensor<3x7x21xf32>, %r: tensor<4xi32>) -> tensor<3x7x21xf32> kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 3 site 4000000000 : tensor<3x7x21xf32>
  zero.yield %0 : tensor<3x7x21xf32>
})"},
    {"mergedSamples", R"(
zero.kernel @k(%x: tensor<12x20xf32>, %r: tensor<4xi32>) -> tensor<12x20xf32> kind generated {
  %0 = nn.dropout %x rate 0.1 keyed by %r samples 3 site 2 : tensor<12x20xf32>
  zero.yield %0 : tensor<12x20xf32>
})"},
    {"samplesInsideARow", R"(
zero.kernel @k(%x: tensor<4x30xf32>, %r: tensor<4xi32>) -> tensor<4x30xf32> kind generated {
  %0 = nn.dropout %x rate 0.4 keyed by %r samples 8 site 1 : tensor<4x30xf32>
  zero.yield %0 : tensor<4x30xf32>
})"},
    {"wideRowsInBlocks", R"(
zero.kernel @k(%x: tensor<2x9001xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<2x9001xf32> kind generated {
  %0 = nn.dropout %x rate 0.25 keyed by %r, %s samples 1 : tensor<2x9001xf32>
  zero.yield %0 : tensor<2x9001xf32>
})"},
    {"oneDimension", R"(
zero.kernel @k(%x: tensor<33xf32>, %r: tensor<4xi32>) -> tensor<33xf32> kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 33 site 1 : tensor<33xf32>
  zero.yield %0 : tensor<33xf32>
})"},
    {"scalarForm", R"(
zero.kernel @k(%x: tensor<6x1xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<6x1xf32> kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r, %s samples 2 : tensor<6x1xf32>
  zero.yield %0 : tensor<6x1xf32>
})"},
    {"chainWithTwoSites", R"(
zero.kernel @k(%x: tensor<4x6x32xf32>, %y: tensor<4x6x32xf32>, %b: tensor<32xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<4x6x32xf32> kind generated {
  %0 = nn.add %x, %b : (tensor<4x6x32xf32>, tensor<32xf32>) -> tensor<4x6x32xf32>
  %1 = nn.dropout %0 rate 0.2 keyed by %r, %s samples 4 : tensor<4x6x32xf32>
  %2 = nn.add %1, %y : (tensor<4x6x32xf32>, tensor<4x6x32xf32>) -> tensor<4x6x32xf32>
  %3 = nn.dropout %2 rate 0.5 keyed by %r samples 4 site 9 : tensor<4x6x32xf32>
  zero.yield %3 : tensor<4x6x32xf32>
})"},
    {"transposed", R"(
zero.kernel @k(%x: tensor<4x24xf32>, %r: tensor<4xi32>) -> (tensor<24x4xf32>, tensor<24x4xf32>) kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 4 site 3 : tensor<4x24xf32>
  %1 = nn.transpose %0 by [1, 0] : (tensor<4x24xf32>) -> tensor<24x4xf32>
  %2 = nn.dropout %1 rate 0.5 keyed by %r samples 2 site 3 : tensor<24x4xf32>
  zero.yield %1, %2 : tensor<24x4xf32>, tensor<24x4xf32>
})"},
    {"slicedAndReshaped", R"(
zero.kernel @k(%x: tensor<4x40xf32>, %r: tensor<4xi32>) -> tensor<6x18xf32> kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 4 site 3 : tensor<4x40xf32>
  %1 = nn.slice %0 from [1, 3] sizes [3, 36] : (tensor<4x40xf32>) -> tensor<3x36xf32>
  %2 = nn.reshape %1 to [6, 18] : (tensor<3x36xf32>) -> tensor<6x18xf32>
  zero.yield %2 : tensor<6x18xf32>
})"},
    {"broadcastInput", R"(
zero.kernel @k(%x: tensor<4x1xf32>, %y: tensor<1x20xf32>, %r: tensor<4xi32>) -> tensor<4x20xf32> kind generated {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 4 site 0 : tensor<4x1xf32>
  %1 = nn.mul %0, %y : (tensor<4x1xf32>, tensor<1x20xf32>) -> tensor<4x20xf32>
  zero.yield %1 : tensor<4x20xf32>
})"},
    {"residualAndNorm", R"(
zero.kernel @k(%x: tensor<2x3x48xf32>, %h: tensor<2x3x48xf32>, %w: tensor<48xf32>, %b: tensor<48xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> (tensor<2x3x48xf32>, tensor<2x3x48xf32>) kind generated {
  %0 = nn.dropout %x rate 0.1 keyed by %r, %s samples 2 : tensor<2x3x48xf32>
  %1 = nn.add %0, %h : (tensor<2x3x48xf32>, tensor<2x3x48xf32>) -> tensor<2x3x48xf32>
  %2 = nn.layer_norm %1, %w, %b eps 1.0e-5 : (tensor<2x3x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<2x3x48xf32>
  zero.yield %1, %2 : tensor<2x3x48xf32>, tensor<2x3x48xf32>
})",
     2e-6},
    {"gradientsAroundANorm", R"(
zero.kernel @k(%x: tensor<2x35x19xf32>, %w: tensor<19xf32>, %dy: tensor<2x35x19xf32>, %dh: tensor<2x35x19xf32>, %r: tensor<4xi32>) -> (tensor<19xf32>, tensor<19xf32>, tensor<2x35x19xf32>) kind generated {
  %d = nn.dropout %dy rate 0.1 keyed by %r samples 2 site 5 : tensor<2x35x19xf32>
  %0 = nn.layer_norm_grad_input %x, %w, %d eps 1.0e-5 : (tensor<2x35x19xf32>, tensor<19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  %1 = nn.layer_norm_grad_weight %x, %d eps 1.0e-5 : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<19xf32>
  %2 = nn.reduce_sum %d over [0, 1] : (tensor<2x35x19xf32>) -> tensor<19xf32>
  %3 = nn.add %0, %dh : (tensor<2x35x19xf32>, tensor<2x35x19xf32>) -> tensor<2x35x19xf32>
  zero.yield %1, %2, %3 : tensor<19xf32>, tensor<19xf32>, tensor<2x35x19xf32>
})",
     8e-6},
    {"softmaxAndSums", R"(
zero.kernel @k(%x: tensor<4x3x24xf32>, %r: tensor<4xi32>) -> (tensor<4x3x24xf32>, tensor<4x3xf32>, tensor<3x24xf32>) kind generated {
  %0 = nn.softmax %x : tensor<4x3x24xf32>
  %1 = nn.dropout %0 rate 0.1 keyed by %r samples 4 site 5 : tensor<4x3x24xf32>
  %2 = nn.reduce_sum %1 over [2] : (tensor<4x3x24xf32>) -> tensor<4x3xf32>
  %3 = nn.reduce_sum %1 over [0] : (tensor<4x3x24xf32>) -> tensor<3x24xf32>
  zero.yield %1, %2, %3 : tensor<4x3x24xf32>, tensor<4x3xf32>, tensor<3x24xf32>
})"},
    {"embedded", R"(
zero.kernel @k(%i: tensor<3x4xi32>, %t: tensor<5x16xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<3x4x16xf32> kind generated {
  %0 = nn.embedding %i, %t : (tensor<3x4xi32>, tensor<5x16xf32>) -> tensor<3x4x16xf32>
  %1 = nn.dropout %0 rate 0.1 keyed by %r, %s samples 3 : tensor<3x4x16xf32>
  zero.yield %1 : tensor<3x4x16xf32>
})"},
    {"strided", R"(
zero.kernel @k(%x: tensor<6x20xf32>, %r: tensor<4xi32>) -> tensor<6x20xf32> kind generated strides [[1, 6], []] {
  %0 = nn.dropout %x rate 0.5 keyed by %r samples 6 site 3 : tensor<6x20xf32>
  zero.yield %0 : tensor<6x20xf32>
})"},
    {"doubles", R"(
zero.kernel @k(%x: tensor<5x18xf64>, %r: tensor<4xi32>) -> tensor<5x18xf64> kind generated {
  %0 = nn.dropout %x rate 0.3 keyed by %r samples 5 site 3 : tensor<5x18xf64>
  zero.yield %0 : tensor<5x18xf64>
})"},
};
INSTANTIATE_TEST_SUITE_P(Dropout, Generated, ::testing::ValuesIn(kDropout),
                         [](auto &info) { return info.param.name; });

// Windows that overlap and that leave elements out, with padding on each side, over few channels and
// over many.
const Case kWindows[] = {
    {"patches", R"(
zero.kernel @k(%x: tensor<2x5x6x3xf32>) -> tensor<2x3x6x3x9xf32> kind generated {
  %0 = nn.patches %x window [3, 3] strides [2, 1] padding [1, 1, 1, 1] : (tensor<2x5x6x3xf32>) -> tensor<2x3x6x3x9xf32>
  zero.yield %0 : tensor<2x3x6x3x9xf32>
})",
     0},
    {"patchesWithoutPadding", R"(
zero.kernel @k(%x: tensor<2x7x9x20xf32>) -> tensor<2x2x4x3x40xf32> kind generated {
  %0 = nn.patches %x window [3, 2] strides [4, 2] : (tensor<2x7x9x20xf32>) -> tensor<2x2x4x3x40xf32>
  zero.yield %0 : tensor<2x2x4x3x40xf32>
})",
     0},
    {"patchesOfOneChannel", R"(
zero.kernel @k(%x: tensor<3x5x9x1xf32>) -> tensor<3x4x10x2x2xf32> kind generated {
  %0 = nn.patches %x window [2, 2] padding [0, 0, 1, 1] : (tensor<3x5x9x1xf32>) -> tensor<3x4x10x2x2xf32>
  zero.yield %0 : tensor<3x4x10x2x2xf32>
})",
     0},
    {"patchesOfSingleColumns", R"(
zero.kernel @k(%x: tensor<2x5x4x1xf32>) -> tensor<2x5x4x3x1xf32> kind generated {
  %0 = nn.patches %x window [3, 1] padding [2, 0, 0, 0] : (tensor<2x5x4x1xf32>) -> tensor<2x5x4x3x1xf32>
  zero.yield %0 : tensor<2x5x4x3x1xf32>
})",
     0},
    {"patchesOfChannelsFirst", R"(
zero.kernel @k(%x: tensor<2x5x6x3xf32>) -> tensor<2x5x6x3x9xf32> kind generated strides [[90, 6, 1, 30]] {
  %0 = nn.patches %x window [3, 3] padding [1, 1, 1, 1] : (tensor<2x5x6x3xf32>) -> tensor<2x5x6x3x9xf32>
  zero.yield %0 : tensor<2x5x6x3x9xf32>
})",
     0},
    {"patchesOfOneChannelFirst", R"(
zero.kernel @k(%x: tensor<2x5x6x1xf32>) -> tensor<2x5x6x3x3xf32> kind generated strides [[30, 6, 1, 0]] {
  %0 = nn.patches %x window [3, 3] padding [1, 1, 1, 1] : (tensor<2x5x6x1xf32>) -> tensor<2x5x6x3x3xf32>
  zero.yield %0 : tensor<2x5x6x3x3xf32>
})",
     0},
    {"patchesGrad", R"(
zero.kernel @k(%dp: tensor<2x3x6x3x9xf32>) -> tensor<2x5x6x3xf32> kind generated {
  %0 = nn.patches_grad %dp window [3, 3] strides [2, 1] padding [1, 1, 1, 1] into [5, 6] : (tensor<2x3x6x3x9xf32>) -> tensor<2x5x6x3xf32>
  zero.yield %0 : tensor<2x5x6x3xf32>
})"},
    {"patchesGradOverManyChannels", R"(
zero.kernel @k(%dp: tensor<2x2x4x3x40xf32>) -> tensor<2x7x10x20xf32> kind generated {
  %0 = nn.patches_grad %dp window [3, 2] strides [4, 3] padding [0, 0, 0, 1] into [7, 10] : (tensor<2x2x4x3x40xf32>) -> tensor<2x7x10x20xf32>
  zero.yield %0 : tensor<2x7x10x20xf32>
})"},
    {"patchesGradOfOneChannel", R"(
zero.kernel @k(%dp: tensor<1x3x3x3x3xf32>) -> tensor<1x5x5x1xf32> kind generated {
  %0 = nn.patches_grad %dp window [3, 3] into [5, 5] : (tensor<1x3x3x3x3xf32>) -> tensor<1x5x5x1xf32>
  zero.yield %0 : tensor<1x5x5x1xf32>
})"},
    {"maxPool", R"(
zero.kernel @k(%x: tensor<2x7x5x19xf32>) -> tensor<2x4x5x19xf32> kind generated {
  %0 = nn.max_pool %x window [3, 2] strides [2, 1] padding [1, 1, 0, 1] : (tensor<2x7x5x19xf32>) -> tensor<2x4x5x19xf32>
  zero.yield %0 : tensor<2x4x5x19xf32>
})",
     0},
    {"maxPoolOfOneChannel", R"(
zero.kernel @k(%x: tensor<2x6x6x1xf32>) -> tensor<2x3x3x1xf32> kind generated {
  %0 = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x6x6x1xf32>) -> tensor<2x3x3x1xf32>
  zero.yield %0 : tensor<2x3x3x1xf32>
})",
     0},
    {"maxPoolGrad", R"(
zero.kernel @k(%x: tensor<2x7x5x19xf32>, %dy: tensor<2x4x5x19xf32>) -> tensor<2x7x5x19xf32> kind generated {
  %y = nn.max_pool %x window [3, 2] strides [2, 1] padding [1, 1, 0, 1] : (tensor<2x7x5x19xf32>) -> tensor<2x4x5x19xf32>
  %0 = nn.max_pool_grad %x, %y, %dy window [3, 2] strides [2, 1] padding [1, 1, 0, 1] : (tensor<2x7x5x19xf32>, tensor<2x4x5x19xf32>, tensor<2x4x5x19xf32>) -> tensor<2x7x5x19xf32>
  zero.yield %0 : tensor<2x7x5x19xf32>
})"},
    {"maxPoolGradWithTies", R"(
zero.kernel @k(%i: tensor<2x3x3x18xi32>, %dy: tensor<2x1x1x18xf32>) -> tensor<2x3x3x18xf32> kind generated {
  %x = nn.convert %i to f32 : tensor<2x3x3x18xi32>
  %y = nn.max_pool %x window [3, 3] strides [2, 2] : (tensor<2x3x3x18xf32>) -> tensor<2x1x1x18xf32>
  %0 = nn.max_pool_grad %x, %y, %dy window [3, 3] strides [2, 2] : (tensor<2x3x3x18xf32>, tensor<2x1x1x18xf32>, tensor<2x1x1x18xf32>) -> tensor<2x3x3x18xf32>
  zero.yield %0 : tensor<2x3x3x18xf32>
})",
     0, 3},
    {"avgPool", R"(
zero.kernel @k(%x: tensor<2x7x5x19xf32>) -> tensor<2x3x5x19xf32> kind generated {
  %0 = nn.avg_pool %x window [3, 3] strides [2, 1] padding [0, 0, 1, 1] : (tensor<2x7x5x19xf32>) -> tensor<2x3x5x19xf32>
  zero.yield %0 : tensor<2x3x5x19xf32>
})"},
    {"avgPoolGrad", R"(
zero.kernel @k(%dy: tensor<2x3x5x19xf32>) -> tensor<2x8x5x19xf32> kind generated {
  %0 = nn.avg_pool_grad %dy window [3, 3] strides [2, 1] padding [0, 0, 1, 1] into [8, 5] : (tensor<2x3x5x19xf32>) -> tensor<2x8x5x19xf32>
  zero.yield %0 : tensor<2x8x5x19xf32>
})"},
    {"wholeImage", R"(
zero.kernel @k(%x: tensor<5x4x4x33xf32>) -> tensor<5x1x1x33xf32> kind generated {
  %0 = nn.avg_pool %x window [4, 4] : (tensor<5x4x4x33xf32>) -> tensor<5x1x1x33xf32>
  zero.yield %0 : tensor<5x1x1x33xf32>
})"},
    {"transposedPool", R"(
zero.kernel @k(%x: tensor<2x4x4x3xf32>) -> tensor<3x2x2x2xf32> kind generated {
  %0 = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  %1 = nn.transpose %0 by [3, 0, 1, 2] : (tensor<2x2x2x3xf32>) -> tensor<3x2x2x2xf32>
  zero.yield %1 : tensor<3x2x2x2xf32>
})",
     0},
};
INSTANTIATE_TEST_SUITE_P(Windows, Generated, ::testing::ValuesIn(kWindows),
                         [](auto &info) { return info.param.name; });

const Case kColumns[] = {
    {"biasGradient", R"(
zero.kernel @k(%x: tensor<3x71x19xf32>) -> tensor<19xf32> kind generated {
  %0 = nn.reduce_sum %x over [0, 1] : (tensor<3x71x19xf32>) -> tensor<19xf32>
  zero.yield %0 : tensor<19xf32>
})",
     1e-5},
    {"wideInBlocks", R"(
zero.kernel @k(%x: tensor<9x601xf32>, %y: tensor<9x601xf32>) -> (tensor<601xf32>, tensor<1x601xf32>) kind generated {
  %0 = nn.mul %x, %y : (tensor<9x601xf32>, tensor<9x601xf32>) -> tensor<9x601xf32>
  %1 = nn.reduce_mean %0 over [0] : (tensor<9x601xf32>) -> tensor<601xf32>
  %2 = nn.reduce_max %x over [0] keep : (tensor<9x601xf32>) -> tensor<1x601xf32>
  zero.yield %1, %2 : tensor<601xf32>, tensor<1x601xf32>
})"},
    {"batchSum", R"(
zero.kernel @k(%x: tensor<5x4x18xf32>) -> tensor<4x18xf32> kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<5x4x18xf32>) -> tensor<4x18xf32>
  zero.yield %0 : tensor<4x18xf32>
})"},
    {"middle", R"(
zero.kernel @k(%x: tensor<5x7x18xf32>, %s: tensor<5x18xf32>) -> tensor<5x18xf32> kind generated {
  %0 = nn.reduce_sum %x over [1] : (tensor<5x7x18xf32>) -> tensor<5x18xf32>
  %1 = nn.mul %0, %s : (tensor<5x18xf32>, tensor<5x18xf32>) -> tensor<5x18xf32>
  zero.yield %1 : tensor<5x18xf32>
})",
     2e-6},
    {"everything", R"(
zero.kernel @k(%x: tensor<3x70x21xf32>) -> (tensor<f32>, tensor<1x1x1xf32>) kind generated {
  %0 = nn.reduce_mean %x over [0, 1, 2] : (tensor<3x70x21xf32>) -> tensor<f32>
  %1 = nn.reduce_max %x over [0, 1, 2] keep : (tensor<3x70x21xf32>) -> tensor<1x1x1xf32>
  zero.yield %0, %1 : tensor<f32>, tensor<1x1x1xf32>
})"},
    {"outerAndLast", R"(
zero.kernel @k(%x: tensor<6x5x17xf32>) -> tensor<5xf32> kind generated {
  %0 = nn.reduce_sum %x over [0, 2] : (tensor<6x5x17xf32>) -> tensor<5xf32>
  zero.yield %0 : tensor<5xf32>
})",
     5e-6},
    {"subtractedColumnMean", R"(
zero.kernel @k(%x: tensor<6x22xf32>) -> tensor<6x22xf32> kind generated {
  %0 = nn.reduce_mean %x over [0] : (tensor<6x22xf32>) -> tensor<22xf32>
  %1 = nn.sub %x, %0 : (tensor<6x22xf32>, tensor<22xf32>) -> tensor<6x22xf32>
  zero.yield %1 : tensor<6x22xf32>
})"},
    {"columnsOfTransposedView", R"(
zero.kernel @k(%x: tensor<9x20xf32>) -> tensor<20xf32> kind generated strides [[1, 9]] {
  %0 = nn.reduce_sum %x over [0] : (tensor<9x20xf32>) -> tensor<20xf32>
  zero.yield %0 : tensor<20xf32>
})",
     2e-6},
    {"rowsAndColumnsOfOneShape", R"(
zero.kernel @k(%dy: tensor<8x25xf32>, %x: tensor<8x25xf32>) -> (tensor<8x25xf32>, tensor<25xf32>) kind generated {
  %0 = nn.gelu_grad erf %dy, %x : tensor<8x25xf32>
  %1 = nn.reduce_sum %0 over [0] : (tensor<8x25xf32>) -> tensor<25xf32>
  zero.yield %0, %1 : tensor<8x25xf32>, tensor<25xf32>
})",
     2e-6},
    {"stagesThatShareNothing", R"(
zero.kernel @k(%x: tensor<8x25xf32>, %y: tensor<3xf32>) -> (tensor<25x8xf32>, tensor<25xf32>, tensor<3xf32>) kind generated {
  %0 = nn.transpose %x by [1, 0] : (tensor<8x25xf32>) -> tensor<25x8xf32>
  %1 = nn.reduce_sum %x over [0] : (tensor<8x25xf32>) -> tensor<25xf32>
  %2 = nn.neg %y : tensor<3xf32>
  zero.yield %0, %1, %2 : tensor<25x8xf32>, tensor<25xf32>, tensor<3xf32>
})",
     2e-6},
};
INSTANTIATE_TEST_SUITE_P(Columns, Generated, ::testing::ValuesIn(kColumns),
                         [](auto &info) { return info.param.name; });

const Case kMoves[] = {
    {"embeddingAndPositions", R"(
zero.kernel @k(%t: tensor<2x3xi32>, %w: tensor<5x19xf32>, %p: tensor<3x19xf32>) -> tensor<2x3x19xf32> kind generated {
  %0 = nn.embedding %t, %w : (tensor<2x3xi32>, tensor<5x19xf32>) -> tensor<2x3x19xf32>
  %1 = nn.add %0, %p : (tensor<2x3x19xf32>, tensor<3x19xf32>) -> tensor<2x3x19xf32>
  zero.yield %1 : tensor<2x3x19xf32>
})"},
    {"embeddingOfWideIndices", R"(
zero.kernel @k(%t: tensor<7xi64>, %w: tensor<5x1xf32>) -> tensor<7x1xf32> kind generated {
  %0 = nn.embedding %t, %w : (tensor<7xi64>, tensor<5x1xf32>) -> tensor<7x1xf32>
  zero.yield %0 : tensor<7x1xf32>
})"},
    {"gatherAlongTheLast", R"(
zero.kernel @k(%x: tensor<4x5xf32>, %i: tensor<20xi32>) -> tensor<4x20xf32> kind generated {
  %0 = nn.gather %x, %i along 1 : (tensor<4x5xf32>, tensor<20xi32>) -> tensor<4x20xf32>
  zero.yield %0 : tensor<4x20xf32>
})"},
    {"gatherAlongTheMiddle", R"(
zero.kernel @k(%x: tensor<2x5x18xf32>, %i: tensor<2x2xi32>) -> tensor<2x2x2x18xf32> kind generated {
  %0 = nn.gather %x, %i along 1 : (tensor<2x5x18xf32>, tensor<2x2xi32>) -> tensor<2x2x2x18xf32>
  zero.yield %0 : tensor<2x2x2x18xf32>
})"},
    {"transposeOfThree", R"(
zero.kernel @k(%x: tensor<3x18x5xf32>) -> tensor<5x3x18xf32> kind generated {
  %0 = nn.transpose %x by [2, 0, 1] : (tensor<3x18x5xf32>) -> tensor<5x3x18xf32>
  zero.yield %0 : tensor<5x3x18xf32>
})"},
    {"concatAlongTheLast", R"(
zero.kernel @k(%x: tensor<3x5xf32>, %y: tensor<3x20xf32>, %z: tensor<3x1xf32>) -> tensor<3x26xf32> kind generated {
  %0 = nn.concat %x, %y, %z along 1 : (tensor<3x5xf32>, tensor<3x20xf32>, tensor<3x1xf32>) -> tensor<3x26xf32>
  zero.yield %0 : tensor<3x26xf32>
})"},
    {"concatAlongTheFirst", R"(
zero.kernel @k(%x: tensor<3x17xf32>, %y: tensor<2x17xf32>) -> tensor<5x17xf32> kind generated {
  %0 = nn.concat %x, %y along 0 : (tensor<3x17xf32>, tensor<2x17xf32>) -> tensor<5x17xf32>
  %1 = nn.neg %0 : tensor<5x17xf32>
  zero.yield %1 : tensor<5x17xf32>
})"},
    {"concatOfNorms", R"(
zero.kernel @k(%x: tensor<3x17xf32>, %y: tensor<2x17xf32>) -> tensor<5x17xf32> kind generated {
  %0 = nn.softmax %x : tensor<3x17xf32>
  %1 = nn.softmax %y : tensor<2x17xf32>
  %2 = nn.concat %0, %1 along 0 : (tensor<3x17xf32>, tensor<2x17xf32>) -> tensor<5x17xf32>
  zero.yield %2 : tensor<5x17xf32>
})"},
    {"pad", R"(
zero.kernel @k(%x: tensor<3x17xf32>) -> tensor<6x23xf32> kind generated {
  %0 = nn.pad %x low [2, 4] high [1, 2] : (tensor<3x17xf32>) -> tensor<6x23xf32>
  zero.yield %0 : tensor<6x23xf32>
})"},
    {"reshapeCutsVectors", R"(
zero.kernel @k(%x: tensor<6x7xf32>) -> tensor<42xf32> kind generated {
  %0 = nn.transpose %x by [1, 0] : (tensor<6x7xf32>) -> tensor<7x6xf32>
  %1 = nn.reshape %0 to [42] : (tensor<7x6xf32>) -> tensor<42xf32>
  %2 = nn.neg %1 : tensor<42xf32>
  zero.yield %2 : tensor<42xf32>
})"},
    {"reshapeOfStridedView", R"(
zero.kernel @k(%x: tensor<4x3x5xf32>) -> tensor<12x5xf32> kind generated strides [[40, 7, 1]] {
  %0 = nn.reshape %x to [12, 5] : (tensor<4x3x5xf32>) -> tensor<12x5xf32>
  %1 = nn.abs %0 : tensor<12x5xf32>
  zero.yield %1 : tensor<12x5xf32>
})"},
    {"sliceAndSplit", R"(
zero.kernel @k(%x: tensor<4x40xf32>) -> tensor<4x18xf32> kind generated {
  %a, %b = nn.split %x along 1 sizes [22, 18] : (tensor<4x40xf32>) -> (tensor<4x22xf32>, tensor<4x18xf32>)
  %0 = nn.slice %a from [0, 3] sizes [4, 18] : (tensor<4x22xf32>) -> tensor<4x18xf32>
  %1 = nn.sub %b, %0 : (tensor<4x18xf32>, tensor<4x18xf32>) -> tensor<4x18xf32>
  zero.yield %1 : tensor<4x18xf32>
})"},
    {"broadcastOp", R"(
zero.kernel @k(%x: tensor<1x18xf32>) -> tensor<2x3x18xf32> kind generated {
  %0 = nn.broadcast %x to [2, 3, 18] : (tensor<1x18xf32>) -> tensor<2x3x18xf32>
  zero.yield %0 : tensor<2x3x18xf32>
})"},
    {"iotas", R"(
zero.kernel @k() -> (tensor<3x18xi32>, tensor<3x18xf32>, tensor<3x18xi64>) kind generated {
  %0 = nn.iota along 1 : tensor<3x18xi32>
  %1 = nn.iota along 0 : tensor<3x18xf32>
  %2 = nn.iota along 1 : tensor<3x18xi64>
  zero.yield %0, %1, %2 : tensor<3x18xi32>, tensor<3x18xf32>, tensor<3x18xi64>
})"},
    {"constants", R"(
zero.kernel @k(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xi1>) kind generated {
  %0 = nn.constant dense<[1.5, -2.0, 4.0]> : tensor<3xf32>
  %1 = nn.constant dense<[true, false, true]> : tensor<3xi1>
  %2 = nn.mul %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = nn.select %1, %2, %x : (tensor<3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  zero.yield %3, %1 : tensor<2x3xf32>, tensor<3xi1>
})"},
    {"splat", R"(
zero.kernel @k() -> tensor<3x18xf32> kind generated {
  %0 = nn.constant dense<0.25> : tensor<3x18xf32>
  zero.yield %0 : tensor<3x18xf32>
})"},
    {"causalMask", R"(
zero.kernel @k(%x: tensor<2x19x19xf32>, %low: tensor<f32>) -> tensor<2x19x19xf32> kind generated {
  %i = nn.iota along 0 : tensor<19x19xi32>
  %j = nn.iota along 1 : tensor<19x19xi32>
  %m = nn.compare ge %i, %j : (tensor<19x19xi32>, tensor<19x19xi32>) -> tensor<19x19xi1>
  %0 = nn.select %m, %x, %low : (tensor<19x19xi1>, tensor<2x19x19xf32>, tensor<f32>) -> tensor<2x19x19xf32>
  %1 = nn.softmax %0 : tensor<2x19x19xf32>
  zero.yield %1 : tensor<2x19x19xf32>
})"},
};
INSTANTIATE_TEST_SUITE_P(Moves, Generated, ::testing::ValuesIn(kMoves),
                         [](auto &info) { return info.param.name; });

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
