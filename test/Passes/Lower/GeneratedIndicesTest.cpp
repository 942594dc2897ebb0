//===- GeneratedIndicesTest.cpp - generated kernels that compute with places ---===//

#include "Generated.h"

namespace zero::testing {
namespace {

const GeneratedCase kRotations[] = {
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
INSTANTIATE_TEST_SUITE_P(Rotations, Generated, ::testing::ValuesIn(kRotations), nameOf);

// Masks at each kind of index that a lane may have: consecutive from a multiple of four,
// consecutive from elsewhere, and any other; with rows of one sample, of several, and samples that
// end inside a row. The reference has a generator of its own.
const GeneratedCase kDropout[] = {
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
INSTANTIATE_TEST_SUITE_P(Dropout, Generated, ::testing::ValuesIn(kDropout), nameOf);

// Windows that overlap and that leave elements out, with padding on each side, over few channels
// and over many.
const GeneratedCase kWindows[] = {
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
INSTANTIATE_TEST_SUITE_P(Windows, Generated, ::testing::ValuesIn(kWindows), nameOf);

} // namespace
} // namespace zero::testing
