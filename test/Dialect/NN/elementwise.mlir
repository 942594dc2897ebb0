// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Elementwise.td.

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<2x3xf32>, %dy: tensor<2x3xf32>) {
  // CHECK: nn.neg %{{.*}} : tensor<2x3xf32>
  %0 = nn.neg %x : tensor<2x3xf32>
  // CHECK: nn.abs %{{.*}} : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  // CHECK: nn.exp %{{.*}} : tensor<2x3xf32>
  %2 = nn.exp %x : tensor<2x3xf32>
  // CHECK: nn.log %{{.*}} : tensor<2x3xf32>
  %3 = nn.log %x : tensor<2x3xf32>
  // CHECK: nn.sqrt %{{.*}} : tensor<2x3xf32>
  %4 = nn.sqrt %x : tensor<2x3xf32>
  // CHECK: nn.rsqrt %{{.*}} : tensor<2x3xf32>
  %5 = nn.rsqrt %x : tensor<2x3xf32>
  // CHECK: nn.tanh %{{.*}} : tensor<2x3xf32>
  %6 = nn.tanh %x : tensor<2x3xf32>
  // CHECK: nn.erf %{{.*}} : tensor<2x3xf32>
  %7 = nn.erf %x : tensor<2x3xf32>
  // CHECK: nn.sigmoid %{{.*}} : tensor<2x3xf32>
  %8 = nn.sigmoid %x : tensor<2x3xf32>
  // CHECK: nn.relu %{{.*}} : tensor<2x3xf32>
  %9 = nn.relu %x : tensor<2x3xf32>
  // CHECK: nn.silu %{{.*}} : tensor<2x3xf32>
  %10 = nn.silu %x : tensor<2x3xf32>
  // CHECK: nn.gelu tanh %{{.*}} : tensor<2x3xf32>
  %11 = nn.gelu tanh %x : tensor<2x3xf32>
  // CHECK: nn.gelu erf %{{.*}} : tensor<2x3xf32>
  %12 = nn.gelu erf %x : tensor<2x3xf32>
  // CHECK: nn.gelu_grad tanh %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %13 = nn.gelu_grad tanh %dy, %x : tensor<2x3xf32>
  // CHECK: nn.silu_grad %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %14 = nn.silu_grad %dy, %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // CHECK: nn.add %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = nn.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.sub
  %1 = nn.sub %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.mul
  %2 = nn.mul %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.div
  %3 = nn.div %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.max
  %4 = nn.max %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.min
  %5 = nn.min %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.compare lt %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %m = nn.compare lt %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: @broadcasting
func.func @broadcasting(%a: tensor<4x1x3xf32>, %b: tensor<2x1xf32>, %s: tensor<f32>) {
  // A 1 stretches on either side, and missing dimensions lead.
  // CHECK: -> tensor<4x2x3xf32>
  %0 = nn.add %a, %b : (tensor<4x1x3xf32>, tensor<2x1xf32>) -> tensor<4x2x3xf32>
  // CHECK: -> tensor<2x1xf32>
  %1 = nn.add %s, %b : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return
}

// CHECK-LABEL: @open_batch
func.func @open_batch(%a: tensor<?x3xf32>, %b: tensor<?x1xf32>, %c: tensor<3xf32>) {
  // CHECK: -> tensor<?x3xf32>
  %0 = nn.add %a, %b : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  // CHECK: -> tensor<?x3xf32>
  %1 = nn.add %c, %0 : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: @select
func.func @select(%m: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>) {
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %z = nn.select %m, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @convert
func.func @convert(%x: tensor<2x3xi1>) -> tensor<2x3xf32> {
  // CHECK: nn.convert %{{.*}} to f32 : tensor<2x3xi1>
  %y = nn.convert %x to f32 : tensor<2x3xi1>
  return %y : tensor<2x3xf32>
}
