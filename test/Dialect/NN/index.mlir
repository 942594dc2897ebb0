// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Index.td.

// CHECK-LABEL: @index
func.func @index(%ids: tensor<2x3xi32>, %table: tensor<5x4xf32>, %x: tensor<2x5x3xf32>, %i: tensor<4xi32>,
                 %dx: tensor<2x3x4xf32>, %open: tensor<?x3xi64>) {
  // CHECK: nn.embedding %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  %0 = nn.embedding %ids, %table : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: nn.embedding %{{.*}}, %{{.*}} padding 0 : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  %5 = nn.embedding %ids, %table padding 0 : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: nn.gather %{{.*}}, %{{.*}} along 1 : (tensor<2x5x3xf32>, tensor<4xi32>) -> tensor<2x4x3xf32>
  %1 = nn.gather %x, %i along 1 : (tensor<2x5x3xf32>, tensor<4xi32>) -> tensor<2x4x3xf32>
  // CHECK: nn.scatter_add %{{.*}}, %{{.*}} into 5 rows : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
  %2 = nn.scatter_add %ids, %dx into 5 rows : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
  // CHECK: nn.embedding %{{.*}}, %{{.*}} : (tensor<?x3xi64>, tensor<5x4xf32>) -> tensor<?x3x4xf32>
  %3 = nn.embedding %open, %table : (tensor<?x3xi64>, tensor<5x4xf32>) -> tensor<?x3x4xf32>
  // CHECK: nn.gather %{{.*}}, %{{.*}} along 2 : (tensor<2x5x3xf32>, tensor<2x3xi32>) -> tensor<2x5x2x3xf32>
  %4 = nn.gather %x, %ids along 2 : (tensor<2x5x3xf32>, tensor<2x3xi32>) -> tensor<2x5x2x3xf32>
  return
}
