// RUN: zero-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = nn.reshape %x to [2, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = nn.transpose %0 by [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = nn.broadcast %1 to [2, 3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = nn.slice %2 from [0, 0] sizes [2, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = nn.pad %3 low [0, 0] high [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = nn.convert %4 to f32 : tensor<2x3xf32>
  return %5 : tensor<2x3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
func.func @reshape_of_reshape(%x: tensor<?x12xf32>) -> tensor<?x4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = nn.reshape %{{.*}} to [-1, 4] : (tensor<?x12xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = nn.reshape %x to [-1, 3, 4] : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %1 = nn.reshape %0 to [-1, 4] : (tensor<?x3x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: @there_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<?x12xf32>)
func.func @there_and_back(%x: tensor<?x12xf32>) -> tensor<?x12xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = nn.reshape %x to [-1, 3, 4] : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %1 = nn.reshape %0 to [-1, 12] : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  return %1 : tensor<?x12xf32>
}

// Result dimension i is input dimension p[i], so p then q is p[q[i]]: [1, 2, 0] then [0, 2, 1]
// is [1, 0, 2].
// CHECK-LABEL: @transpose_of_transpose
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  // CHECK-NEXT: nn.transpose %{{.*}} by [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %0 = nn.transpose %x by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 by [0, 2, 1] : (tensor<3x4x2xf32>) -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}

// CHECK-LABEL: @splat
func.func @splat() -> tensor<6x4xf32> {
  // CHECK-NEXT: %[[C:.*]] = nn.constant dense<2.000000e+00> : tensor<6x4xf32>
  // CHECK-NEXT: return %[[C]]
  %0 = nn.constant dense<2.0> : tensor<2x3xf32>
  %1 = nn.reshape %0 to [6, 1] : (tensor<2x3xf32>) -> tensor<6x1xf32>
  %2 = nn.broadcast %1 to [6, 5] : (tensor<6x1xf32>) -> tensor<6x5xf32>
  %3 = nn.slice %2 from [0, 1] sizes [6, 4] : (tensor<6x5xf32>) -> tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// A slice of an open dimension to its end is not the whole unless it starts at 0.
// CHECK-LABEL: @open_slice
func.func @open_slice(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: nn.slice %{{.*}} from [1, 0]
  %0 = nn.slice %x from [1, 0] sizes [-1, -1] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
