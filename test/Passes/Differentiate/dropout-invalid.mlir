// RUN: zero-opt %s --nn-autodiff --split-input-file --verify-diagnostics

// What is dropped from a weight is no sample's: N ranks would drop N times.
nn.param @w : tensor<8x8xf32> init normal(0.1)
func.func @loss(%x: tensor<4x8xf32>, %labels: tensor<4xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<8x8xf32>
  // expected-error @below {{expects a value of the batch, of which each of 4 samples has an equal share, got 'tensor<8x8xf32>'}}
  %d = nn.dropout %w rate 0.25 : tensor<8x8xf32>
  %y = nn.linear %x, %d : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = nn.cross_entropy %y, %labels ignoring -1 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A sum over samples is none of theirs either.
nn.param @w : tensor<8x7xf32> init normal(0.1)
func.func @loss(%x: tensor<4x8xf32>, %labels: tensor<4xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<8x7xf32>
  %y = nn.linear %x, %w : (tensor<4x8xf32>, tensor<8x7xf32>) -> tensor<4x7xf32>
  %s = nn.reduce_sum %y over [0] : (tensor<4x7xf32>) -> tensor<7xf32>
  // expected-error @below {{expects a value of the batch, of which each of 4 samples has an equal share, got 'tensor<7xf32>'}}
  %d = nn.dropout %s rate 0.25 : tensor<7xf32>
  %z = nn.add %y, %d : (tensor<4x7xf32>, tensor<7xf32>) -> tensor<4x7xf32>
  %loss = nn.cross_entropy %z, %labels ignoring -1 : (tensor<4x7xf32>, tensor<4xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Attention over heads as if they were samples.
!t = tensor<8x3x1x4xf32>
nn.param @w : tensor<4x4xf32> init normal(0.1)
func.func @loss(%x: tensor<4x6x4xf32>, %labels: tensor<4x6xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %y = nn.linear %x, %w : (tensor<4x6x4xf32>, tensor<4x4xf32>) -> tensor<4x6x4xf32>
  %q = nn.reshape %y to [8, 3, 1, 4] : (tensor<4x6x4xf32>) -> !t
  // expected-error @below {{expects a value of the batch, of which each of 4 samples has an equal share, got 'tensor<8x3x1x4xf32>'}}
  %o, %lse = nn.attention %q, %q, %q scale 0.5 dropout 0.2 : (!t, !t, !t) -> (!t, tensor<8x1x3xf32>)
  %z = nn.reshape %o to [4, 6, 4] : (!t) -> tensor<4x6x4xf32>
  %loss = nn.cross_entropy %z, %labels ignoring -1 : (tensor<4x6x4xf32>, tensor<4x6xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

nn.param @w : tensor<8x8xf32> init normal(0.1)
func.func @loss(%x: tensor<4x8xf32>, %r: tensor<4xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<8x8xf32>
  %y = nn.linear %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{expects dropout without a key, which nn-autodiff gives it}}
  %d = nn.dropout %y rate 0.25 keyed by %r samples 4 site 0 : tensor<4x8xf32>
  %loss = nn.reduce_sum %d over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

nn.param @w : tensor<8x8xf32> init normal(0.1)
func.func @loss(%s: tensor<f32>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<8x8xf32>
  %y = nn.linear %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{expects a graph whose first argument counts its samples in dimension 0}}
  %d = nn.dropout %y rate 0.25 : tensor<4x8xf32>
  %loss = nn.reduce_sum %d over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
