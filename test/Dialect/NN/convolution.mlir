// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Convolution.td.

!x = tensor<2x8x8x3xf32>

// CHECK-LABEL: @examples
func.func @examples(%x: !x, %w: tensor<3x3x3x5xf32>) {
  // CHECK: nn.convolution %{{.*}}, %{{.*}} strides [2, 2] padding [1, 1, 1, 1] : (tensor<2x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32>
  %y = nn.convolution %x, %w strides [2, 2] padding [1, 1, 1, 1]
      : (!x, tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32>
  // CHECK: nn.patches %{{.*}} window [3, 3] strides [2, 2] padding [1, 1, 1, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3x9xf32>
  %p = nn.patches %x window [3, 3] strides [2, 2] padding [1, 1, 1, 1] : (!x) -> tensor<2x4x4x3x9xf32>
  // CHECK: nn.patches_grad %{{.*}} window [3, 3] strides [2, 2] padding [1, 1, 1, 1] into [8, 8] : (tensor<2x4x4x3x9xf32>) -> tensor<2x8x8x3xf32>
  %dp = nn.patches_grad %p window [3, 3] strides [2, 2] padding [1, 1, 1, 1] into [8, 8] : (tensor<2x4x4x3x9xf32>) -> !x
  // CHECK: nn.max_pool %{{.*}} window [2, 2] strides [2, 2] : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32>
  %m = nn.max_pool %x window [2, 2] strides [2, 2] : (!x) -> tensor<2x4x4x3xf32>
  // CHECK: nn.max_pool_grad %{{.*}}, %{{.*}}, %{{.*}} window [2, 2] strides [2, 2] : (tensor<2x8x8x3xf32>, tensor<2x4x4x3xf32>, tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32>
  %dm = nn.max_pool_grad %x, %m, %m window [2, 2] strides [2, 2] : (!x, tensor<2x4x4x3xf32>, tensor<2x4x4x3xf32>) -> !x
  // CHECK: nn.avg_pool %{{.*}} window [3, 3] padding [1, 1, 1, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
  %a = nn.avg_pool %x window [3, 3] strides [1, 1] padding [1, 1, 1, 1] : (!x) -> !x
  // CHECK: nn.avg_pool_grad %{{.*}} window [2, 2] strides [2, 2] into [8, 8] : (tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32>
  %da = nn.avg_pool_grad %m window [2, 2] strides [2, 2] into [8, 8] : (tensor<2x4x4x3xf32>) -> !x
  return
}

// An open batch; windows that leave a row and a column of the image over: (7 - 3) / 3 + 1 = 2 down,
// (5 + 1 - 2) / 3 + 1 = 2 across.
// CHECK-LABEL: @open
func.func @open(%x: tensor<?x7x5x3xbf16>, %w: tensor<3x2x3x4xbf16>) {
  // CHECK: nn.convolution {{.*}} -> tensor<?x2x2x4xbf16>
  %y = nn.convolution %x, %w strides [3, 3] padding [0, 0, 1, 0] : (tensor<?x7x5x3xbf16>, tensor<3x2x3x4xbf16>) -> tensor<?x2x2x4xbf16>
  // CHECK: nn.max_pool {{.*}} -> tensor<?x7x5x3xbf16>
  %m = nn.max_pool %x window [1, 1] : (tensor<?x7x5x3xbf16>) -> tensor<?x7x5x3xbf16>
  return
}
