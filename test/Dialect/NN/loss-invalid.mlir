// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of cross_entropy
func.func @labels(%l: tensor<2x3x5xf32>, %labels: tensor<3x2xi32>) {
  // expected-error@+2 {{expects labels of the shape of 'tensor<2x3x5xf32>' without its last dimension, got 'tensor<3x2xi32>'}}
  // expected-error@+1 {{failed to infer}}
  %loss = nn.cross_entropy %l, %labels ignoring -100 : (tensor<2x3x5xf32>, tensor<3x2xi32>) -> tensor<f32>
  return
}

// -----

// (C1): there must be a last dimension.
func.func @scalar(%l: tensor<f32>, %labels: tensor<i32>) {
  // expected-error@+2 {{expects labels of the shape of 'tensor<f32>' without its last dimension, got 'tensor<i32>'}}
  // expected-error@+1 {{failed to infer}}
  %loss = nn.cross_entropy %l, %labels ignoring -100 : (tensor<f32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

// (C2) of cross_entropy: 2^31 is no i32.
func.func @ignored(%l: tensor<3x5xf32>, %labels: tensor<3xi32>) {
  // expected-error@+2 {{expects an ignored value of type 'i32', got 2147483648}}
  // expected-error@+1 {{failed to infer}}
  %loss = nn.cross_entropy %l, %labels ignoring 2147483648 : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<f32>
  return
}

// -----

// (C1) of count_labels
func.func @count(%labels: tensor<3xi32>) {
  // expected-error@+2 {{expects an ignored value of type 'i32', got -2147483649}}
  // expected-error@+1 {{failed to infer}}
  %n = nn.count_labels %labels ignoring -2147483649 : (tensor<3xi32>) -> tensor<i64>
  return
}

// -----

// (C3) of cross_entropy_with_grad
func.func @seed(%l: tensor<3x5xf32>, %labels: tensor<3xi32>, %seed: tensor<1xf32>) {
  // expected-error@+2 {{expects a seed of type 'tensor<f32>', got 'tensor<1xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %loss, %dl = nn.cross_entropy_with_grad %l, %labels, %seed ignoring -100
      : (tensor<3x5xf32>, tensor<3xi32>, tensor<1xf32>) -> (tensor<f32>, tensor<3x5xf32>)
  return
}
