// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1): no batch.
func.func @rank(%x: tensor<8x8x3xf32>, %w: tensor<3x3x3x5xf32>) {
  // expected-error@+2 {{expects images [batch, height, width, channels], got 'tensor<8x8x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.convolution %x, %w : (tensor<8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<6x6x5xf32>
  return
}

// -----

// (C1): an open window.
func.func @weight(%x: tensor<2x8x8x3xf32>, %w: tensor<?x3x3x5xf32>) {
  // expected-error@+2 {{expects a closed weight [height, width, channels, features], got 'tensor<?x3x3x5xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.convolution %x, %w : (tensor<2x8x8x3xf32>, tensor<?x3x3x5xf32>) -> tensor<2x6x6x5xf32>
  return
}

// -----

// (C1)
func.func @types(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x5xbf16>) {
  // expected-error@+2 {{expects equal element types, got 'f32' and 'bf16'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.convolution %x, %w : (tensor<2x8x8x3xf32>, tensor<3x3x3x5xbf16>) -> tensor<2x6x6x5xf32>
  return
}

// -----

// (C2)
func.func @channels(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x3x5xf32>) {
  // expected-error@+2 {{expects a weight of 4 channels, got 'tensor<3x3x3x5xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.convolution %x, %w : (tensor<2x8x8x4xf32>, tensor<3x3x3x5xf32>) -> tensor<2x6x6x5xf32>
  return
}

// -----

// (C3)
func.func @strides(%x: tensor<2x8x8x3xf32>) {
  // expected-error@+2 {{expects two positive strides, got [0, 1]}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.max_pool %x window [2, 2] strides [0, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x7x7x3xf32>
  return
}

// -----

// (C3): such a window would hold nothing of the image.
func.func @padding(%x: tensor<2x8x8x3xf32>) {
  // expected-error@+2 {{expects top, bottom, left and right paddings that are not negative and smaller than the window [2, 2], got [2, 0, 0, 0]}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.avg_pool %x window [2, 2] padding [2, 0, 0, 0] : (tensor<2x8x8x3xf32>) -> tensor<2x9x7x3xf32>
  return
}

// -----

// (C3)
func.func @paddings(%x: tensor<2x8x8x3xf32>) {
  // expected-error@+2 {{expects top, bottom, left and right paddings}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.patches %x window [3, 3] padding [1, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x8x8x3x9xf32>
  return
}

// -----

// (C1) of patches.
func.func @window(%x: tensor<2x8x8x3xf32>) {
  // expected-error@+2 {{expects a window of two positive sizes, got [3]}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.patches %x window [3] : (tensor<2x8x8x3xf32>) -> tensor<2x6x6x3x9xf32>
  return
}

// -----

// (C4): 2 + 1 rows hold no window of 4.
func.func @holds(%x: tensor<2x2x8x3xf32>) {
  // expected-error@+2 {{expects an image that holds a window of [4, 2] with padding [1, 0, 0, 0], got [2, 8]}}
  // expected-error@+1 {{failed to infer}}
  %y = nn.max_pool %x window [4, 2] padding [1, 0, 0, 0] : (tensor<2x2x8x3xf32>) -> tensor<2x1x7x3xf32>
  return
}

// -----

// (C5)
func.func @cotangent(%x: tensor<2x8x8x3xf32>, %y: tensor<2x4x4x3xf32>, %dy: tensor<2x4x3x3xf32>) {
  // expected-error@+2 {{expects output and cotangent of type 'tensor<2x4x4x3xf32>', got 'tensor<2x4x4x3xf32>' and 'tensor<2x4x3x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dx = nn.max_pool_grad %x, %y, %dy window [2, 2] strides [2, 2]
      : (tensor<2x8x8x3xf32>, tensor<2x4x4x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x8x8x3xf32>
  return
}

// -----

// (C5): windows of a larger image.
func.func @size(%dy: tensor<2x4x4x3xf32>) {
  // expected-error@+2 {{expects a cotangent of type 'tensor<2x5x4x3xf32>', got 'tensor<2x4x4x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dx = nn.avg_pool_grad %dy window [2, 2] strides [2, 2] into [10, 8] : (tensor<2x4x4x3xf32>) -> tensor<2x10x8x3xf32>
  return
}

// -----

// (C5): rows of 8 elements are no windows of 3 across.
func.func @rows(%dp: tensor<2x4x4x3x8xf32>) {
  // expected-error@+2 {{expects a cotangent of type 'tensor<2x4x4x3x6xf32>', got 'tensor<2x4x4x3x8xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dx = nn.patches_grad %dp window [3, 3] strides [2, 2] padding [1, 1, 1, 1] into [8, 8] : (tensor<2x4x4x3x8xf32>) -> tensor<2x8x8x2xf32>
  return
}

// -----

// (C5)
func.func @size(%dy: tensor<2x4x4x3xf32>) {
  // expected-error@+2 {{expects height and width, and the cotangent of a pool, got [8] and 'tensor<2x4x4x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dx = nn.avg_pool_grad %dy window [2, 2] strides [2, 2] into [8] : (tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32>
  return
}
