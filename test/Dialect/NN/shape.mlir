// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Shape.td.

// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<?x12xf32>, %y: tensor<4x6xi32>) {
  // CHECK: nn.reshape %{{.*}} to [-1, 3, 4] : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %0 = nn.reshape %x to [-1, 3, 4] : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  // A closed input closes the -1: 24 / (2 · 3) = 4.
  // CHECK: nn.reshape %{{.*}} to [2, -1, 3] : (tensor<4x6xi32>) -> tensor<2x4x3xi32>
  %1 = nn.reshape %y to [2, -1, 3] : (tensor<4x6xi32>) -> tensor<2x4x3xi32>
  return
}

// CHECK-LABEL: @scalar
func.func @scalar(%x: tensor<1x1xf32>) {
  // CHECK: nn.reshape %{{.*}} to [] : (tensor<1x1xf32>) -> tensor<f32>
  %0 = nn.reshape %x to [] : (tensor<1x1xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<2x3xf32>) {
  // CHECK: nn.transpose %{{.*}} by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %y = nn.transpose %x by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<3xf32>, %b: tensor<?x1xf32>) {
  // CHECK: nn.broadcast %{{.*}} to [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
  %0 = nn.broadcast %x to [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.broadcast %{{.*}} to [-1, 3] : (tensor<?x1xf32>) -> tensor<?x3xf32>
  %1 = nn.broadcast %b to [-1, 3] : (tensor<?x1xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @slice
func.func @slice(%x: tensor<?x3xf32>, %y: tensor<5x3xf32>) {
  // CHECK: nn.slice %{{.*}} from [0, 1] sizes [-1, 2] : (tensor<?x3xf32>) -> tensor<?x2xf32>
  %0 = nn.slice %x from [0, 1] sizes [-1, 2] : (tensor<?x3xf32>) -> tensor<?x2xf32>
  // To the end: 5 - 2 = 3 and 3 - 3 = 0.
  // CHECK: nn.slice %{{.*}} from [2, 3] sizes [-1, -1] : (tensor<5x3xf32>) -> tensor<3x0xf32>
  %1 = nn.slice %y from [2, 3] sizes [-1, -1] : (tensor<5x3xf32>) -> tensor<3x0xf32>
  return
}

// CHECK-LABEL: @concat
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %b: tensor<?x3xf32>) {
  // CHECK: nn.concat %{{.*}}, %{{.*}} along 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %0 = nn.concat %x, %y along 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} along 0 : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = nn.concat %x, %b along 0 : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @split
func.func @split(%x: tensor<2x7xf32>) {
  // CHECK: nn.split %{{.*}} along 1 sizes [3, 4] : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>)
  %a, %b = nn.split %x along 1 sizes [3, 4] : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>)
  return
}

// CHECK-LABEL: @pad
func.func @pad(%x: tensor<2x3xf32>, %b: tensor<?x3xf32>) {
  // 0 + 2 + 2 = 4 rows, 1 + 3 + 0 = 4 columns.
  // CHECK: nn.pad %{{.*}} low [0, 1] high [2, 0] : (tensor<2x3xf32>) -> tensor<4x4xf32>
  %0 = nn.pad %x low [0, 1] high [2, 0] : (tensor<2x3xf32>) -> tensor<4x4xf32>
  // CHECK: nn.pad %{{.*}} low [0, 1] high [0, 0] : (tensor<?x3xf32>) -> tensor<?x4xf32>
  %1 = nn.pad %b low [0, 1] high [0, 0] : (tensor<?x3xf32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: @made
func.func @made() {
  // CHECK: nn.iota along 1 : tensor<2x3xi32>
  %i = nn.iota along 1 : tensor<2x3xi32>
  // CHECK: nn.constant dense<5.000000e-01> : tensor<3xf32>
  %c = nn.constant dense<0.5> : tensor<3xf32>
  return
}
