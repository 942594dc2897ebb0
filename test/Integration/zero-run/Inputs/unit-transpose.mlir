nn.param @w : tensor<1x4xf32> init normal(0.5)
func.func @loss(%x: tensor<?x4xf32>) -> tensor<f32> {
  %w = nn.read @w : tensor<1x4xf32>
  %t = nn.transpose %w by [1, 0] : (tensor<1x4xf32>) -> tensor<4x1xf32>
  %y = nn.dot_general %x, %t contracting [1] x [0] : (tensor<?x4xf32>, tensor<4x1xf32>) -> tensor<?x1xf32>
  %q = nn.mul %y, %y : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %l = nn.reduce_mean %q over [0, 1] : (tensor<?x1xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
