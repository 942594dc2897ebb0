// What a bucket holds follows from the optimizer and the micro-steps; names, from what is free.
//
// RUN: zero-opt %s --zero-configure="ranks=8" --zero-shard-parameters | FileCheck %s --check-prefixes=CHECK,ADAM
// RUN: zero-opt %s --zero-configure="ranks=8 optimizer=adam micro-steps=3" --zero-replicate | FileCheck %s --check-prefixes=CHECK,ACCUM
// RUN: zero-opt %s --zero-configure="ranks=8 optimizer=sgd" --zero-shard-optimizer | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: zero-opt %s --zero-configure="ranks=8 optimizer=sgd momentum=0.5" --zero-shard-optimizer | FileCheck %s --check-prefixes=CHECK,MOMENTUM
// RUN: zero-opt %s --zero-configure="ranks=8 micro-steps=3 loss-mean=rank" --zero-replicate | FileCheck %s --check-prefixes=CHECK,RANK

// @b0 is taken by a parameter. @gate is trainable, read, and without a gradient: kept as a frozen one is.
nn.param @b0 : tensor<3xf32> init ones
nn.param @gate : tensor<3xf32> init ones
nn.param @idle : tensor<2x2xf32> init ones {trainable = false}
nn.param @spare : tensor<1xf32> init ones

zero.kernel @k(%x: tensor<3xf32>, %w: tensor<3xf32>, %g: tensor<3xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) kind generated {
  zero.yield %seed, %x : tensor<f32>, tensor<3xf32>
}
func.func @count(%labels: tensor<3x2xi32> {nn.name = "labels"}) -> tensor<i64> {
  %n = nn.count_labels %labels ignoring -1 : (tensor<3x2xi32>) -> tensor<i64>
  return %n : tensor<i64>
}
func.func @joint(%x: tensor<3xf32> {nn.name = "x"}, %seed: tensor<f32>) {
  %w = nn.read @b0 : tensor<3xf32>
  %g = nn.read @gate : tensor<3xf32>
  %loss, %dw = zero.launch @k(%x, %w, %g, %seed) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
  nn.return %loss grads(%dw of @b0 : tensor<3xf32>) : tensor<f32>
}

// More ranks than elements: three elements make a bucket of 8, of which five ranks own padding alone.
// CHECK:         zero.bucket @b0_0 trainable over 8 ranks length 8 chunk 8 {
// CHECK-NEXT:      zero.slot @b0 at 0 : tensor<3xf32> contributions 1
// CHECK:         zero.bucket @f0 frozen over 8 ranks length 8 chunk 8 {
// CHECK-NEXT:      zero.slot @gate at 0 : tensor<3xf32>{{$}}
// CHECK:         zero.bucket @f1 frozen over 8 ranks length 8 chunk 8 {
// CHECK-NEXT:      zero.slot @idle at 0 : tensor<2x2xf32>{{$}}
// CHECK:         zero.bucket @u0 unused over 8 ranks length 8 chunk 8 {
// CHECK-NEXT:      zero.slot @spare at 0 : tensor<1xf32>{{$}}

// ADAM:          zero.state @b0_0 holds [param f32 sharded, grad f32 sharded, moment1 f32 sharded, moment2 f32 sharded]
// ACCUM:         zero.state @b0_0 holds [param f32 full, grad_accum f32 full, moment1 f32 full, moment2 f32 full]
// SGD:           zero.state @b0_0 holds [param f32 full, grad f32 full]
// MOMENTUM:      zero.state @b0_0 holds [param f32 full, grad f32 full, moment1 f32 sharded]

// A mean a rank and micro-step has a count and a seed for each micro-step.
// RANK:          zero.cell @label_count : tensor<3xi64>
// RANK-NEXT:     zero.cell @norm : tensor<f64>
// RANK-NEXT:     zero.cell @loss : tensor<3xf32>
// RANK-NEXT:     zero.cell @seed : tensor<3xf32>
// RANK:          %seed = zero.scalar @seed : tensor<f32>

// CHECK:         zero.update @b0_0 by @norm {[0, 3) no_decay}
