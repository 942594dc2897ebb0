// RUN: zero-opt %s --nn-autodiff --split-input-file --verify-diagnostics | FileCheck %s

// A weight read twice has an entry a use, and no op sums them; the frozen bias has none; the loss's
// mean is weighed by the seed, and its labels are counted.

nn.param @w : tensor<4x4xf32> init normal(0.02)
nn.param @frozen : tensor<4xf32> init zeros {trainable = false}
// expected-warning @below {{the loss does not depend on parameter @unused; it stays as it is}}
nn.param @unused : tensor<3xf32> init zeros
nn.param @frozen_unused : tensor<3xf32> init zeros {trainable = false}
// CHECK-LABEL: func.func @count(%arg0: tensor<1x2xi32> {nn.name = "labels"}) -> tensor<i64>
// CHECK:         %[[N:.*]] = nn.count_labels %arg0 ignoring -1
// CHECK-NEXT:    return %[[N]]
// CHECK-LABEL: func.func @joint(%arg0: tensor<2x4xf32>, %arg1: tensor<2xi32> {nn.name = "labels"}, %arg2: tensor<f32>) {
// CHECK:         %[[W1:.*]] = nn.read @w
// CHECK:         %[[Y:.*]] = nn.linear %arg0, %[[W1]], %{{.*}}
// CHECK:         %[[W2:.*]] = nn.read @w
// CHECK:         %[[Z:.*]] = nn.linear %[[Y]], %[[W2]] :
// CHECK:         %[[LOSS:.*]], %[[DZ:.*]] = nn.cross_entropy_with_grad %[[Z]], %arg1, %arg2 ignoring -1
// CHECK-DAG:     %[[DY:.*]] = nn.dot_general %[[DZ]], %[[W2]] contracting [1] x [1]
// CHECK-DAG:     %[[DW2:.*]] = nn.dot_general %[[Y]], %[[DZ]] contracting [0] x [0]
// CHECK:         %[[DW1:.*]] = nn.dot_general %arg0, %[[DY]] contracting [0] x [0]
// CHECK-NOT:     nn.reduce_sum
// CHECK-NOT:     nn.add
// CHECK:         nn.return %[[LOSS]] grads(%[[DW2]] of @w : tensor<4x4xf32>, %[[DW1]] of @w : tensor<4x4xf32>) : tensor<f32>
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32> {nn.name = "labels"}) -> tensor<f32> {
  %w1 = nn.read @w : tensor<4x4xf32>
  %b = nn.read @frozen : tensor<4xf32>
  %y = nn.linear %x, %w1, %b : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %w2 = nn.read @w : tensor<4x4xf32>
  %z = nn.linear %y, %w2 : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %z, %labels ignoring -1 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Calls are inlined, nested ones too; a function called twice is two uses of its parameter. A cotangent
// that arrives twice at an activation is summed there.

nn.param @w : tensor<4x4xf32> init normal(0.02)
func.func private @inner(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = nn.read @w : tensor<4x4xf32>
  %y = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func private @block(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = func.call @inner(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = nn.add %y, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}
// CHECK-NOT:   @inner
// CHECK-NOT:   @block
// CHECK-LABEL: func.func @joint
// CHECK:         %[[DL:.*]] = nn.cross_entropy_with_grad
// CHECK:         %[[DW2:.*]] = nn.dot_general %{{.*}}, %[[DL:.*]] contracting [0] x [0]
// CHECK:         nn.add
// CHECK:         nn.return {{.*}} grads(%{{.*}} of @w : tensor<4x4xf32>, %{{.*}} of @w : tensor<4x4xf32>)
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %a = func.call @block(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = func.call @block(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %b, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Labels of all micro-steps: zero.config says how many. A reshape of the argument still counts it.

// CHECK: zero.config
// CHECK-LABEL: func.func @count(%arg0: tensor<3x2x3xi32> {nn.name = "arg1"})
// CHECK-LABEL: func.func @joint(%arg0: tensor<6x4xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<f32>)
module attributes {zero.config = {beta1 = 0.9 : f64, beta2 = 0.999 : f64, bucket_bytes = 64 : i64, clip = 0.0 : f64, eps = 1.0e-8 : f64, loss_mean = "step", micro_steps = 3 : i64, momentum = 0.0 : f64, optimizer = "adamw", ranks = 1 : i64, reduce_every = "micro-step", stage = 0 : i64, threads_per_rank = 1 : i64, weight_decay = 0.0 : f64}} {
  nn.param @w : tensor<4x4xf32> init normal(0.02)
  func.func @loss(%x: tensor<6x4xf32>, %labels: tensor<2x3xi32>) -> tensor<f32> {
    %w = nn.read @w : tensor<4x4xf32>
    %y = nn.linear %x, %w : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %flat = nn.reshape %labels to [6] : (tensor<2x3xi32>) -> tensor<6xi32>
    %loss = nn.cross_entropy %y, %flat ignoring -100 : (tensor<6x4xf32>, tensor<6xi32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Any other scalar loss: its gradient begins with the seed (loss scale ÷ (ranks · micro-steps)), the
// logged loss is weighed by it, and nothing is counted. The mean of squares d²: dd = d·s/8 + d·s/8.

nn.param @w : tensor<4x4xf32> init normal(0.02)
// CHECK-NOT:   func.func @count
// CHECK-LABEL: func.func @joint(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<f32>)
// CHECK:         %[[D:.*]] = nn.sub
// CHECK:         %[[MEAN:.*]] = nn.reduce_mean
// CHECK:         %[[LOSS:.*]] = nn.mul %[[MEAN]], %arg2
// CHECK:         %[[EIGHT:.*]] = nn.constant dense<8.000000e+00>
// CHECK:         %[[PART:.*]] = nn.div %arg2, %[[EIGHT]]
// CHECK:         %[[ONE:.*]] = nn.reshape %[[PART]] to [1, 1]
// CHECK:         %[[ALL:.*]] = nn.broadcast %[[ONE]] to [2, 4]
// CHECK:         %[[A:.*]] = nn.mul %[[ALL]], %[[D]]
// CHECK:         %[[B:.*]] = nn.mul %[[ALL]], %[[D]]
// CHECK:         %[[DD:.*]] = nn.add %[[A]], %[[B]]
// CHECK:         %[[DW:.*]] = nn.dot_general %arg0, %[[DD]] contracting [0] x [0]
// CHECK:         nn.return %[[LOSS]] grads(%[[DW]] of @w : tensor<4x4xf32>)
func.func @loss(%x: tensor<2x4xf32>, %t: tensor<2x4xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %y = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d = nn.sub %y, %t : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = nn.mul %d, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = nn.reduce_mean %s over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  return %m : tensor<f32>
}

// -----

// A cross_entropy inside a larger loss is a mean over its own labels: the kernel's seed is 1 ÷ count
// forward, and the cotangent ÷ count backward; nothing is counted over the ranks.

nn.param @w : tensor<4x4xf32> init normal(0.02)
// CHECK-NOT:   func.func @count
// CHECK-NOT:   nn.cross_entropy %
// CHECK-LABEL: func.func @joint(%arg0: tensor<2x4xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>)
// CHECK:         %[[Y:.*]] = nn.linear
// CHECK:         %[[IS:.*]] = nn.compare ne %arg1
// CHECK:         %[[ONES:.*]] = nn.convert %[[IS]] to f32
// CHECK:         %[[SUM:.*]] = nn.reduce_sum %[[ONES]] over [0]
// CHECK:         %[[COUNT:.*]] = nn.max %[[SUM]],
// CHECK:         %[[SHARE:.*]] = nn.div %{{.*}}, %[[COUNT]]
// CHECK:         %[[CE:.*]], %{{.*}} = nn.cross_entropy_with_grad %[[Y]], %arg1, %[[SHARE]] ignoring -100
// CHECK:         %[[MEAN:.*]] = nn.reduce_mean
// CHECK:         %[[BOTH:.*]] = nn.add %[[CE]], %[[MEAN]]
// CHECK:         %[[LOSS:.*]] = nn.mul %[[BOTH]], %arg2
// CHECK:         %[[PART:.*]] = nn.div %arg2, %{{.*}}
// CHECK:         %[[SEED:.*]] = nn.div %arg2, %{{.*}}
// CHECK:         %{{.*}}, %[[DY:.*]] = nn.cross_entropy_with_grad %[[Y]], %arg1, %[[SEED]] ignoring -100
// CHECK:         nn.return %[[LOSS]] grads(
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %y = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %ce = nn.cross_entropy %y, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  %m = nn.reduce_mean %y over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  %loss = nn.add %ce, %m : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A parameter that is the loss: its gradient is the seed itself.

nn.param @w : tensor<f32> init ones
// CHECK-LABEL: func.func @joint(%arg0: tensor<f32>)
// CHECK:         %[[W:.*]] = nn.read @w
// CHECK:         %[[LOSS:.*]] = nn.mul %[[W]], %arg0
// CHECK:         nn.return %[[LOSS]] grads(%arg0 of @w : tensor<f32>)
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<f32>
  return %w : tensor<f32>
}
