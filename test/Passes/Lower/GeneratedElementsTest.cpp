//===- GeneratedElementsTest.cpp - generated kernels of elements and of moves ---===//

#include "Generated.h"

namespace zero::testing {
namespace {

const GeneratedCase kElementwise[] = {
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
INSTANTIATE_TEST_SUITE_P(Elementwise, Generated, ::testing::ValuesIn(kElementwise), nameOf);

const GeneratedCase kMoves[] = {
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
INSTANTIATE_TEST_SUITE_P(Moves, Generated, ::testing::ValuesIn(kMoves), nameOf);

} // namespace
} // namespace zero::testing
