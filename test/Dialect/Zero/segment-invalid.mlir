// RUN: zero-opt %s -split-input-file -verify-diagnostics

// segment (C1)
// expected-error @below {{expects to run at least once a step, got 0}}
zero.segment @update times 0 {}

// -----
// segment (C2)
// expected-error @below {{expects static ranked tensors as arguments, got 'tensor<?x3xi32>'}}
zero.segment @micro_step times 1 (%x: tensor<?x3xi32>) {}

// -----
// segment (C2)
// expected-error @below {{expects static ranked tensors as arguments, got 'i32'}}
zero.segment @micro_step times 1 (%x: i32) {}

// -----
// segment (C3)
// expected-error @below {{expects one name for each of 1 arguments, got 2}}
zero.segment @micro_step times 1 (%x: tensor<i32>) attributes {names = ["a", "b"]} {}

// -----
// segment (C3)
// expected-error @below {{expects a place for all arguments or none, got 1 for 2}}
zero.segment @micro_step times 1 (%x: tensor<i32> at 0, %y: tensor<i32>) {}

// -----
// segment (C3)
// expected-error @below {{expects one place for each of 0 arguments, got 1}}
zero.segment @micro_step times 1 attributes {offsets = array<i64: 64>} {}

// -----
// expected-error @below {{expects names to be a list of strings, got 1 : i64}}
zero.segment @micro_step times 1 (%x: tensor<i32>) attributes {names = 1} {}

// -----
// count (C1)
zero.segment @count times 1 (%labels: tensor<2x3xi32>) {
  // expected-error @below {{expects @label_count to name a zero.cell}}
  zero.count %labels ignoring -100 into @label_count : tensor<2x3xi32>
}

// -----
// count (C1)
zero.cell @label_count : tensor<f32>
zero.segment @count times 1 (%labels: tensor<2x3xi32>) {
  // expected-error @below {{expects an i64 cell of rank 0 or 1, got 'tensor<f32>'}}
  zero.count %labels ignoring -100 into @label_count : tensor<2x3xi32>
}

// -----
// count (C2)
zero.cell @label_count : tensor<i64>
zero.segment @count times 1 (%labels: tensor<2x3xf32>) {
  // expected-error @below {{expects labels that are integers, got 'tensor<2x3xf32>'}}
  zero.count %labels ignoring -100 into @label_count : tensor<2x3xf32>
}

// -----
// seed (C1)
zero.cell @label_count : tensor<i64>
zero.cell @seed : tensor<f64>
zero.segment @count times 1 {
  // expected-error @below {{expects an f32 cell for the seed, got 'tensor<f64>'}}
  zero.seed @seed from @label_count
}

// -----
// seed (C1)
zero.cell @label_count : tensor<i32>
zero.cell @seed : tensor<f32>
zero.segment @count times 1 {
  // expected-error @below {{expects an i64 cell for the count, got 'tensor<i32>'}}
  zero.seed @seed from @label_count
}

// -----
// seed (C2)
zero.cell @label_count : tensor<2xi64>
zero.cell @seed : tensor<f32>
zero.segment @count times 1 {
  // expected-error @below {{expects seed and count to share a shape, got 'tensor<f32>' and 'tensor<2xi64>'}}
  zero.seed @seed from @label_count
}

// -----
// random (C1)
zero.cell @random : tensor<3xi32>
zero.segment @micro_step times 1 {
  // expected-error @below {{expects a cell of 'tensor<4xi32>', got 'tensor<3xi32>'}}
  zero.random samples 2 into @random
}

// -----
// random (C2)
zero.cell @random : tensor<4xi32>
zero.segment @micro_step times 1 {
  // expected-error @below {{expects at least one sample, got 0}}
  zero.random samples 0 into @random
}

// -----
// scalar (C1)
zero.segment @micro_step times 1 {
  // expected-error @below {{expects @seed to name a zero.cell}}
  %0 = zero.scalar @seed : tensor<f32>
}

// -----
// scalar (C1): three elements, two runs
zero.cell @seeds : tensor<3xf32>
zero.segment @micro_step times 2 {
  // expected-error @below {{expects a cell of 'tensor<f32>', or with one such value a run, got 'tensor<3xf32>'}}
  %0 = zero.scalar @seeds : tensor<f32>
}

// -----
// set (C1)
zero.cell @loss : tensor<2xf32>
zero.segment @micro_step times 1 (%x: tensor<f32>) {
  // expected-error @below {{expects a cell of 'tensor<f32>', or with one such value a run, got 'tensor<2xf32>'}}
  zero.set @loss %x : tensor<f32>
}
