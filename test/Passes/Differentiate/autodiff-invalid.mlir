// RUN: zero-opt %s --nn-autodiff --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{expects a forward function that returns the loss, got none}}
module {
  nn.param @w : tensor<4xf32> init zeros
}

// -----

// expected-note @below {{the other one is here}}
func.func @first(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-error @below {{expects one forward function that no other calls, got @first and @second}}
func.func @second(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{expects one result, the scalar loss, got 2}}
func.func @loss(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{expects one result, the scalar loss, got 0}}
func.func @loss(%x: tensor<f32>) {
  return
}

// -----

// expected-error @below {{expects the loss to be a float tensor of rank 0, got 'tensor<1xf32>'}}
func.func @loss(%x: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}

// -----

// expected-error @below {{expects the loss to be a float tensor of rank 0, got 'tensor<i32>'}}
func.func @loss(%x: tensor<i32>) -> tensor<i32> {
  return %x : tensor<i32>
}

// -----

nn.param @w : tensor<f64> init ones
// expected-error @below {{expects an f32 loss, got 'tensor<f64>'}}
func.func @loss() -> tensor<f64> {
  %w = nn.read @w : tensor<f64>
  return %w : tensor<f64>
}

// -----

// expected-error @below {{expects a closed batch, got an argument of type 'tensor<?x4xf32>': run nn-close-batch first}}
func.func @loss(%x: tensor<?x4xf32>) -> tensor<f32> {
  %loss = nn.reduce_mean %x over [0, 1] : (tensor<?x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects ranked tensors as arguments, got 'f32'}}
func.func @loss(%x: f32) -> tensor<f32> {
  %loss = nn.constant dense<1.0> : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects a body of one block}}
func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  cf.br ^next
^next:
  return %x : tensor<f32>
}

// -----

// No parameter at all, none that is trainable, and none that the loss reads.
// expected-error @below {{expects at least one trainable parameter on which the loss depends, got none}}
module {
  func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
    %loss = nn.reduce_mean %x over [0] : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// expected-error @below {{expects at least one trainable parameter on which the loss depends, got none}}
module {
  nn.param @w : tensor<4xf32> init zeros {trainable = false}
  func.func @loss() -> tensor<f32> {
    %w = nn.read @w : tensor<4xf32>
    %loss = nn.reduce_mean %w over [0] : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// expected-error @below {{expects at least one trainable parameter on which the loss depends, got none}}
module {
  nn.param @w : tensor<4xf32> init zeros
  func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
    %w = nn.read @w : tensor<4xf32>
    %loss = nn.reduce_mean %x over [0] : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// Recursion, direct and through another function.
nn.param @w : tensor<4xf32> init zeros
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<4xf32>
  // expected-error @below {{expects a call that can be inlined: of a function that has a body and does not call itself}}
  %y = func.call @again(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = nn.reduce_mean %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

nn.param @w : tensor<4xf32> init zeros
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<4xf32>
  // expected-error @below {{expects a call that can be inlined: of a function that has a body and does not call itself}}
  %y = func.call @elsewhere(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = nn.reduce_mean %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An op of another dialect that tells no vector-Jacobian product.
nn.param @w : tensor<4xf32> init zeros
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<4xf32>
  // expected-error @below {{expects an op with a vector-Jacobian product on the way from the parameters to the loss: implement DifferentiableOpInterface}}
  %y = "other.op"(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = nn.reduce_mean %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The log of the sums is for backward alone.
nn.param @w : tensor<1x2x1x4xf32> init zeros
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<1x2x1x4xf32>
  // expected-error @below {{expects its second result to be used by gradients only, got a loss that depends on it}}
  %o, %lse = nn.attention %w, %w, %w scale 0.5 causal : (tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>, tensor<1x2x1x4xf32>) -> (tensor<1x2x1x4xf32>, tensor<1x1x2xf32>)
  %loss = nn.reduce_mean %lse over [0, 1, 2] : (tensor<1x1x2xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The count must be known before backward, and is of all labels of an argument.
nn.param @w : tensor<2x4xf32> init zeros
func.func @loss(%x: tensor<2xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xf32>
  %labels = nn.convert %x to i32 : tensor<2xf32>
  // expected-error @below {{expects labels that are an argument of the graph, or a reshape of one: their count must be known before backward}}
  %loss = nn.cross_entropy %w, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

nn.param @w : tensor<2x4xf32> init zeros
func.func @loss(%all: tensor<3xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xf32>
  %labels = nn.slice %all from [1] sizes [2] : (tensor<3xi32>) -> tensor<2xi32>
  // expected-error @below {{expects all elements of the label argument to be labels}}
  %loss = nn.cross_entropy %w, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects a graph that is not differentiated, got @joint}}
func.func @joint(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// Names of the functions that the pass makes.
// expected-error @below {{expects a symbol of another name than @count, which the schedule uses}}
nn.param @count : tensor<f32> init ones
func.func @loss() -> tensor<f32> {
  %w = nn.read @count : tensor<f32>
  return %w : tensor<f32>
}

// -----

// expected-error @below {{expects a symbol of another name than @joint, which the schedule uses}}
nn.param @joint : tensor<f32> init ones
func.func @loss() -> tensor<f32> {
  %w = nn.read @joint : tensor<f32>
  return %w : tensor<f32>
}
