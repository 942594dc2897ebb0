// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Norm.td.

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %y = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: @gradients
func.func @gradients(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %dy: tensor<2x4xf32>) {
  // CHECK: nn.layer_norm_grad_input %{{.*}}, %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %dx = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.layer_norm_grad_weight %{{.*}}, %{{.*}} eps 1.000000e-05 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  %dw = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %row: tensor<2x4xf32>, %dy: tensor<2x4xf32>) {
  // CHECK: nn.rms_norm %{{.*}}, %{{.*}} eps 9.9999999999999995E-7 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %y = nn.rms_norm %x, %w eps 1.0e-6 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK: nn.rms_norm_grad_input %{{.*}}, %{{.*}}, %{{.*}} eps 9.9999999999999995E-7 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %dx = nn.rms_norm_grad_input %row, %w, %dy eps 1.0e-6 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.rms_norm_grad_weight %{{.*}}, %{{.*}} eps 9.9999999999999995E-7 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  %dw = nn.rms_norm_grad_weight %row, %dy eps 1.0e-6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<2x4xf32>, %dy: tensor<2x4xf32>, %open: tensor<?x4xf32>) {
  // CHECK: nn.softmax %{{.*}} : tensor<2x4xf32>
  %y = nn.softmax %x : tensor<2x4xf32>
  // CHECK: nn.softmax_grad %{{.*}}, %{{.*}} : tensor<2x4xf32>
  %dx = nn.softmax_grad %y, %dy : tensor<2x4xf32>
  // CHECK: nn.softmax %{{.*}} : tensor<?x4xf32>
  %z = nn.softmax %open : tensor<?x4xf32>
  return
}
