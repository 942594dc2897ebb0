// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Contract.td.

// CHECK-LABEL: @dot_general
func.func @dot_general(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %q: tensor<5x2x3xf32>, %k: tensor<5x7x3xf32>,
                       %a: tensor<?x3x4xf32>, %b: tensor<?x6xf32>) {
  // CHECK: nn.dot_general %{{.*}}, %{{.*}} contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %z = nn.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.dot_general %{{.*}}, %{{.*}} batch [0] x [0] contracting [2] x [2] : (tensor<5x2x3xf32>, tensor<5x7x3xf32>) -> tensor<5x2x7xf32>
  %s = nn.dot_general %q, %k batch [0] x [0] contracting [2] x [2]
      : (tensor<5x2x3xf32>, tensor<5x7x3xf32>) -> tensor<5x2x7xf32>
  // The outer product contracts nothing.
  // CHECK: nn.dot_general %{{.*}}, %{{.*}} contracting [] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
  %o = nn.dot_general %x, %y contracting [] x [] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
  // An open dimension may be a batch dimension, and may be contracted away.
  // CHECK: -> tensor<?x3x4x6xf32>
  %p = nn.dot_general %a, %b batch [0] x [0] contracting [] x [] : (tensor<?x3x4xf32>, tensor<?x6xf32>) -> tensor<?x3x4x6xf32>
  // CHECK: -> tensor<3x4x6xf32>
  %r = nn.dot_general %a, %b contracting [0] x [0] : (tensor<?x3x4xf32>, tensor<?x6xf32>) -> tensor<3x4x6xf32>
  return
}

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>, %t: tensor<6x4xf32>, %o: tensor<?x4xf32>) {
  // CHECK: nn.linear %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  %y = nn.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  // CHECK: nn.linear %{{.*}}, %{{.*}} transposed : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %z = nn.linear %x, %t transposed : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  // CHECK: nn.linear %{{.*}}, %{{.*}}, %{{.*}} transposed : (tensor<?x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %v = nn.linear %o, %t, %b transposed : (tensor<?x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}
