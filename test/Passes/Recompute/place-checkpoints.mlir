// Three layers of a product and an activation behind a first product: what runs again is cloned behind
// a barrier, before the first launch of backward that reads any of it.
//
// RUN: zero-opt %s --zero-place-checkpoints | FileCheck %s --check-prefix=NONE
// RUN: zero-opt %s --zero-place-checkpoints="recompute=every-block" | FileCheck %s --check-prefix=BLOCK
// Neither canonicalize nor cse merges a clone with what it repeats.
// RUN: zero-opt %s --zero-place-checkpoints="recompute=every-block" --canonicalize --cse | FileCheck %s --check-prefix=BLOCK
// Once is enough.
// RUN: zero-opt %s --zero-place-checkpoints="recompute=every-block" --zero-place-checkpoints="recompute=every-block" | FileCheck %s --check-prefix=BLOCK
// Later levels take it, and its laws hold; nothing is lost on the way.
// RUN: zero-opt %s --zero-pipeline="stage=3 ranks=2 recompute=every-block clean until=arena" | FileCheck %s --check-prefix=ARENA

nn.param @w0 : tensor<4x4xf32> init normal(0.02)
nn.param @w1 : tensor<4x4xf32> init normal(0.02)
nn.param @w2 : tensor<4x4xf32> init normal(0.02)

zero.kernel @fc(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> kind gemm {
  %y = nn.dot_general %x, %w contracting [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  zero.yield %y : tensor<2x4xf32>
}
zero.kernel @gelu(%u: tensor<2x4xf32>) -> tensor<2x4xf32> kind generated {
  %y = nn.gelu tanh %u : tensor<2x4xf32>
  zero.yield %y : tensor<2x4xf32>
}
zero.kernel @mean(%x: tensor<2x4xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2x4xf32>) kind generated {
  %s = nn.reduce_sum %x over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  %l = nn.mul %s, %seed : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %d = nn.broadcast %seed to [2, 4] : (tensor<f32>) -> tensor<2x4xf32>
  zero.yield %l, %d : tensor<f32>, tensor<2x4xf32>
}
zero.kernel @gelu_grad(%dy: tensor<2x4xf32>, %u: tensor<2x4xf32>) -> tensor<2x4xf32> kind generated {
  %a = nn.gelu tanh %u : tensor<2x4xf32>
  %y = nn.mul %dy, %a : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  zero.yield %y : tensor<2x4xf32>
}
zero.kernel @dw(%x: tensor<2x4xf32>, %dy: tensor<2x4xf32>) -> tensor<4x4xf32> kind gemm {
  %y = nn.dot_general %x, %dy contracting [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  zero.yield %y : tensor<4x4xf32>
}
zero.kernel @dx(%dy: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> kind gemm {
  %y = nn.dot_general %dy, %w contracting [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  zero.yield %y : tensor<2x4xf32>
}

// NONE-LABEL: func.func @joint
// NONE-NOT:     nn.barrier

// Of each layer the product runs again: its activation leaves the layer, and is kept.
// BLOCK-LABEL: func.func @joint
// BLOCK:         %[[U0:.*]] = zero.launch @fc(%arg0, %[[W0:.*]]) :
// BLOCK-NEXT:    %[[H0:.*]] = zero.launch @gelu(%[[U0]])
// BLOCK:         %[[U1:.*]] = zero.launch @fc(%[[H0]], %[[W1:.*]]) :
// BLOCK-NEXT:    %[[H1:.*]] = zero.launch @gelu(%[[U1]])
// BLOCK:         %[[U2:.*]] = zero.launch @fc(%[[H1]], %[[W2:.*]]) :
// BLOCK-NEXT:    %[[H2:.*]] = zero.launch @gelu(%[[U2]])
// BLOCK-NEXT:    %[[MEAN:.*]]:2 = zero.launch @mean(%[[H2]], %arg1)
// BLOCK-NEXT:    %[[B2:.*]] = nn.barrier %[[H1]] after %[[MEAN]]#1
// BLOCK-NEXT:    %[[V2:.*]] = zero.launch @fc(%[[B2]], %[[W2]])
// BLOCK-NEXT:    %[[D2:.*]] = zero.launch @gelu_grad(%[[MEAN]]#1, %[[V2]])
// BLOCK-NEXT:    zero.launch @dw(%[[H1]], %[[D2]])
// BLOCK-NEXT:    %[[E1:.*]] = zero.launch @dx(%[[D2]], %[[W2]])
// BLOCK-NEXT:    %[[B1:.*]] = nn.barrier %[[H0]] after %[[E1]]
// BLOCK-NEXT:    %[[V1:.*]] = zero.launch @fc(%[[B1]], %[[W1]])
// BLOCK-NEXT:    %[[D1:.*]] = zero.launch @gelu_grad(%[[E1]], %[[V1]])
// BLOCK-NEXT:    zero.launch @dw(%[[H0]], %[[D1]])
// BLOCK-NEXT:    %[[E0:.*]] = zero.launch @dx(%[[D1]], %[[W1]])
// BLOCK-NEXT:    %[[B0:.*]] = nn.barrier %arg0 after %[[E0]]
// BLOCK-NEXT:    %[[V0:.*]] = zero.launch @fc(%[[B0]], %[[W0]])
// BLOCK-NEXT:    %[[D0:.*]] = zero.launch @gelu_grad(%[[E0]], %[[V0]])
// BLOCK-NEXT:    zero.launch @dw(%arg0, %[[D0]])
// BLOCK-NEXT:    nn.return

// ARENA-COUNT-6: zero.launch @fc(
// ARENA-NOT:     zero.launch @fc(

func.func @joint(%x: tensor<2x4xf32>, %seed: tensor<f32>) {
  %w0 = nn.read @w0 : tensor<4x4xf32>
  %u0 = zero.launch @fc(%x, %w0) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h0 = zero.launch @gelu(%u0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w1 = nn.read @w1 : tensor<4x4xf32>
  %u1 = zero.launch @fc(%h0, %w1) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h1 = zero.launch @gelu(%u1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %w2 = nn.read @w2 : tensor<4x4xf32>
  %u2 = zero.launch @fc(%h1, %w2) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %h2 = zero.launch @gelu(%u2) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss, %e2 = zero.launch @mean(%h2, %seed) : (tensor<2x4xf32>, tensor<f32>) -> (tensor<f32>, tensor<2x4xf32>)
  %d2 = zero.launch @gelu_grad(%e2, %u2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g2 = zero.launch @dw(%h1, %d2) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %e1 = zero.launch @dx(%d2, %w2) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d1 = zero.launch @gelu_grad(%e1, %u1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g1 = zero.launch @dw(%h0, %d1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %e0 = zero.launch @dx(%d1, %w1) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d0 = zero.launch @gelu_grad(%e0, %u0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g0 = zero.launch @dw(%x, %d0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  nn.return %loss grads(%g2 of @w2 : tensor<4x4xf32>, %g1 of @w1 : tensor<4x4xf32>, %g0 of @w0 : tensor<4x4xf32>) : tensor<f32>
}
