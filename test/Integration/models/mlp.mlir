// The golden case `mlp`: sizes that divide by nothing, one layer applied twice, one frozen, one
// parameter without a use. Weights are torch.nn.Linear's, [out, in].

nn.param @unused : tensor<3x2xf32> init normal(1.0)
nn.param @inp.weight : tensor<13x7xf32> init uniform(0.377964)
nn.param @inp.bias : tensor<13xf32> init uniform(0.377964)
nn.param @mid.weight : tensor<13x13xf32> init uniform(0.277350)
nn.param @mid.bias : tensor<13xf32> init uniform(0.277350)
nn.param @frozen.weight : tensor<13x13xf32> init uniform(0.277350) {trainable = false}
nn.param @frozen.bias : tensor<13xf32> init uniform(0.277350) {trainable = false}
nn.param @norm.weight : tensor<13xf32> init ones
nn.param @norm.bias : tensor<13xf32> init zeros
nn.param @out.weight : tensor<5x13xf32> init uniform(0.277350)

func.func @loss(%x: tensor<?x7xf32> {nn.name = "x"}, %labels: tensor<?xi32> {nn.name = "labels"}) -> tensor<f32> {
  %inp.w = nn.read @inp.weight : tensor<13x7xf32>
  %inp.b = nn.read @inp.bias : tensor<13xf32>
  %u = nn.linear %x, %inp.w, %inp.b transposed : (tensor<?x7xf32>, tensor<13x7xf32>, tensor<13xf32>) -> tensor<?x13xf32>
  %h0 = nn.gelu erf %u : tensor<?x13xf32>

  %mid.w = nn.read @mid.weight : tensor<13x13xf32>
  %mid.b = nn.read @mid.bias : tensor<13xf32>
  %u1 = nn.linear %h0, %mid.w, %mid.b transposed : (tensor<?x13xf32>, tensor<13x13xf32>, tensor<13xf32>) -> tensor<?x13xf32>
  %a1 = nn.gelu erf %u1 : tensor<?x13xf32>
  %h1 = nn.add %h0, %a1 : (tensor<?x13xf32>, tensor<?x13xf32>) -> tensor<?x13xf32>
  %u2 = nn.linear %h1, %mid.w, %mid.b transposed : (tensor<?x13xf32>, tensor<13x13xf32>, tensor<13xf32>) -> tensor<?x13xf32>
  %a2 = nn.silu %u2 : tensor<?x13xf32>
  %h2 = nn.add %h1, %a2 : (tensor<?x13xf32>, tensor<?x13xf32>) -> tensor<?x13xf32>

  %frozen.w = nn.read @frozen.weight : tensor<13x13xf32>
  %frozen.b = nn.read @frozen.bias : tensor<13xf32>
  %f = nn.linear %h2, %frozen.w, %frozen.b transposed : (tensor<?x13xf32>, tensor<13x13xf32>, tensor<13xf32>) -> tensor<?x13xf32>
  %norm.w = nn.read @norm.weight : tensor<13xf32>
  %norm.b = nn.read @norm.bias : tensor<13xf32>
  %n = nn.layer_norm %f, %norm.w, %norm.b eps 1.0e-5 : (tensor<?x13xf32>, tensor<13xf32>, tensor<13xf32>) -> tensor<?x13xf32>
  %out.w = nn.read @out.weight : tensor<5x13xf32>
  %logits = nn.linear %n, %out.w transposed : (tensor<?x13xf32>, tensor<5x13xf32>) -> tensor<?x5xf32>
  %loss = nn.cross_entropy %logits, %labels ignoring -100 : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
