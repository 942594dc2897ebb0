// RUN: zero-opt %s --nn-autodiff --zero-form-launches | FileCheck %s

// A convolution is a launch of patches and a product that takes bias and activation; backward makes
// its patches by the same kernel, behind a barrier that no pass merges away. Windows of one element
// are a view: their product reads the image.

nn.param @w : tensor<3x3x2x4xf32> init normal(0.1)
nn.param @b : tensor<4xf32> init zeros
nn.param @v : tensor<1x1x4x5xf32> init normal(0.1)

// CHECK:     zero.kernel @patches(%arg0: tensor<2x6x6x2xf32>) -> tensor<2x6x6x3x6xf32> kind generated {
// CHECK:     zero.kernel @dot_general(%arg0: tensor<2x6x6x3x3x2xf32>, %arg1: tensor<3x3x2x4xf32>, %arg2: tensor<4xf32>) -> tensor<2x6x6x4xf32> kind gemm {
// CHECK:       nn.dot_general
// CHECK-NEXT:  nn.add
// CHECK-NEXT:  nn.relu
// CHECK:     zero.kernel @max_pool(
// CHECK-NOT: zero.kernel @patches_1
// CHECK:     func.func @joint
// CHECK:       %[[P:.*]] = zero.launch @patches(%arg0)
// CHECK-NEXT:  %[[V:.*]] = nn.reshape %[[P]] to [-1, 6, 6, 3, 3, 2]
// CHECK-NEXT:  zero.launch @dot_general(%[[V]],
// CHECK:       zero.launch @max_pool(
// CHECK:       nn.barrier %arg0 after
// CHECK-NEXT:  zero.launch @patches(
func.func @loss(%x: tensor<2x6x6x2xf32>, %labels: tensor<2x3x3xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<3x3x2x4xf32>
  %b = nn.read @b : tensor<4xf32>
  %c = nn.convolution %x, %w padding [1, 1, 1, 1] : (tensor<2x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<2x6x6x4xf32>
  %s = nn.add %c, %b : (tensor<2x6x6x4xf32>, tensor<4xf32>) -> tensor<2x6x6x4xf32>
  %a = nn.relu %s : tensor<2x6x6x4xf32>
  %p = nn.max_pool %a window [2, 2] strides [2, 2] : (tensor<2x6x6x4xf32>) -> tensor<2x3x3x4xf32>
  %v = nn.read @v : tensor<1x1x4x5xf32>
  %y = nn.convolution %p, %v : (tensor<2x3x3x4xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x3x5xf32>
  %loss = nn.cross_entropy %y, %labels ignoring -1 : (tensor<2x3x3x5xf32>, tensor<2x3x3xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
