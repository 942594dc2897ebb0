//===- GeneratedReductionsTest.cpp - generated kernels of rows and of columns ---===//

#include "Generated.h"

namespace zero::testing {
namespace {

const GeneratedCase kRows[] = {
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
INSTANTIATE_TEST_SUITE_P(Rows, Generated, ::testing::ValuesIn(kRows), nameOf);

const GeneratedCase kColumns[] = {
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
INSTANTIATE_TEST_SUITE_P(Columns, Generated, ::testing::ValuesIn(kColumns), nameOf);

} // namespace
} // namespace zero::testing
