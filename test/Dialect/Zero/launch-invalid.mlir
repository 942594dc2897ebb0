// RUN: zero-opt %s -split-input-file -verify-diagnostics

// kernel (C1)
// expected-error @below {{expects static ranked tensors of at most 2^60 elements, got 'tensor<?xf32>'}}
zero.kernel @k(%x: tensor<?xf32>) -> tensor<?xf32> kind generated {
  zero.yield %x : tensor<?xf32>
}

// -----
// kernel (C1)
// expected-error @below {{expects static ranked tensors of at most 2^60 elements, got 'f32'}}
zero.kernel @k(%x: f32) kind generated {
  zero.yield
}

// -----
// kernel (C2)
// expected-error @below {{expects may_reuse to have a list of i64 for each of 1 results, got [[0], []]}}
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated may_reuse [[0], []] {
  zero.yield %x : tensor<2xf32>
}

// -----
// kernel (C2)
// expected-error @below {{expects may_reuse to name operands below 1, got 1}}
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated may_reuse [[1]] {
  zero.yield %x : tensor<2xf32>
}

// -----
// kernel (C2)
// expected-error @below {{expects a result to reuse an operand of equal element width and count of elements, got 'tensor<2xf32>' over 'tensor<2xf64>'}}
zero.kernel @k(%x: tensor<2xf64>, %y: tensor<2xf32>) -> tensor<2xf32> kind generated may_reuse [[0]] {
  zero.yield %y : tensor<2xf32>
}

// -----
// kernel (C2)
// expected-error @below {{equal element width and count of elements, got 'tensor<2xf32>' over 'tensor<3xf32>'}}
zero.kernel @k(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<2xf32> kind generated may_reuse [[1, 0]] {
  zero.yield %y : tensor<2xf32>
}

// -----
// kernel (C3)
// expected-error @below {{expects strides to have a list of i64 for each of 1 arguments, got []}}
zero.kernel @k(%x: tensor<2x3xf32>) -> tensor<2x3xf32> kind generated strides [] {
  zero.yield %x : tensor<2x3xf32>
}

// -----
// kernel (C3)
// expected-error @below {{expects no strides, or 2 for an argument of type 'tensor<2x3xf32>', got 1}}
zero.kernel @k(%x: tensor<2x3xf32>) -> tensor<2x3xf32> kind generated strides [[1]] {
  zero.yield %x : tensor<2x3xf32>
}

// -----
// kernel (C3)
// expected-error @below {{expects strides of at least 0, got -1}}
zero.kernel @k(%x: tensor<2x3xf32>) -> tensor<2x3xf32> kind generated strides [[-1, 2]] {
  zero.yield %x : tensor<2x3xf32>
}

// -----
// kernel (C4)
// expected-error @below {{expects a body that yields 'tensor<3xf32>'}}
zero.kernel @k(%x: tensor<2xf32>) -> tensor<3xf32> kind generated {
  zero.yield %x : tensor<2xf32>
}

// -----
// expected-error @below {{expects generated, gemm, attention, cross_entropy or scatter, got 'softmax'}}
zero.kernel @k(%x: tensor<2xf32>) kind softmax {
}

// -----
// launch (C1)
zero.segment @update times 1 (%x: tensor<2xf32>) {
  // expected-error @below {{expects @k to name a zero.kernel}}
  zero.launch @k(%x) : (tensor<2xf32>) -> ()
}

// -----
// launch (C1)
// expected-note @below {{the kernel is here}}
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated {
  zero.yield %x : tensor<2xf32>
}
zero.segment @update times 1 (%x: tensor<3xf32>) {
  // expected-error @below {{expects operands of types ('tensor<2xf32>'), got ('tensor<3xf32>')}}
  %y = zero.launch @k(%x) : (tensor<3xf32>) -> tensor<2xf32>
}

// -----
// launch (C1)
// expected-note @below {{the kernel is here}}
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated {
  zero.yield %x : tensor<2xf32>
}
zero.segment @update times 1 (%x: tensor<2xf32>) {
  // expected-error @below {{expects results of types ('tensor<2xf32>'), got ()}}
  zero.launch @k(%x) : (tensor<2xf32>) -> ()
}

// -----
// launch (C2)
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated {
  zero.yield %x : tensor<2xf32>
}
zero.segment @update times 1 (%x: tensor<2xf32>) {
  // expected-error @below {{expects one place for each of 1 results, got 2}}
  %y = zero.launch @k(%x) on compute to [at 0, at 64] : (tensor<2xf32>) -> tensor<2xf32>
}

// -----
// launch (C3)
// expected-note @below {{the kernel is here}}
zero.kernel @k(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> kind generated may_reuse [[1]] {
  zero.yield %x : tensor<2xf32>
}
zero.segment @update times 1 (%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{expects result 0 over an operand that it may reuse, got operand 0}}
  %z = zero.launch @k(%x, %y) on compute to [inout 0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
}

// -----
zero.kernel @k(%x: tensor<2xf32>) -> tensor<2xf32> kind generated {
  zero.yield %x : tensor<2xf32>
}
zero.segment @update times 1 (%x: tensor<2xf32>) {
  // expected-error @below {{expects a place of at least 0, got -64}}
  %z = zero.launch @k(%x) on compute to [at -64] : (tensor<2xf32>) -> tensor<2xf32>
}

// -----
zero.segment @update times 1 (%x: tensor<2xf32>) {
  // expected-error @below {{expects at, inout, slot or cell, got 'behind'}}
  %z = zero.launch @k(%x) on compute to [behind 3] : (tensor<2xf32>) -> tensor<2xf32>
}
