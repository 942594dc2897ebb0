// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of layer_norm
func.func @weight(%x: tensor<2x4xf32>, %w: tensor<2xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{expects weight and bias as long as the last dimension of 'tensor<2x4xf32>', got 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x4xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2) of layer_norm
func.func @eps(%x: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{expects a positive, finite eps, got 0}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.layer_norm %x, %w, %w eps 0.0 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2)
func.func @eps(%x: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{expects a positive, finite eps, got -1}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.layer_norm_grad_weight %x, %x eps -1.0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rank(%x: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{expects an input of rank 1 or more, got 'tensor<f32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.layer_norm %x, %w, %w eps 1.0 : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @cotangent(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %dy: tensor<3x4xf32>) {
  // expected-error@+2 {{expects a cotangent of type 'tensor<2x4xf32>', got 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.layer_norm_grad_input %x, %w, %dy eps 1.0 : (tensor<2x4xf32>, tensor<4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C1) of rms_norm
func.func @rms(%x: tensor<2x4xf32>, %w: tensor<3xf32>) {
  // expected-error@+2 {{expects weight and bias as long as the last dimension of 'tensor<2x4xf32>', got 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.rms_norm %x, %w eps 1.0e-6 : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2) of rms_norm
func.func @rms(%x: tensor<2x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+2 {{expects a positive, finite eps, got 0}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.rms_norm %x, %w eps 0.0 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C1)
func.func @rms(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %dy: tensor<4x2xf32>) {
  // expected-error@+2 {{expects a cotangent of type 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.rms_norm_grad_input %x, %w, %dy eps 1.0 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C1)
func.func @rms(%x: tensor<2x4xf32>, %dy: tensor<2x5xf32>) {
  // expected-error@+2 {{expects a cotangent of type 'tensor<2x4xf32>', got 'tensor<2x5xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.rms_norm_grad_weight %x, %dy eps 1.0 : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @softmax(%x: tensor<f32>) {
  // expected-error@+1 {{expects an input of rank 1 or more, got 'tensor<f32>'}}
  %y = nn.softmax %x : tensor<f32>
  return
}
