// RUN: zero-opt %s -split-input-file -verify-diagnostics

// grads (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects its grads value to be used exactly once, got 0 uses}}
  %0 = zero.grads @b0 : !zero.grads<@b0>
}

// -----
// grads (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects its grads value to be used exactly once, got 2 uses}}
  %0 = zero.grads @b0 : !zero.grads<@b0>
  zero.keep %0 : !zero.grads<@b0>
  zero.reduce_scatter %0 : !zero.grads<@b0>
}

// -----
// grads (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects a value of bucket @b0, got '!zero.grads<@b1>'}}
  %0 = zero.grads @b0 : !zero.grads<@b1>
  zero.keep %0 : !zero.grads<@b1>
}

// -----
// accumulate (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 (%x: tensor<4xf32>) {
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // expected-error @below {{expects its grads value to be used exactly once, got 0 uses}}
  %1 = zero.accumulate %x into %0 [@w] : tensor<4xf32>, !zero.grads<@b0>
}

// -----
// accumulate (C2)
// expected-note @below {{the bucket is here}}
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 (%x: tensor<4xf32>) {
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // expected-error @below {{expects a slot of @v in bucket @b0}}
  %1 = zero.accumulate %x into %0 [@v] : tensor<4xf32>, !zero.grads<@b0>
  zero.keep %1 : !zero.grads<@b0>
}

// -----
// accumulate (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 (%x: tensor<2x2xf32>) {
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // expected-error @below {{expects a gradient of the slot's shape, 'tensor<4xf32>', got 'tensor<2x2xf32>'}}
  %1 = zero.accumulate %x into %0 [@w] : tensor<2x2xf32>, !zero.grads<@b0>
  zero.keep %1 : !zero.grads<@b0>
}

// -----
// reduce_scatter_start (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // expected-error @below {{expects a future of bucket @b0, got '!zero.future<@b1>'}}
  %1 = zero.reduce_scatter_start %0 on reduce : !zero.grads<@b0> -> !zero.future<@b1>
}

// -----
// all_reduce_start (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.grads @b0 : !zero.grads<@b0>
  // expected-error @below {{expects a future of bucket @b0, got '!zero.future<@b1>'}}
  %1 = zero.all_reduce_start %0 on reduce : !zero.grads<@b0> -> !zero.future<@b1>
}
