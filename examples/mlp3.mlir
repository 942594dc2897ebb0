// A classifier of three layers, as one would write it by hand (level G).
//
//   zero-opt examples/mlp3.mlir \
//     --zero-pipeline="stage=3 ranks=4 micro-batch=8 bucket-bytes=17408 until=scheduled"
//
// prints its schedule at stage 3 on 4 ranks: which bucket is gathered when, which launch waits for
// it, and where each gradient leaves for its owner. Buckets of 17 KiB hold one layer each.
//
// Weights are [in, out]: 42 inputs, two hidden layers of 64, 10 classes.

nn.param @fc1.weight : tensor<42x64xf32> init normal(0.1)
nn.param @fc1.bias : tensor<64xf32> init zeros
nn.param @fc2.weight : tensor<64x64xf32> init normal(0.1)
nn.param @fc2.bias : tensor<64xf32> init zeros
nn.param @head.weight : tensor<64x10xf32> init normal(0.1)
nn.param @head.bias : tensor<10xf32> init zeros

func.func @loss(%x: tensor<?x42xf32> {nn.name = "x"}, %labels: tensor<?xi32> {nn.name = "labels"}) -> tensor<f32> {
  %fc1.weight = nn.read @fc1.weight : tensor<42x64xf32>
  %fc1.bias = nn.read @fc1.bias : tensor<64xf32>
  %u1 = nn.linear %x, %fc1.weight, %fc1.bias : (tensor<?x42xf32>, tensor<42x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %h1 = nn.gelu tanh %u1 : tensor<?x64xf32>

  %fc2.weight = nn.read @fc2.weight : tensor<64x64xf32>
  %fc2.bias = nn.read @fc2.bias : tensor<64xf32>
  %u2 = nn.linear %h1, %fc2.weight, %fc2.bias : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %h2 = nn.gelu tanh %u2 : tensor<?x64xf32>

  %head.weight = nn.read @head.weight : tensor<64x10xf32>
  %head.bias = nn.read @head.bias : tensor<10xf32>
  %logits = nn.linear %h2, %head.weight, %head.bias : (tensor<?x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %loss = nn.cross_entropy %logits, %labels ignoring -100 : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
