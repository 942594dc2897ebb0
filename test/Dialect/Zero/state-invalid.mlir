// RUN: zero-opt %s -split-input-file -verify-diagnostics

// bucket (C1)
// expected-error @below {{expects at least 1 rank, got 0}}
zero.bucket @b0 trainable over 0 ranks length 21 chunk 15 {
  zero.slot @wte at 0 : tensor<5x4xf32>
}

// -----
// bucket (C1)
// expected-error @below {{expects at least 1 rank, got -3}}
zero.bucket @b0 trainable over -3 ranks length 21 chunk 15 {
  zero.slot @wte at 0 : tensor<5x4xf32>
}

// -----
// bucket (C1)
// expected-error @below {{expects a length of a positive multiple of 3 ranks, got 20}}
zero.bucket @b0 trainable over 3 ranks length 20 chunk 15 {
  zero.slot @wte at 0 : tensor<5x4xf32>
}

// -----
// bucket (C1)
// expected-error @below {{expects a chunk of a positive multiple of 3 ranks, got 16}}
zero.bucket @b0 trainable over 3 ranks length 21 chunk 16 {
  zero.slot @wte at 0 : tensor<5x4xf32>
}

// -----
// bucket (C1)
// expected-error @below {{expects a chunk of at most 21, got 24}}
zero.bucket @b0 trainable over 3 ranks length 21 chunk 24 {
  zero.slot @wte at 0 : tensor<5x4xf32>
}

// -----
// bucket (C2)
// expected-error @below {{expects at least one slot}}
zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
}

// -----
// bucket (C2)
zero.bucket @b0 trainable over 1 ranks length 40 chunk 40 {
  zero.slot @a at 0 : tensor<4xf32>
  // expected-error @below {{expects the bucket's element type 'f32', got 'bf16'}}
  zero.slot @b at 32 : tensor<4xbf16>
}

// -----
// bucket (C2): the first slot ends at 17
zero.bucket @b0 trainable over 1 ranks length 40 chunk 40 {
  zero.slot @a at 0 : tensor<17xf32>
  // expected-error @below {{expects a place at 17 or behind, got 16}}
  zero.slot @b at 16 : tensor<4xf32>
}

// -----
// bucket (C2)
zero.bucket @b0 trainable over 1 ranks length 40 chunk 40 {
  zero.slot @a at 0 : tensor<4xf32>
  // expected-error @below {{expects a place at a multiple of 64 bytes (16 elements), got 8}}
  zero.slot @b at 8 : tensor<4xf32>
}

// -----
// bucket (C3): 16 + 24 = 40
zero.bucket @b0 trainable over 3 ranks length 39 chunk 39 {
  zero.slot @a at 0 : tensor<4xf32>
  // expected-error @below {{expects an end at 39 or before, got 16 and 24 elements}}
  zero.slot @b at 16 : tensor<6x4xf32>
}

// -----
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  // expected-error @below {{expects zero.slot alone in a zero.bucket}}
  %0 = nn.constant dense<0.0> : tensor<4xf32>
}

// -----
// slot (C1)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  // expected-error @below {{expects a static type of numbers of whole bytes, with at most 2^60 elements, got 'tensor<?xf32>'}}
  zero.slot @a at 0 : tensor<?xf32>
}

// -----
// slot (C1): 2^31 * 2^31 elements
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  // expected-error @below {{with at most 2^60 elements, got 'tensor<2147483648x2147483648xf32>'}}
  zero.slot @a at 0 : tensor<2147483648x2147483648xf32>
}

// -----
// slot (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  // expected-error @below {{expects a place and contributions of at least 0, got -16 and 1}}
  zero.slot @a at -16 : tensor<4xf32> contributions 1
}

// -----
// state (C1)
// expected-error @below {{expects @b0 to name a zero.bucket}}
zero.state @b0 holds [param f32 full]

// -----
// state (C2)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  zero.slot @a at 0 : tensor<4xf32>
}
// expected-error @below {{expects each kind at most once, got param twice}}
zero.state @b0 holds [param f32 full, param f32 sharded]

// -----
// state (C3)
zero.bucket @b0 trainable over 1 ranks length 4 chunk 4 {
  zero.slot @a at 0 : tensor<4xf32>
}
// expected-error @below {{expects numbers of whole bytes, got 'i1'}}
zero.state @b0 holds [param i1 full]

// -----
// expected-error @below {{expects param, grad, grad_accum, master, moment1 or moment2, got 'moment3'}}
zero.state @b0 holds [moment3 f32 full]

// -----
// expected-error @below {{expects 'sharded' or 'full'}}
zero.state @b0 holds [param f32 replicated]

// -----
// cell (C1)
// expected-error @below {{expects a static type of numbers of whole bytes, got 'tensor<?xf32>'}}
zero.cell @loss : tensor<?xf32>

// -----
// arena (C1)
// expected-error @below {{expects 0 <= persistent <= lower_bound <= bytes, got 640, 2048, 1024}}
zero.arena 1024 bytes persistent 640 lower_bound 2048
