// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Params.td, read, printed and read again.

// CHECK: nn.param @fc.weight : tensor<6x4xf32> init normal(0.02)
nn.param @fc.weight : tensor<6x4xf32> init normal(0.02)
// CHECK: nn.param @fc.bias : tensor<4xf32> init zeros {weight_decay = false}
nn.param @fc.bias : tensor<4xf32> init zeros {weight_decay = false}
// CHECK: nn.param @ln.weight : tensor<4xf32> init ones {trainable = false}
nn.param @ln.weight : tensor<4xf32> init ones {trainable = false}
// CHECK: nn.param @table : tensor<5x4xf32> init normal(0.02) zero_row 0
nn.param @table : tensor<5x4xf32> init normal(0.02) zero_row 0
// Numbers print as the shortest digits that read back as the same number.
// CHECK: nn.param @a : tensor<1xf64> init constant(1.5)
nn.param @a : tensor<1xf64> init constant(1.5)
// CHECK: nn.param @b : tensor<1xbf16> init uniform(0.1)
nn.param @b : tensor<1xbf16> init uniform(0.1)
// CHECK: nn.param @c : tensor<1xf16> init constant(-1.0e-30)
nn.param @c : tensor<1xf16> init constant(-1.0e-30)
// CHECK: nn.param @d : tensor<1xf32> init normal(2.0)
nn.param @d : tensor<1xf32> init normal(2.000)
// CHECK: nn.param @e : tensor<f32> init zeros
nn.param @e : tensor<f32> init zeros

// CHECK-LABEL: @read
func.func @read() -> tensor<6x4xf32> {
  // CHECK: %{{.*}} = nn.read @fc.weight : tensor<6x4xf32>
  %w = nn.read @fc.weight : tensor<6x4xf32>
  return %w : tensor<6x4xf32>
}

// CHECK-LABEL: @barrier
func.func @barrier(%x: tensor<6x4xf32>, %dy: tensor<6x5xf32>) -> tensor<6x4xf32> {
  // CHECK: nn.barrier %{{.*}} after %{{.*}} : tensor<6x4xf32>, tensor<6x5xf32>
  %x2 = nn.barrier %x after %dy : tensor<6x4xf32>, tensor<6x5xf32>
  return %x2 : tensor<6x4xf32>
}

// CHECK-LABEL: @joint
func.func @joint(%loss: tensor<f32>, %dw: tensor<6x4xf32>, %db: tensor<4xf32>) {
  // CHECK: nn.return %{{.*}} grads(%{{.*}} of @fc.weight : tensor<6x4xf32>, %{{.*}} of @fc.bias : tensor<4xf32>) : tensor<f32>
  nn.return %loss grads(%dw of @fc.weight : tensor<6x4xf32>, %db of @fc.bias : tensor<4xf32>) : tensor<f32>
}

// CHECK-LABEL: @nothing_trained
func.func @nothing_trained(%loss: tensor<f32>) {
  // CHECK: nn.return %{{.*}} grads() : tensor<f32>
  nn.return %loss grads() : tensor<f32>
}
