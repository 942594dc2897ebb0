// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1): distinct, ascending, inside the rank, and at least one.
func.func @descending(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects distinct ascending dimensions in [0, 2), got [1, 0]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reduce_sum %x over [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @twice(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects distinct ascending dimensions in [0, 2), got [1, 1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reduce_mean %x over [1, 1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @outside(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects distinct ascending dimensions in [0, 2), got [2]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reduce_max %x over [2] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @none(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects distinct ascending dimensions in [0, 2), got []}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reduce_max %x over [] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
