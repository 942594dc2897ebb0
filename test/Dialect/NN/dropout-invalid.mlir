// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1): 1 would divide by zero.
func.func @rate(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a dropout rate in [0, 1), got 1.0}}
  %y = nn.dropout %x rate 1.0 : tensor<2x3xf32>
  return
}

// -----

// (C1)
func.func @rate(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a dropout rate in [0, 1), got -1.000000e-01}}
  %y = nn.dropout %x rate -0.1 : tensor<2x3xf32>
  return
}

// -----

// (C1): NaN is no rate.
func.func @rate(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects a dropout rate in [0, 1), got}}
  %y = nn.dropout %x rate 0x7FF8000000000000 : tensor<2x3xf32>
  return
}

// -----

// (C2): a site says nothing without a key.
func.func @site(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects samples and one site where dropout is keyed, and none of them elsewhere, got no samples and 1 sites}}
  %y = nn.dropout %x rate 0.1 site 3 : tensor<2x3xf32>
  return
}

// -----

// (C2): one site.
func.func @sites(%x: tensor<2x3xf32>, %random: tensor<4xi32>, %site: tensor<1xi32>) {
  // expected-error@+1 {{got samples and 2 sites}}
  %y = nn.dropout %x rate 0.1 keyed by %random, %site samples 2 site 3 : tensor<2x3xf32>
  return
}

// -----

// (C2)
func.func @site(%x: tensor<2x3xf32>, %random: tensor<4xi32>) {
  // expected-error@+1 {{expects a site in [0, 2^32), got 4294967296}}
  %y = nn.dropout %x rate 0.1 keyed by %random samples 2 site 4294967296 : tensor<2x3xf32>
  return
}

// -----

// (C3): 6 elements are not 4 samples.
func.func @samples(%x: tensor<2x3xf32>, %random: tensor<4xi32>) {
  // expected-error@+1 {{expects elements that 4 samples share evenly, at most 2^34 each, got 'tensor<2x3xf32>'}}
  %y = nn.dropout %x rate 0.1 keyed by %random samples 4 site 0 : tensor<2x3xf32>
  return
}

// -----

// (C3)
func.func @samples(%x: tensor<2x3xf32>, %random: tensor<4xi32>) {
  // expected-error@+1 {{expects at least one sample, got 0}}
  %y = nn.dropout %x rate 0.1 keyed by %random samples 0 site 0 : tensor<2x3xf32>
  return
}

// -----

// (C3): 2^35 elements of one sample.
func.func @large(%x: tensor<131072x262144xf32>, %random: tensor<4xi32>) {
  // expected-error@+1 {{expects elements that 1 samples share evenly, at most 2^34 each}}
  %y = nn.dropout %x rate 0.1 keyed by %random samples 1 site 0 : tensor<131072x262144xf32>
  return
}

// -----

!t = tensor<2x5x3x4xf32>

// Attention's (C8).
func.func @rate(%q: !t) {
  // expected-error@+2 {{expects a dropout rate in [0, 1), got 1.5}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %q, %q scale 0.5 dropout 1.5 : (!t, !t, !t) -> (!t, tensor<2x3x5xf32>)
  return
}

// -----

!t = tensor<2x5x3x4xf32>

// Attention's (C9).
func.func @key(%q: !t) {
  // expected-error@+2 {{expects a rate, a key and a site of dropout together, or a rate alone, got a rate, no key and a site}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %q, %q scale 0.5 dropout 0.5 site 1 : (!t, !t, !t) -> (!t, tensor<2x3x5xf32>)
  return
}

// -----

!t = tensor<2x5x3x4xf32>

// Attention's (C9): a key of a wrong type.
func.func @key(%q: !t, %random: tensor<3xi32>) {
  // expected-error@+1 {{operand #3 must be tensor<4xi32>, but got 'tensor<3xi32>'}}
  %o, %lse = nn.attention %q, %q, %q, %random scale 0.5 dropout 0.5 site 1
      : (!t, !t, !t, tensor<3xi32>) -> (!t, tensor<2x3x5xf32>)
  return
}
