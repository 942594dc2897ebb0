// RUN: zero-opt %s -split-input-file -verify-diagnostics

// all_gather (C1)
zero.segment @s times 1 {
  // expected-error @below {{expects @b0 to name a zero.bucket}}
  %0 = zero.all_gather @b0 : !zero.full<@b0>
}

// -----
// all_gather (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects a value of bucket @b0, got '!zero.full<@b1>'}}
  %0 = zero.all_gather @b0 : !zero.full<@b1>
}

// -----
// all_gather: the type's kind
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{result #0 must be A whole bucket of parameters., but got '!zero.grads<@b0>'}}
  %0 = zero.all_gather @b0 : !zero.grads<@b0>
}

// -----
// all_gather_in_place (C1)
zero.segment @s times 1 {
  // expected-error @below {{expects @b0 to name a zero.bucket}}
  zero.all_gather_in_place @b0
}

// -----
// resident (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects a value of bucket @b0, got '!zero.full<@b1>'}}
  %0 = zero.resident @b0 : !zero.full<@b1>
}

// -----
// view (C1)
// expected-note @below {{the bucket is here}}
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.all_gather @b0 : !zero.full<@b0>
  // expected-error @below {{expects a slot of @v in bucket @b0}}
  %1 = zero.view @v of %0 : !zero.full<@b0> -> tensor<4xf32>
}

// -----
// view (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.all_gather @b0 : !zero.full<@b0>
  // expected-error @below {{expects the slot's type 'tensor<4xf32>', got 'tensor<2x2xf32>'}}
  %1 = zero.view @w of %0 : !zero.full<@b0> -> tensor<2x2xf32>
}

// -----
// all_gather_start (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects a value of bucket @b0, got '!zero.future<@b1>'}}
  %0 = zero.all_gather_start @b0 on gather : !zero.future<@b1>
}

// -----
// all_gather_start (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  // expected-error @below {{expects no place of its own for a gather in place, got 64}}
  %0 = zero.all_gather_start @b0 in_place on gather at 64 : !zero.future<@b0>
}

// -----
// wait (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.all_gather_start @b0 on gather : !zero.future<@b0>
  // expected-error @below {{expects the full bucket @b0, got '!zero.full<@b1>'}}
  %1 = zero.wait %0 on compute : !zero.future<@b0> -> !zero.full<@b1>
}

// -----
// wait (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.all_gather_start @b0 on gather : !zero.future<@b0>
  // expected-error @below {{expects a full bucket from a wait for zero.all_gather_start}}
  zero.wait %0 on compute : !zero.future<@b0>
}

// -----
// wait (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %0 = zero.all_gather_start @b0 in_place on gather : !zero.future<@b0>
  // expected-error @below {{expects no full bucket from a wait for a gather in place}}
  %1 = zero.wait %0 on compute : !zero.future<@b0> -> !zero.full<@b0>
}

// -----
// wait (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @s times 1 {
  %g = zero.grads @b0 : !zero.grads<@b0>
  %0 = zero.reduce_scatter_start %g on reduce : !zero.grads<@b0> -> !zero.future<@b0>
  // expected-error @below {{expects no full bucket from a wait for zero.reduce_scatter_start}}
  %1 = zero.wait %0 on compute : !zero.future<@b0> -> !zero.full<@b0>
}
