// RUN: zero-opt %s -split-input-file -verify-diagnostics

// norm (C1)
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects @b0 to name a zero.bucket}}
  zero.norm [@b0] into @norm
}

// -----
// norm (C1)
zero.cell @norm : tensor<f32>
zero.segment @update times 1 {
  // expected-error @below {{expects a cell of tensor<f64>, got 'tensor<f32>'}}
  zero.norm [] into @norm
}

// -----
// norm (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects each bucket at most once, got @b0 twice}}
  zero.norm [@b0, @b0] into @norm
}

// -----
// update (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects one range for each of 1 slots, got 0}}
  zero.update @b0 by @norm {}
}

// -----
// update (C1): a range over the padding
zero.bucket @b0 trainable over 3 ranks length 6 chunk 6 {
  // expected-note @below {{the slot is here}}
  zero.slot @w at 0 : tensor<4xf32>
}
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects the range [0, 4) of @w, got [0, 6)}}
  zero.update @b0 by @norm {[0, 6) decay}
}

// -----
// update (C2)
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects @b0 to name a zero.bucket}}
  zero.update @b0 by @norm {[0, 4) decay}
}

// -----
// update (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.segment @update times 1 {
  // expected-error @below {{expects @norm to name a zero.cell}}
  zero.update @b0 by @norm {[0, 4) decay}
}

// -----
zero.segment @update times 1 {
  // expected-error @below {{expects 'decay' or 'no_decay'}}
  zero.update @b0 by @norm {[0, 4) maybe}
}

// -----
// update (C3): without zero.config there is no group
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects a group of zero.config, which has 0, got 0}}
  zero.update @b0 by @norm {[0, 4) decay group 0}
}

// -----
// update (C3)
module attributes {zero.config = {
    ranks = 1, stage = 0, micro_steps = 1, bucket_bytes = 64, threads_per_rank = 1, reduce_every = "step",
    loss_mean = "step", optimizer = "lion", beta1 = 0.9, beta2 = 0.99, eps = 1.0e-8, weight_decay = 0.5,
    momentum = 0.0, clip = 1.0, groups = [{pattern = "w", lr = 0.5}]}} {
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 { zero.slot @w at 0 : tensor<4xf32> }
zero.cell @norm : tensor<f64>
zero.segment @update times 1 {
  // expected-error @below {{expects a group of zero.config, which has 1, got 1}}
  zero.update @b0 by @norm {[0, 4) decay group 1}
}
}

// -----
zero.segment @update times 1 {
  // expected-error @below {{expects a group of at least 0, got -1}}
  zero.update @b0 by @norm {[0, 4) decay group -1}
}
