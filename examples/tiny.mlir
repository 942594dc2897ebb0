// Eight parameters with every case in a few lines: a tied weight (@wte, read twice), a frozen one
// (@ln.b), one that the loss does not depend on (@extra). Small enough to follow each byte by hand:
//
//   zero-opt examples/tiny.mlir \
//     --zero-pipeline="stage=3 ranks=3 micro-batch=2 micro-steps=2 bucket-bytes=64 until=arena"

nn.param @wte : tensor<5x4xf32> init normal(0.02)
nn.param @ln.w : tensor<4xf32> init ones
nn.param @ln.b : tensor<4xf32> init zeros {trainable = false}
nn.param @fc.w : tensor<4x6xf32> init normal(0.02)
nn.param @fc.b : tensor<6xf32> init zeros
nn.param @pr.w : tensor<6x4xf32> init normal(0.02)
nn.param @pr.b : tensor<4xf32> init zeros
nn.param @extra : tensor<3x2xf32> init normal(0.02)

func.func @loss(%tokens: tensor<?x3xi32> {nn.name = "tokens"}, %labels: tensor<?x3xi32> {nn.name = "labels"}) -> tensor<f32> {
  %e = nn.read @wte : tensor<5x4xf32>
  %x = nn.embedding %tokens, %e : (tensor<?x3xi32>, tensor<5x4xf32>) -> tensor<?x3x4xf32>
  %ln.w = nn.read @ln.w : tensor<4xf32>
  %ln.b = nn.read @ln.b : tensor<4xf32>
  %y = nn.layer_norm %x, %ln.w, %ln.b eps 1.0e-5 : (tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32>
  %fc.w = nn.read @fc.w : tensor<4x6xf32>
  %fc.b = nn.read @fc.b : tensor<6xf32>
  %u = nn.linear %y, %fc.w, %fc.b : (tensor<?x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<?x3x6xf32>
  %a = nn.gelu tanh %u : tensor<?x3x6xf32>
  %pr.w = nn.read @pr.w : tensor<6x4xf32>
  %pr.b = nn.read @pr.b : tensor<4xf32>
  %z = nn.linear %a, %pr.w, %pr.b : (tensor<?x3x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32>
  %h = nn.add %z, %x : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  %e2 = nn.read @wte : tensor<5x4xf32>
  %l = nn.dot_general %h, %e2 contracting [2] x [1] : (tensor<?x3x4xf32>, tensor<5x4xf32>) -> tensor<?x3x5xf32>
  %loss = nn.cross_entropy %l, %labels ignoring -100 : (tensor<?x3x5xf32>, tensor<?x3xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
