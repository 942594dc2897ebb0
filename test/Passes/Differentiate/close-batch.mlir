// RUN: zero-opt %s --nn-close-batch=micro-batch=5 | FileCheck %s
// A closed graph stays as it is, and has one batch only.
// RUN: zero-opt %s --nn-close-batch=micro-batch=5 > %t.once
// RUN: zero-opt %t.once --nn-close-batch --nn-close-batch=micro-batch=5 | cmp - %t.once
// RUN: not zero-opt %t.once --nn-close-batch=micro-batch=6 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not zero-opt %s --nn-close-batch 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not zero-opt %s --nn-close-batch=micro-batch=-3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not zero-opt %s --nn-close-batch=micro-batch=9223372036854775807 2>&1 | FileCheck %s --check-prefix=HUGE

// OTHER: error: expects a batch of 5 rows per rank, as the graph is closed with, got 6
// OPEN: error: expects a micro-batch for the open dimension 0 of the arguments: pass --micro-batch (nn-close-batch{micro-batch=B}), got 0
// NEGATIVE: error: expects a micro-batch {{.*}}, got -3
// HUGE: error: expects a tensor of at most 2^63 - 1 bytes, got 'tensor<9223372036854775807x2x3xf32>'

nn.param @w : tensor<6x4xf32> init normal(0.02)

// Called functions are closed by their calls, through each other.
// CHECK: func.func private @inner(%arg0: tensor<5x6xf32>) -> tensor<5x4xf32>
func.func private @inner(%x: tensor<?x6xf32>) -> tensor<?x4xf32> {
  %w = nn.read @w : tensor<6x4xf32>
  %y = nn.linear %x, %w : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
// CHECK: func.func private @block(%arg0: tensor<5x6xf32>) -> tensor<5x4xf32>
func.func private @block(%x: tensor<?x6xf32>) -> tensor<?x4xf32> {
  %y = func.call @inner(%x) : (tensor<?x6xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// An attribute that carries a shape infers its -1 again; dimensions other than the batch stay.
// CHECK-LABEL: func.func @loss(%arg0: tensor<5x2x3xf32> {nn.name = "x"}, %arg1: tensor<5xi32>, %arg2: tensor<f32>) -> tensor<f32>
func.func @loss(%x: tensor<?x2x3xf32> {nn.name = "x"}, %labels: tensor<?xi32>, %scale: tensor<f32>) -> tensor<f32> {
  // CHECK: nn.reshape %arg0 to [-1, 6] : (tensor<5x2x3xf32>) -> tensor<5x6xf32>
  %r = nn.reshape %x to [-1, 6] : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
  // CHECK-COUNT-2: call @block({{.*}}) : (tensor<5x6xf32>) -> tensor<5x4xf32>
  %a = func.call @block(%r) : (tensor<?x6xf32>) -> tensor<?x4xf32>
  %b = func.call @block(%r) : (tensor<?x6xf32>) -> tensor<?x4xf32>
  %c = nn.add %a, %b : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: nn.broadcast {{.*}} to [-1, 4] : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %d = nn.broadcast %c to [-1, 4] : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: nn.slice {{.*}} from [0, 1] sizes [-1, 3] : (tensor<5x4xf32>) -> tensor<5x3xf32>
  %s = nn.slice %d from [0, 1] sizes [-1, 3] : (tensor<?x4xf32>) -> tensor<?x3xf32>
  %loss = nn.cross_entropy %s, %labels ignoring -100 : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
