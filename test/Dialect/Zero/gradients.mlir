// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Gradients.td.

zero.bucket @b0 trainable over 2 ranks length 36 chunk 36 {
  zero.slot @fc.weight at 0 : tensor<6x4xf32> contributions 1
  zero.slot @fc.bias at 32 : tensor<4xf32> contributions 1
}

// CHECK-LABEL: zero.segment @micro_step
zero.segment @micro_step times 1 (%dw: tensor<6x4xf32>, %db: tensor<4xf32>) {
  // CHECK-NEXT: %b0.grads = zero.grads @b0 : !zero.grads<@b0>
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // CHECK-NEXT: %b0.grads_0 = zero.accumulate %dw into %b0.grads[@fc.weight] : tensor<6x4xf32>, !zero.grads<@b0>
  %1 = zero.accumulate %dw into %0 [@fc.weight] : tensor<6x4xf32>, !zero.grads<@b0>
  // CHECK-NEXT: %b0.grads_1 = zero.accumulate %db into %b0.grads_0[@fc.bias] write : tensor<4xf32>, !zero.grads<@b0>
  %2 = zero.accumulate %db into %1 [@fc.bias] write : tensor<4xf32>, !zero.grads<@b0>
  // CHECK-NEXT: zero.reduce_scatter %b0.grads_1 : !zero.grads<@b0>
  zero.reduce_scatter %2 : !zero.grads<@b0>
  // CHECK-NEXT: %b0.grads_2 = zero.grads @b0 at 1792 : !zero.grads<@b0>
  %3 = zero.grads @b0 at 1792 : !zero.grads<@b0>
  // CHECK-NEXT: accumulate {{.*}} add :
  %4 = zero.accumulate %db into %3 [@fc.bias] add : tensor<4xf32>, !zero.grads<@b0>
  // CHECK-NEXT: accumulate {{.*}} write_first :
  %5 = zero.accumulate %db into %4 [@fc.bias] write_first : tensor<4xf32>, !zero.grads<@b0>
  // CHECK-NEXT: %b0.sum = zero.reduce_scatter_start %{{.*}} on reduce : !zero.grads<@b0> -> !zero.future<@b0>
  %6 = zero.reduce_scatter_start %5 on reduce : !zero.grads<@b0> -> !zero.future<@b0>
  // CHECK-NEXT: zero.wait %b0.sum on compute : !zero.future<@b0>
  zero.wait %6 on compute : !zero.future<@b0>
  %7 = zero.grads @b0 : !zero.grads<@b0>
  // CHECK: zero.keep %{{.*}} : !zero.grads<@b0>
  zero.keep %7 : !zero.grads<@b0>
  %8 = zero.grads @b0 : !zero.grads<@b0>
  // CHECK: zero.all_reduce %{{.*}} : !zero.grads<@b0>
  zero.all_reduce %8 : !zero.grads<@b0>
  %9 = zero.grads @b0 : !zero.grads<@b0>
  // CHECK: zero.all_reduce_start %{{.*}} on reduce : !zero.grads<@b0> -> !zero.future<@b0>
  %10 = zero.all_reduce_start %9 on reduce : !zero.grads<@b0> -> !zero.future<@b0>
  zero.wait %10 on compute : !zero.future<@b0>
}
