// RUN: zero-opt %root/examples/mlp3.mlir --zero-pipeline="stage=3 ranks=4 micro-batch=8 bucket-bytes=17408 until=scheduled" | FileCheck %s
// RUN: zero-opt %root/examples/mlp3.mlir --zero-pipeline="stage=3 ranks=4 micro-batch=8 bucket-bytes=17408 until=llvm" | FileCheck %s --check-prefix=LLVM

// One layer a bucket, in order of use. fc1: 42·64 = 2688 weights, a multiple of the 16 elements in 64
// bytes, then 64 biases: 2752, a multiple of 4 ranks. head: 640 + 10 = 650, rounded up to 652.
// CHECK: zero.bucket @b0 trainable over 4 ranks length 2752 chunk 2752 {
// CHECK-NEXT: zero.slot @fc1.weight at 0 : tensor<42x64xf32> contributions 1
// CHECK-NEXT: zero.slot @fc1.bias at 2688 : tensor<64xf32> contributions 1
// CHECK: zero.bucket @b1 trainable over 4 ranks length 4160 chunk 4160 {
// CHECK: zero.bucket @b2 trainable over 4 ranks length 652 chunk 652 {
// CHECK: zero.state @b0 holds [param f32 sharded, grad f32 sharded, moment1 f32 sharded, moment2 f32 sharded]

// Gathers run one layer ahead, and a layer's weights go when it has been computed.
// CHECK-LABEL: zero.segment @micro_step times 1 (%x: tensor<8x42xf32>, %labels: tensor<8xi32>)
// CHECK: %[[GATHER0:.*]] = zero.all_gather_start @b0 on gather
// CHECK: %[[GATHER1:.*]] = zero.all_gather_start @b1 on gather
// CHECK: %[[FULL0:.*]] = zero.wait %[[GATHER0]] on compute
// CHECK: %[[W1:.*]] = zero.view @fc1.weight of %[[FULL0]]
// CHECK: %[[B1:.*]] = zero.view @fc1.bias of %[[FULL0]]
// CHECK: zero.launch @{{.*}}(%x, %[[W1]], %[[B1]]) on compute
// CHECK-NEXT: zero.free %[[FULL0]]
// CHECK: zero.all_gather_start @b2 on gather
// CHECK: zero.wait %[[GATHER1]] on compute
// CHECK: zero.all_gather_start @b1 on gather
// The head is read by logits and their gradient with no other layer between: gathered once.
// CHECK: %[[FULL2:.*]] = zero.wait %{{.*}} on compute : !zero.future<@b2>
// CHECK-NOT: zero.all_gather_start @b2
// Each layer's gradients leave for their owners when the last one is formed.
// CHECK: zero.reduce_scatter_start {{.*}} !zero.grads<@b2>
// CHECK: zero.free %[[FULL2]]
// CHECK: zero.reduce_scatter_start {{.*}} !zero.grads<@b1>
// The first layer's input has no gradient, so its weights are not gathered again.
// CHECK-NOT: zero.all_gather_start @b0
// CHECK: zero.reduce_scatter_start {{.*}} !zero.grads<@b0>

// CHECK-LABEL: zero.segment @update
// CHECK: zero.norm [@b0, @b1, @b2] into @norm
// CHECK: zero.update @b0 by @norm {[0, 2688) decay, [2688, 2752) no_decay}
// CHECK: zero.update @b2 by @norm {[0, 640) decay, [640, 650) no_decay}

// LLVM-DAG: llvm.func @zrt.k.gelu(
// LLVM-DAG: zero.segment @micro_step
