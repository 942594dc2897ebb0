// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of dot_general: lists that pair up.
func.func @pairs(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+2 {{expects paired lists of distinct dimensions of 'tensor<2x3xf32>' and 'tensor<3x4xf32>', got batch [] x [] contracting [0, 1] x [0]}}
  // expected-error@+1 {{failed to infer}}
  %z = nn.dot_general %x, %y contracting [0, 1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C1): a dimension is batch or contracted, not both.
func.func @distinct(%x: tensor<3x3xf32>) {
  // expected-error@+2 {{got batch [1] x [0] contracting [1] x [1]}}
  // expected-error@+1 {{failed to infer}}
  %z = nn.dot_general %x, %x batch [1] x [0] contracting [1] x [1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  return
}

// -----

// (C1): inside the rank.
func.func @inside(%x: tensor<3x3xf32>) {
  // expected-error@+2 {{got batch [] x [] contracting [2] x [-1]}}
  // expected-error@+1 {{failed to infer}}
  %z = nn.dot_general %x, %x contracting [2] x [-1] : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// (C2) of dot_general: paired sizes agree.
func.func @sizes(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+2 {{expects dimension 0 of 'tensor<2x3xf32>' to agree with dimension 0, got 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %z = nn.dot_general %x, %y contracting [0] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @elements(%x: tensor<2x3xf32>, %y: tensor<3x4xf64>) {
  // expected-error@+2 {{expects equal element types, got 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer}}
  %z = nn.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return
}

// -----

// (C1) of linear
func.func @weight(%x: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{expects a closed weight of rank 2, got 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// (C2) of linear: under `transposed` the input meets dimension 1.
func.func @input(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>) {
  // expected-error@+2 {{expects an input whose last dimension is 6, got 'tensor<2x4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.linear %x, %w transposed : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2): not even a scalar has a last dimension.
func.func @scalar(%x: tensor<f32>, %w: tensor<1x6xf32>) {
  // expected-error@+2 {{expects an input whose last dimension is 1, got 'tensor<f32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.linear %x, %w : (tensor<f32>, tensor<1x6xf32>) -> tensor<6xf32>
  return
}

// -----

// (C3) of linear
func.func @bias(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{expects a bias of 6 elements, got 'tensor<4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.linear %x, %w, %b : (tensor<2x4xf32>, tensor<4x6xf32>, tensor<4xf32>) -> tensor<2x6xf32>
  return
}
