// RUN: zero-opt %s --nn-autodiff --split-input-file | FileCheck %s

// Dropouts are numbered in the inlined function, so a layer called twice has two; backward repeats
// each on the cotangent. One of rate 0 goes. The key comes before the seed.

nn.param @w : tensor<8x8xf32> init normal(0.1)
func.func private @layer(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = nn.read @w : tensor<8x8xf32>
  %y = nn.linear %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = nn.dropout %y rate 0.25 : tensor<4x8xf32>
  %none = nn.dropout %d rate 0.0 : tensor<4x8xf32>
  return %none : tensor<4x8xf32>
}
// CHECK-LABEL: func.func @joint(%arg0: tensor<4x8xf32>, %arg1: tensor<4xi32> {nn.name = "labels"}, %arg2: tensor<4xi32> {nn.random}, %arg3: tensor<f32>) {
// CHECK:         %[[A:.*]] = nn.linear %arg0
// CHECK-NEXT:    %[[B:.*]] = nn.dropout %[[A]] rate 2.500000e-01 keyed by %arg2 samples 4 site 0
// CHECK:         %[[C:.*]] = nn.linear %[[B]]
// CHECK-NEXT:    %[[D:.*]] = nn.dropout %[[C]] rate 2.500000e-01 keyed by %arg2 samples 4 site 1
// CHECK-NEXT:    %{{.*}}, %[[DL:.*]] = nn.cross_entropy_with_grad %[[D]], %arg1, %arg3
// CHECK-NEXT:    %[[DC:.*]] = nn.dropout %[[DL]] rate 2.500000e-01 keyed by %arg2 samples 4 site 1
// CHECK:         %[[DB:.*]] = nn.dot_general %[[DC]], %{{.*}} contracting [1] x [1]
// CHECK-NEXT:    %[[DA:.*]] = nn.dropout %[[DB]] rate 2.500000e-01 keyed by %arg2 samples 4 site 0
// CHECK-NEXT:    nn.dot_general %arg0, %[[DA]]
// CHECK-NOT:     nn.dropout
func.func @loss(%x: tensor<4x8xf32>, %labels: tensor<4xi32> {nn.name = "labels"}) -> tensor<f32> {
  %a = func.call @layer(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = func.call @layer(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = nn.cross_entropy %b, %labels ignoring -1 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Attention takes part in the numbering; at rate 0 it is plain. Samples are those of the first
// argument, however a value is shaped.

!t = tensor<2x3x2x4xf32>
nn.param @w : tensor<8x8xf32> init normal(0.1)
// CHECK-LABEL: func.func @joint(%arg0: tensor<2x3x8xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<4xi32> {nn.random}, %arg3: tensor<f32>) {
// CHECK:         nn.dropout %{{.*}} rate 5.000000e-01 keyed by %arg2 samples 2 site 0 : tensor<6x8xf32>
// CHECK:         nn.attention %[[Q:.*]], %[[Q]], %[[Q]], %arg2 scale 5.000000e-01 causal dropout 2.000000e-01 site 1 :
// CHECK:         nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 :
// CHECK:         nn.attention_grad {{.*}} scale 5.000000e-01 :
// CHECK:         nn.attention_grad {{.*}}, %arg2 scale 5.000000e-01 causal dropout 2.000000e-01 site 1 :
// CHECK:         nn.dropout %{{.*}} rate 5.000000e-01 keyed by %arg2 samples 2 site 0 : tensor<6x8xf32>
func.func @loss(%x: tensor<2x3x8xf32>, %labels: tensor<2x3xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<8x8xf32>
  %y = nn.linear %x, %w : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %m = nn.reshape %y to [6, 8] : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
  %d = nn.dropout %m rate 0.5 : tensor<6x8xf32>
  %q = nn.reshape %d to [2, 3, 2, 4] : (tensor<6x8xf32>) -> !t
  %o, %lse = nn.attention %q, %q, %q scale 0.5 causal dropout 0.2 : (!t, !t, !t) -> (!t, tensor<2x2x3xf32>)
  %p, %plse = nn.attention %o, %o, %o scale 0.5 dropout 0.0 : (!t, !t, !t) -> (!t, tensor<2x2x3xf32>)
  %z = nn.reshape %p to [2, 3, 8] : (!t) -> tensor<2x3x8xf32>
  %loss = nn.cross_entropy %z, %labels ignoring -1 : (tensor<2x3x8xf32>, tensor<2x3xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
