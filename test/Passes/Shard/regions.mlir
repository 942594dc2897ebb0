// Regions of use: a run of launches that read a bucket ends at a launch that reads another one and not
// this one. Views of a parameter go with its region.
//
// RUN: zero-opt %s --zero-configure="ranks=2 bucket-bytes=64" --zero-shard-parameters | FileCheck %s
// RUN: zero-opt %s --zero-configure="ranks=2 bucket-bytes=64" --zero-replicate | FileCheck %s --check-prefix=FULL

nn.param @w : tensor<2x2xf32> init ones
nn.param @v : tensor<2x2xf32> init ones

zero.kernel @one(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> kind generated {
  %y = nn.add %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  zero.yield %y : tensor<2x2xf32>
}
zero.kernel @both(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> tensor<2x2xf32> kind generated {
  %0 = nn.add %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = nn.add %0, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  zero.yield %y : tensor<2x2xf32>
}
zero.kernel @none(%x: tensor<2x2xf32>) -> tensor<2x2xf32> kind generated {
  zero.yield %x : tensor<2x2xf32>
}
zero.kernel @sum(%x: tensor<2x2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<2x2xf32>) kind generated {
  %s = nn.reduce_sum %x over [0, 1] : (tensor<2x2xf32>) -> tensor<f32>
  %d = nn.reshape %x to [4] : (tensor<2x2xf32>) -> tensor<4xf32>
  zero.yield %s, %d, %x : tensor<f32>, tensor<4xf32>, tensor<2x2xf32>
}

func.func @joint(%x: tensor<2x2xf32>, %seed: tensor<f32>) {
  %w = nn.read @w : tensor<2x2xf32>
  %v = nn.read @v : tensor<2x2xf32>
  %wt = nn.transpose %w by [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = zero.launch @one(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = zero.launch @none(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = zero.launch @both(%b, %wt, %v) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = zero.launch @one(%c, %v) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = zero.launch @one(%d, %wt) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %loss, %dv, %dw = zero.launch @sum(%e, %seed) : (tensor<2x2xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<2x2xf32>)
  %dv2 = nn.reshape %dv to [2, 2] : (tensor<4xf32>) -> tensor<2x2xf32>
  nn.return %loss grads(%dw of @w : tensor<2x2xf32>, %dv2 of @v : tensor<2x2xf32>) : tensor<f32>
}

// Without a count of labels the seed is 1 / (N·A).
// CHECK-NOT:    zero.cell @label_count
// CHECK:        zero.segment @count times 1 {
// CHECK-NEXT:     zero.seed @seed{{$}}

// b0 holds w, b1 holds v. b0: launches 1 to 3 (the second reads nothing), then 5; b1: 3 and 4.
// CHECK:        zero.segment @micro_step times 1 (%arg0: tensor<2x2xf32>) {
// CHECK-NEXT:     %[[S:.*]] = zero.scalar @seed
// CHECK-NEXT:     %[[F0:.*]] = zero.all_gather @b0
// CHECK-NEXT:     %[[W:.*]] = zero.view @w of %[[F0]]
// CHECK-NEXT:     %[[A:.*]] = zero.launch @one(%arg0, %[[W]])
// CHECK-NEXT:     %[[B:.*]] = zero.launch @none(%[[A]])
// CHECK-NEXT:     %[[F1:.*]] = zero.all_gather @b1
// CHECK-NEXT:     %[[WT:.*]] = nn.transpose %[[W]] by [1, 0]
// CHECK-NEXT:     %[[V:.*]] = zero.view @v of %[[F1]]
// CHECK-NEXT:     %[[C:.*]] = zero.launch @both(%[[B]], %[[WT]], %[[V]])
// CHECK-NEXT:     %[[D:.*]] = zero.launch @one(%[[C]], %[[V]])
// CHECK-NEXT:     %[[F2:.*]] = zero.all_gather @b0
// CHECK-NEXT:     %[[W2:.*]] = zero.view @w of %[[F2]]
// CHECK-NEXT:     %[[WT2:.*]] = nn.transpose %[[W2]] by [1, 0]
// CHECK-NEXT:     %[[E:.*]] = zero.launch @one(%[[D]], %[[WT2]])
// Two gradients of one launch: in the order of nn.return, each reshaped where its slot asks for it.
// CHECK-NEXT:     %[[R:.*]]:3 = zero.launch @sum(%[[E]], %[[S]])
// CHECK-NEXT:     %[[G0:.*]] = zero.grads @b0
// CHECK-NEXT:     %[[H0:.*]] = zero.accumulate %[[R]]#2 into %[[G0]][@w]
// CHECK-NEXT:     zero.reduce_scatter %[[H0]]
// CHECK-NEXT:     %[[DV:.*]] = nn.reshape %[[R]]#1 to [2, 2]
// CHECK-NEXT:     %[[G1:.*]] = zero.grads @b1
// CHECK-NEXT:     %[[H1:.*]] = zero.accumulate %[[DV]] into %[[G1]][@v]
// CHECK-NEXT:     zero.reduce_scatter %[[H1]]
// CHECK-NEXT:     zero.set @loss %[[R]]#0
// CHECK-NEXT:   }

// FULL-COUNT-2: zero.resident
// FULL-NOT:     zero.resident
