// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented examples of Rotary.td, and an open batch.

// CHECK-LABEL: @rotary
func.func @rotary(%x: tensor<2x5x3x4xf32>, %dy: tensor<2x5x3x4xf32>, %open: tensor<?x5x3x4xf32>) {
  // CHECK: nn.rotary %{{.*}} frequencies [1.0, 0.01] : tensor<2x5x3x4xf32>
  %y = nn.rotary %x frequencies [1.0, 0.01] : tensor<2x5x3x4xf32>
  // CHECK: nn.rotary %{{.*}} frequencies [1.0, 0.01] factor 1.200000e+00 inverse : tensor<2x5x3x4xf32>
  %dx = nn.rotary %dy frequencies [1.0, 0.01] factor 1.2 inverse : tensor<2x5x3x4xf32>
  // CHECK: nn.rotary %{{.*}} frequencies [1.0, 0.01] inverse : tensor<?x5x3x4xf32>
  %z = nn.rotary %open frequencies [1.0, 0.01] factor 1.0 inverse : tensor<?x5x3x4xf32>
  // Digits as many as it takes.
  // CHECK: nn.rotary %{{.*}} frequencies [1.0, 0.08333333333333333] : tensor<2x5x3x4xf32>
  %t = nn.rotary %x frequencies [1.0, 0.083333333333333333] : tensor<2x5x3x4xf32>
  return
}
