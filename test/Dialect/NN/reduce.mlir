// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Reduce.td.

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<2x3xf32>, %b: tensor<?x3xf32>) {
  // CHECK: nn.reduce_sum %{{.*}} over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %0 = nn.reduce_sum %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: nn.reduce_mean %{{.*}} over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %1 = nn.reduce_mean %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: nn.reduce_max %{{.*}} over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %2 = nn.reduce_max %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: nn.reduce_sum %{{.*}} over [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
  %3 = nn.reduce_sum %x over [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK: nn.reduce_sum %{{.*}} over [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = nn.reduce_sum %x over [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
  // CHECK: nn.reduce_max %{{.*}} over [1] : (tensor<?x3xf32>) -> tensor<?xf32>
  %5 = nn.reduce_max %b over [1] : (tensor<?x3xf32>) -> tensor<?xf32>
  // CHECK: nn.reduce_mean %{{.*}} over [0] : (tensor<?x3xf32>) -> tensor<3xf32>
  %6 = nn.reduce_mean %b over [0] : (tensor<?x3xf32>) -> tensor<3xf32>
  return
}
