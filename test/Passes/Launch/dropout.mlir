// RUN: zero-opt %s --nn-autodiff --zero-form-launches | FileCheck %s
// RUN: zero-opt %s --zero-pipeline="ranks=2 micro-steps=4 until=sharded" | FileCheck %s --check-prefix=SHARDED

// Sites are slices of one list, so that two layers share their kernels, forward and backward alike.

nn.param @w : tensor<8x8xf32> init normal(0.1)

// CHECK:     zero.kernel @dropout(%arg0: tensor<4x8xf32>, %arg1: tensor<4xi32>, %arg2: tensor<1xi32>, %arg3: tensor<4x8xf32>) -> tensor<4x8xf32> kind generated may_reuse {{\[\[}}0, 3]] {
// CHECK:       nn.dropout %arg0 rate 2.500000e-01 keyed by %arg1, %arg2 samples 4 : tensor<4x8xf32>
// CHECK:     zero.kernel @dropout_1(
// CHECK:     zero.kernel @iota() -> tensor<2xi32>
// CHECK-NOT: zero.kernel
// CHECK:     func.func @joint
// CHECK:       %[[SITES:.*]] = zero.launch @iota()
// CHECK-DAG:   %[[FIRST:.*]] = nn.slice %[[SITES]] from [0] sizes [1]
// CHECK-DAG:   %[[SECOND:.*]] = nn.slice %[[SITES]] from [1] sizes [1]
// CHECK:       zero.launch @dropout({{.*}}, %arg2, %[[FIRST]], %arg0)
// CHECK:       zero.launch @dropout({{.*}}, %arg2, %[[SECOND]], {{.*}})
// CHECK:       zero.launch @dropout_1({{.*}}, %arg2, %[[SECOND]])
// CHECK:       zero.launch @dropout_1({{.*}}, %arg2, %[[FIRST]])

// The key is a cell that the micro-step sets first: four words, not one for each of four runs.
// SHARDED:       zero.cell @random : tensor<4xi32>
// SHARDED:       zero.segment @micro_step times 4 (%arg0: tensor<4x8xf32>, %arg1: tensor<4xi32>)
// SHARDED-NEXT:    zero.random samples 4 into @random
// SHARDED-NEXT:    %random = zero.scalar @random : tensor<4xi32>
// SHARDED:         zero.launch @dropout({{.*}}, %random, {{.*}})
func.func private @layer(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = nn.read @w : tensor<8x8xf32>
  %y = nn.linear %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = nn.dropout %y rate 0.25 : tensor<4x8xf32>
  %z = nn.add %d, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}
func.func @loss(%x: tensor<4x8xf32>, %labels: tensor<4xi32>) -> tensor<f32> {
  %a = func.call @layer(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = func.call @layer(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = nn.cross_entropy %b, %labels ignoring -1 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
