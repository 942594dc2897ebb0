// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented examples of Launch.td.

// CHECK: zero.kernel @gelu(%{{.*}}: tensor<6x6xf32>) -> tensor<6x6xf32> kind generated may_reuse {{\[\[}}0]] {
zero.kernel @gelu(%u: tensor<6x6xf32>) -> tensor<6x6xf32> kind generated may_reuse [[0]] {
  // CHECK-NEXT: %[[A:.*]] = nn.gelu tanh
  %a = nn.gelu tanh %u : tensor<6x6xf32>
  // CHECK-NEXT: zero.yield %[[A]] : tensor<6x6xf32>
  zero.yield %a : tensor<6x6xf32>
}
// CHECK: zero.kernel @two(%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<f32>) kind gemm may_reuse {{\[\[}}0, 1], []] strides {{\[\[}}1, 2], []] {
zero.kernel @two(%x: tensor<2x3xf32>, %y: tensor<6xf32>) -> (tensor<2x3xf32>, tensor<f32>) kind gemm may_reuse [[0, 1], []] strides [[1, 2], []] {
  %s = nn.reduce_sum %y over [0] : (tensor<6xf32>) -> tensor<f32>
  zero.yield %x, %s : tensor<2x3xf32>, tensor<f32>
}
// CHECK: zero.kernel @none() kind generated attributes {test.note = "kept"} {
// CHECK-NEXT: zero.yield
zero.kernel @none() kind generated attributes {test.note = "kept"} {
  zero.yield
}

// Results are called after their kernel.
// CHECK: zero.segment @update times 1 (%u: tensor<6x6xf32>, %x: tensor<2x3xf32>, %y: tensor<6xf32>) {
zero.segment @update times 1 (%u: tensor<6x6xf32>, %x: tensor<2x3xf32>, %y: tensor<6xf32>) {
  // CHECK-NEXT: %gelu = zero.launch @gelu(%u) : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %a = zero.launch @gelu(%u) : (tensor<6x6xf32>) -> tensor<6x6xf32>
  // CHECK-NEXT: %gelu_0 = zero.launch @gelu(%gelu) on compute to [inout 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %b = zero.launch @gelu(%a) on compute to [inout 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  // CHECK-NEXT: %two:2 = zero.launch @two(%x, %y) on compute to [at 1024, cell] workspace at 2048 : (tensor<2x3xf32>, tensor<6xf32>) -> (tensor<2x3xf32>, tensor<f32>)
  %c, %s = zero.launch @two(%x, %y) on compute to [at 1024, cell] workspace at 2048 : (tensor<2x3xf32>, tensor<6xf32>) -> (tensor<2x3xf32>, tensor<f32>)
  // CHECK-NEXT: zero.launch @none() on compute to [] : () -> ()
  zero.launch @none() on compute to [] : () -> ()
}
