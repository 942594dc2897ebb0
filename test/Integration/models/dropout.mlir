// A small transformer that drops everywhere where GPT-2 does: embeddings, attention's
// probabilities, and what its two layers add to the residual. Sizes divide by nothing.

nn.param @wte : tensor<37x18xf32> init normal(0.1)
nn.param @wpe : tensor<7x18xf32> init normal(0.1)
nn.param @ln.w : tensor<18xf32> init ones
nn.param @ln.b : tensor<18xf32> init zeros
nn.param @qkv.w : tensor<18x54xf32> init normal(0.2)
nn.param @proj.w : tensor<18x18xf32> init normal(0.2)
nn.param @fc.w : tensor<18x35xf32> init normal(0.2)
nn.param @fc.b : tensor<35xf32> init normal(0.1)
nn.param @out.w : tensor<35x18xf32> init normal(0.2)
nn.param @out.b : tensor<18xf32> init zeros

// Called twice: one set of weights, two sets of masks.
func.func private @layer(%x: tensor<?x7x18xf32>) -> tensor<?x7x18xf32> {
  %ln.w = nn.read @ln.w : tensor<18xf32>
  %ln.b = nn.read @ln.b : tensor<18xf32>
  %qkv.w = nn.read @qkv.w : tensor<18x54xf32>
  %proj.w = nn.read @proj.w : tensor<18x18xf32>
  %n = nn.layer_norm %x, %ln.w, %ln.b eps 1.0e-5 : (tensor<?x7x18xf32>, tensor<18xf32>, tensor<18xf32>) -> tensor<?x7x18xf32>
  %qkv = nn.linear %n, %qkv.w : (tensor<?x7x18xf32>, tensor<18x54xf32>) -> tensor<?x7x54xf32>
  %q0, %k0, %v0 = nn.split %qkv along 2 sizes [18, 18, 18] : (tensor<?x7x54xf32>) -> (tensor<?x7x18xf32>, tensor<?x7x18xf32>, tensor<?x7x18xf32>)
  %q = nn.reshape %q0 to [-1, 7, 3, 6] : (tensor<?x7x18xf32>) -> tensor<?x7x3x6xf32>
  %k = nn.reshape %k0 to [-1, 7, 3, 6] : (tensor<?x7x18xf32>) -> tensor<?x7x3x6xf32>
  %v = nn.reshape %v0 to [-1, 7, 3, 6] : (tensor<?x7x18xf32>) -> tensor<?x7x3x6xf32>
  %o, %lse = nn.attention %q, %k, %v scale 0.40824829 causal dropout 0.15
      : (tensor<?x7x3x6xf32>, tensor<?x7x3x6xf32>, tensor<?x7x3x6xf32>) -> (tensor<?x7x3x6xf32>, tensor<?x3x7xf32>)
  %c = nn.reshape %o to [-1, 7, 18] : (tensor<?x7x3x6xf32>) -> tensor<?x7x18xf32>
  %p = nn.linear %c, %proj.w : (tensor<?x7x18xf32>, tensor<18x18xf32>) -> tensor<?x7x18xf32>
  %pd = nn.dropout %p rate 0.1 : tensor<?x7x18xf32>
  %h = nn.add %x, %pd : (tensor<?x7x18xf32>, tensor<?x7x18xf32>) -> tensor<?x7x18xf32>

  %fc.w = nn.read @fc.w : tensor<18x35xf32>
  %fc.b = nn.read @fc.b : tensor<35xf32>
  %out.w = nn.read @out.w : tensor<35x18xf32>
  %out.b = nn.read @out.b : tensor<18xf32>
  %u = nn.linear %h, %fc.w, %fc.b : (tensor<?x7x18xf32>, tensor<18x35xf32>, tensor<35xf32>) -> tensor<?x7x35xf32>
  %a = nn.gelu tanh %u : tensor<?x7x35xf32>
  %d = nn.linear %a, %out.w, %out.b : (tensor<?x7x35xf32>, tensor<35x18xf32>, tensor<18xf32>) -> tensor<?x7x18xf32>
  %dd = nn.dropout %d rate 0.2 : tensor<?x7x18xf32>
  %y = nn.add %h, %dd : (tensor<?x7x18xf32>, tensor<?x7x18xf32>) -> tensor<?x7x18xf32>
  return %y : tensor<?x7x18xf32>
}

func.func @loss(%tokens: tensor<?x7xi32> {nn.name = "tokens"}, %labels: tensor<?x7xi32> {nn.name = "labels"}) -> tensor<f32> {
  %wte = nn.read @wte : tensor<37x18xf32>
  %wpe = nn.read @wpe : tensor<7x18xf32>
  %e = nn.embedding %tokens, %wte : (tensor<?x7xi32>, tensor<37x18xf32>) -> tensor<?x7x18xf32>
  %ep = nn.add %e, %wpe : (tensor<?x7x18xf32>, tensor<7x18xf32>) -> tensor<?x7x18xf32>
  %x = nn.dropout %ep rate 0.1 : tensor<?x7x18xf32>
  %y = func.call @layer(%x) : (tensor<?x7x18xf32>) -> tensor<?x7x18xf32>
  %z = func.call @layer(%y) : (tensor<?x7x18xf32>) -> tensor<?x7x18xf32>
  %logits = nn.dot_general %z, %wte contracting [2] x [1] : (tensor<?x7x18xf32>, tensor<37x18xf32>) -> tensor<?x7x37xf32>
  %loss = nn.cross_entropy %logits, %labels ignoring -100 : (tensor<?x7x37xf32>, tensor<?x7xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
