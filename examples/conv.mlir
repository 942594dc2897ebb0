// A small convolutional net, as one would write it by hand (level G): two convolutions, pooling,
// normalisation without a batch, a classifier. It tells horizontal bars, vertical bars, crosses and
// squares in noisy pictures of 12 by 12.
//
//   python3 examples/pictures.py pictures.safetensors
//   zero-run examples/conv.mlir --micro-batch 16 --ranks 2 --stage 3 --data pictures.safetensors --lr 0.01
//
// Images are [batch, height, width, channels], weights [height, width, channels, features].

nn.param @conv1.weight : tensor<3x3x1x8xf32> init normal(0.3)
nn.param @conv1.bias : tensor<8xf32> init zeros
nn.param @norm1.weight : tensor<8xf32> init ones
nn.param @norm1.bias : tensor<8xf32> init zeros
nn.param @conv2.weight : tensor<3x3x8x16xf32> init normal(0.15)
nn.param @norm2.weight : tensor<16xf32> init ones
nn.param @norm2.bias : tensor<16xf32> init zeros
nn.param @mix.weight : tensor<1x1x16x16xf32> init normal(0.25)
nn.param @head.weight : tensor<16x4xf32> init normal(0.25)
nn.param @head.bias : tensor<4xf32> init zeros

// Four groups of four channels, each normalised over all pixels of a picture: a layer norm over
// [batch, group, pixels · channels of the group].
func.func private @group_norm(%x: tensor<?x6x6x16xf32>) -> tensor<?x6x6x16xf32> {
  %ones = nn.constant dense<1.0> : tensor<144xf32>
  %zeros = nn.constant dense<0.0> : tensor<144xf32>
  %grouped = nn.reshape %x to [-1, 6, 6, 4, 4] : (tensor<?x6x6x16xf32>) -> tensor<?x6x6x4x4xf32>
  %first = nn.transpose %grouped by [0, 3, 1, 2, 4] : (tensor<?x6x6x4x4xf32>) -> tensor<?x4x6x6x4xf32>
  %rows = nn.reshape %first to [-1, 4, 144] : (tensor<?x4x6x6x4xf32>) -> tensor<?x4x144xf32>
  %normal = nn.layer_norm %rows, %ones, %zeros eps 1.0e-5 : (tensor<?x4x144xf32>, tensor<144xf32>, tensor<144xf32>) -> tensor<?x4x144xf32>
  %cut = nn.reshape %normal to [-1, 4, 6, 6, 4] : (tensor<?x4x144xf32>) -> tensor<?x4x6x6x4xf32>
  %last = nn.transpose %cut by [0, 2, 3, 1, 4] : (tensor<?x4x6x6x4xf32>) -> tensor<?x6x6x4x4xf32>
  %back = nn.reshape %last to [-1, 6, 6, 16] : (tensor<?x6x6x4x4xf32>) -> tensor<?x6x6x16xf32>
  %w = nn.read @norm2.weight : tensor<16xf32>
  %b = nn.read @norm2.bias : tensor<16xf32>
  %scaled = nn.mul %back, %w : (tensor<?x6x6x16xf32>, tensor<16xf32>) -> tensor<?x6x6x16xf32>
  %shifted = nn.add %scaled, %b : (tensor<?x6x6x16xf32>, tensor<16xf32>) -> tensor<?x6x6x16xf32>
  return %shifted : tensor<?x6x6x16xf32>
}

func.func @loss(%pictures: tensor<?x12x12x1xf32> {nn.name = "pictures"}, %labels: tensor<?xi32> {nn.name = "labels"}) -> tensor<f32> {
  %conv1.w = nn.read @conv1.weight : tensor<3x3x1x8xf32>
  %conv1.b = nn.read @conv1.bias : tensor<8xf32>
  %c1 = nn.convolution %pictures, %conv1.w padding [1, 1, 1, 1] : (tensor<?x12x12x1xf32>, tensor<3x3x1x8xf32>) -> tensor<?x12x12x8xf32>
  %b1 = nn.add %c1, %conv1.b : (tensor<?x12x12x8xf32>, tensor<8xf32>) -> tensor<?x12x12x8xf32>
  %a1 = nn.gelu tanh %b1 : tensor<?x12x12x8xf32>
  %p1 = nn.max_pool %a1 window [2, 2] strides [2, 2] : (tensor<?x12x12x8xf32>) -> tensor<?x6x6x8xf32>

  // Over the channels of each pixel.
  %norm1.w = nn.read @norm1.weight : tensor<8xf32>
  %norm1.b = nn.read @norm1.bias : tensor<8xf32>
  %n1 = nn.layer_norm %p1, %norm1.w, %norm1.b eps 1.0e-5 : (tensor<?x6x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x6x6x8xf32>

  %conv2.w = nn.read @conv2.weight : tensor<3x3x8x16xf32>
  %c2 = nn.convolution %n1, %conv2.w padding [1, 1, 1, 1] : (tensor<?x6x6x8xf32>, tensor<3x3x8x16xf32>) -> tensor<?x6x6x16xf32>
  %n2 = func.call @group_norm(%c2) : (tensor<?x6x6x16xf32>) -> tensor<?x6x6x16xf32>
  %a2 = nn.relu %n2 : tensor<?x6x6x16xf32>
  // Windows that overlap: 6 + 1 rows hold (7 - 3) / 2 + 1 = 3.
  %p2 = nn.max_pool %a2 window [3, 3] strides [2, 2] padding [0, 1, 0, 1] : (tensor<?x6x6x16xf32>) -> tensor<?x3x3x16xf32>

  // A window of one element mixes channels: a matrix product, without patches.
  %mix.w = nn.read @mix.weight : tensor<1x1x16x16xf32>
  %c3 = nn.convolution %p2, %mix.w : (tensor<?x3x3x16xf32>, tensor<1x1x16x16xf32>) -> tensor<?x3x3x16xf32>
  %a3 = nn.silu %c3 : tensor<?x3x3x16xf32>
  %p3 = nn.avg_pool %a3 window [3, 3] : (tensor<?x3x3x16xf32>) -> tensor<?x1x1x16xf32>
  %flat = nn.reshape %p3 to [-1, 16] : (tensor<?x1x1x16xf32>) -> tensor<?x16xf32>
  %head.w = nn.read @head.weight : tensor<16x4xf32>
  %head.b = nn.read @head.bias : tensor<4xf32>
  %logits = nn.linear %flat, %head.w, %head.b : (tensor<?x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %loss = nn.cross_entropy %logits, %labels ignoring -1 : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
