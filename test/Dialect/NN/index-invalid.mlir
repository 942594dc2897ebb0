// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of embedding
func.func @table(%ids: tensor<2xi32>, %t: tensor<5xf32>) {
  // expected-error@+2 {{expects a closed table of rank 2, got 'tensor<5xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.embedding %ids, %t : (tensor<2xi32>, tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

// (C2) of embedding
func.func @padding(%ids: tensor<2xi32>, %t: tensor<5x4xf32>) {
  // expected-error@+2 {{expects padding to be one of the 5 rows, got 5}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.embedding %ids, %t padding 5 : (tensor<2xi32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2)
func.func @padding(%ids: tensor<2xi32>, %t: tensor<5x4xf32>) {
  // expected-error@+2 {{expects padding to be one of the 5 rows, got -1}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.embedding %ids, %t padding -1 : (tensor<2xi32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @indices(%ids: tensor<2xf32>, %t: tensor<5x4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = nn.embedding %ids, %t : (tensor<2xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C1) of gather
func.func @gather(%x: tensor<5x4xf32>, %i: tensor<2xi32>) {
  // expected-error@+2 {{expects a dimension in [0, 2), got 2}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.gather %x, %i along 2 : (tensor<5x4xf32>, tensor<2xi32>) -> tensor<5x2xf32>
  return
}

// -----

// (C1) of scatter_add
func.func @updates(%i: tensor<2x3xi32>, %u: tensor<2x4x4xf32>) {
  // expected-error@+2 {{expects updates of the indices' shape and one more dimension, got 'tensor<2x4x4xf32>' for 'tensor<2x3xi32>'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.scatter_add %i, %u into 5 rows : (tensor<2x3xi32>, tensor<2x4x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

// (C2) of scatter_add
func.func @rows(%i: tensor<2xi32>, %u: tensor<2x4xf32>) {
  // expected-error@+2 {{expects at least one row, got -1}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.scatter_add %i, %u into -1 rows : (tensor<2xi32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return
}
