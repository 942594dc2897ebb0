// RUN: zero-opt %s -split-input-file -verify-diagnostics

// Inference reports what it expects; MLIR adds that it failed.

// (C1): equal element types.
func.func @elements(%x: tensor<2xf32>, %y: tensor<2xbf16>) {
  // expected-error@+2 {{expects equal element types, got 'f32' and 'bf16'}}
  // expected-error@+1 {{'nn.add' op failed to infer returned types}}
  %z = nn.add %x, %y : (tensor<2xf32>, tensor<2xbf16>) -> tensor<2xf32>
  return
}

// -----

// (C2): shapes that broadcast.
func.func @shapes(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error@+2 {{expects shapes that broadcast, got 'tensor<2x3xf32>', 'tensor<2xf32>'}}
  // expected-error@+1 {{'nn.mul' op failed to infer returned types}}
  %z = nn.mul %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2): the open size is unknown, so it can't be said to equal 2.
func.func @open(%x: tensor<?x3xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+2 {{expects shapes that broadcast, got 'tensor<?x3xf32>', 'tensor<2x3xf32>'}}
  // expected-error@+1 {{'nn.sub' op failed to infer returned types}}
  %z = nn.sub %x, %y : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @open_inside(%x: tensor<2x?xf32>) {
  // expected-error@+1 {{expects only dimension 0 to be open, got 'tensor<2x?xf32>'}}
  %z = nn.neg %x : tensor<2x?xf32>
  return
}

// -----

func.func @not_a_tensor(%x: f32) {
  // expected-error@+1 {{expected builtin.tensor, but found 'f32'}}
  %z = nn.neg %x : f32
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{expected builtin.tensor, but found 'tensor<*xf32>'}}
  %z = nn.neg %x : tensor<*xf32>
  return
}

// -----

func.func @integers(%x: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %z = nn.neg %x : tensor<2xi32>
  return
}

// -----

func.func @result(%x: tensor<2xf32>) {
  // expected-error@+2 {{'nn.add' op failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %z = nn.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// Each operand has 2^32 elements; the broadcast has 2^64.
func.func @too_large(%x: tensor<4294967296x1xf32>, %y: tensor<1x4294967296xf32>) {
  // expected-error@+2 {{expects a tensor of at most 2^63 - 1 bytes, got 'tensor<4294967296x4294967296xf32>'}}
  // expected-error@+1 {{'nn.add' op failed to infer returned types}}
  %z = nn.add %x, %y : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select(%m: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@+2 {{expects equal element types, got 'f32' and 'i32'}}
  // expected-error@+1 {{'nn.select' op failed to infer returned types}}
  %z = nn.select %m, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @convert(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects f32, f64, f16, bf16, i1, i32 or i64, got 'i7'}}
  %z = nn.convert %x to i7 : tensor<2xf32>
  return
}

// -----

func.func @gelu(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'kind' [tanh, erf]}}
  %z = nn.gelu sigmoid %x : tensor<2xf32>
  return
}
