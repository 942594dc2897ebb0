// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Update.td, and ranges with groups.

module attributes {test.range = #zero.range<0 to 24 decay group 1>, zero.config = {
    ranks = 2, stage = 0, micro_steps = 1, bucket_bytes = 64, threads_per_rank = 1, reduce_every = "step",
    loss_mean = "step", optimizer = "lion", beta1 = 0.9, beta2 = 0.99, eps = 1.0e-8, weight_decay = 0.5,
    momentum = 0.0, clip = 1.0,
    groups = [{pattern = "*.bias", lr = 1.0, weight_decay = 0.0}, {pattern = "w", lr = 0.5}]}} {
// CHECK: module attributes {test.range = #zero.range<0 to 24 decay group 1>, zero.config = {{.*}}groups = [{lr = 1.000000e+00 : f64, pattern = "*.bias", weight_decay = 0.000000e+00 : f64}, {lr = 5.000000e-01 : f64, pattern = "w"}]

zero.bucket @b0 trainable over 2 ranks length 36 chunk 36 {
  zero.slot @fc.weight at 0 : tensor<6x4xf32>
  zero.slot @fc.bias at 32 : tensor<4xf32>
}
zero.bucket @b1 trainable over 2 ranks length 4 chunk 4 {
  zero.slot @w at 0 : tensor<3xf32>
}
zero.cell @norm : tensor<f64>

// CHECK-LABEL: zero.segment @update
zero.segment @update times 1 {
  // CHECK-NEXT: zero.norm [@b0, @b1] into @norm{{$}}
  zero.norm [@b0, @b1] into @norm
  // CHECK-NEXT: zero.norm [@b1] into @norm replicated
  zero.norm [@b1] into @norm replicated
  // CHECK-NEXT: zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay}{{$}}
  zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay}
  // CHECK-NEXT: zero.update @b1 by @norm {[0, 3) no_decay} replicated
  zero.update @b1 by @norm {[0, 3) no_decay} replicated
  // CHECK-NEXT: zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay group 0}{{$}}
  zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay group 0}
  // CHECK-NEXT: zero.update @b1 by @norm {[0, 3) no_decay group 1} replicated
  zero.update @b1 by @norm {[0, 3) no_decay group 1} replicated
}
}
