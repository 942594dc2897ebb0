// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of rotary
func.func @rank(%x: tensor<5x3x4xf32>) {
  // expected-error@+1 {{expects an input of rank 4, got 'tensor<5x3x4xf32>'}}
  %y = nn.rotary %x frequencies [1.0, 0.01] : tensor<5x3x4xf32>
  return
}

// -----

// (C2)
func.func @depth(%x: tensor<2x5x3x5xf32>) {
  // expected-error@+1 {{expects a depth of twice the 2 frequencies, got 5}}
  %y = nn.rotary %x frequencies [1.0, 0.01] : tensor<2x5x3x5xf32>
  return
}

// -----

// (C2)
func.func @none(%x: tensor<2x5x3x0xf32>) {
  // expected-error@+1 {{expects a depth of twice the 0 frequencies, got 0}}
  %y = nn.rotary %x frequencies [] : tensor<2x5x3x0xf32>
  return
}

// -----

// (C3)
func.func @frequency(%x: tensor<2x5x3x2xf32>) {
  // expected-error@+2 {{expects finite frequencies, got}}
  // expected-error@+1 {{failed to infer}}
  %y = "nn.rotary"(%x) {frequencies = array<f64: 0x7FF0000000000000>} : (tensor<2x5x3x2xf32>) -> tensor<2x5x3x2xf32>
  return
}

// -----

// (C4)
func.func @factor(%x: tensor<2x5x3x2xf32>) {
  // expected-error@+1 {{expects a positive, finite factor, got 0}}
  %y = nn.rotary %x frequencies [1.0] factor 0.0 : tensor<2x5x3x2xf32>
  return
}
