// The worked example `tiny` at level J with launches: a tied weight (@wte: embedding and logits), a
// frozen bias (@ln.b), a parameter without a use (@extra); 18 launches of 18 kernels, 2 rows of 3
// tokens a rank and micro-step, 2 micro-steps.

nn.param @wte : tensor<5x4xf32> init normal(0.02)
nn.param @ln.w : tensor<4xf32> init ones
nn.param @ln.b : tensor<4xf32> init zeros {trainable = false}
nn.param @fc.w : tensor<4x6xf32> init normal(0.02)
nn.param @fc.b : tensor<6xf32> init zeros
nn.param @pr.w : tensor<6x4xf32> init normal(0.02)
nn.param @pr.b : tensor<4xf32> init zeros
nn.param @extra : tensor<3x2xf32> init normal(0.02)

zero.kernel @embed(%t: tensor<6xi32>, %w: tensor<5x4xf32>) -> tensor<6x4xf32> kind generated {
  %x = nn.embedding %t, %w : (tensor<6xi32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  zero.yield %x : tensor<6x4xf32>
}
zero.kernel @ln(%x: tensor<6x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<6x4xf32> kind generated may_reuse [[0]] {
  %y = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  zero.yield %y : tensor<6x4xf32>
}
zero.kernel @fc(%y: tensor<6x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<6x6xf32> kind gemm {
  %u = nn.linear %y, %w, %b : (tensor<6x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  zero.yield %u : tensor<6x6xf32>
}
zero.kernel @gelu(%u: tensor<6x6xf32>) -> tensor<6x6xf32> kind generated may_reuse [[0]] {
  %a = nn.gelu tanh %u : tensor<6x6xf32>
  zero.yield %a : tensor<6x6xf32>
}
zero.kernel @pr(%a: tensor<6x6xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>, %x: tensor<6x4xf32>) -> tensor<6x4xf32> kind gemm may_reuse [[3]] {
  %z = nn.linear %a, %w, %b : (tensor<6x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %h = nn.add %z, %x : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  zero.yield %h : tensor<6x4xf32>
}
zero.kernel @logits(%h: tensor<6x4xf32>, %w: tensor<5x4xf32>) -> tensor<6x5xf32> kind gemm {
  %l = nn.dot_general %h, %w contracting [1] x [1] : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  zero.yield %l : tensor<6x5xf32>
}
zero.kernel @ce(%l: tensor<6x5xf32>, %lab: tensor<6xi32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>) kind cross_entropy may_reuse [[], [0]] {
  %loss, %dl = nn.cross_entropy_with_grad %l, %lab, %seed ignoring -100 : (tensor<6x5xf32>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
  zero.yield %loss, %dl : tensor<f32>, tensor<6x5xf32>
}
zero.kernel @dwte(%dl: tensor<6x5xf32>, %h: tensor<6x4xf32>) -> tensor<5x4xf32> kind gemm {
  %d = nn.dot_general %dl, %h contracting [0] x [0] : (tensor<6x5xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  zero.yield %d : tensor<5x4xf32>
}
zero.kernel @dh(%dl: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> tensor<6x4xf32> kind gemm {
  %d = nn.dot_general %dl, %w contracting [1] x [0] : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  zero.yield %d : tensor<6x4xf32>
}
zero.kernel @db_pr(%dh: tensor<6x4xf32>) -> tensor<4xf32> kind generated {
  %d = nn.reduce_sum %dh over [0] : (tensor<6x4xf32>) -> tensor<4xf32>
  zero.yield %d : tensor<4xf32>
}
zero.kernel @dw_pr(%a: tensor<6x6xf32>, %dh: tensor<6x4xf32>) -> tensor<6x4xf32> kind gemm {
  %d = nn.dot_general %a, %dh contracting [0] x [0] : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  zero.yield %d : tensor<6x4xf32>
}
zero.kernel @da(%dh: tensor<6x4xf32>, %w: tensor<6x4xf32>) -> tensor<6x6xf32> kind gemm {
  %d = nn.dot_general %dh, %w contracting [1] x [1] : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  zero.yield %d : tensor<6x6xf32>
}
zero.kernel @gelu_grad(%da: tensor<6x6xf32>, %u: tensor<6x6xf32>) -> tensor<6x6xf32> kind generated may_reuse [[0, 1]] {
  %d = nn.gelu_grad tanh %da, %u : tensor<6x6xf32>
  zero.yield %d : tensor<6x6xf32>
}
zero.kernel @db_fc(%du: tensor<6x6xf32>) -> tensor<6xf32> kind generated {
  %d = nn.reduce_sum %du over [0] : (tensor<6x6xf32>) -> tensor<6xf32>
  zero.yield %d : tensor<6xf32>
}
zero.kernel @dw_fc(%y: tensor<6x4xf32>, %du: tensor<6x6xf32>) -> tensor<4x6xf32> kind gemm {
  %d = nn.dot_general %y, %du contracting [0] x [0] : (tensor<6x4xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  zero.yield %d : tensor<4x6xf32>
}
zero.kernel @dy(%du: tensor<6x6xf32>, %w: tensor<4x6xf32>) -> tensor<6x4xf32> kind gemm {
  %d = nn.dot_general %du, %w contracting [1] x [1] : (tensor<6x6xf32>, tensor<4x6xf32>) -> tensor<6x4xf32>
  zero.yield %d : tensor<6x4xf32>
}
zero.kernel @ln_grad(%x: tensor<6x4xf32>, %w: tensor<4xf32>, %dy: tensor<6x4xf32>, %dh: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>) kind generated may_reuse [[2, 3], []] {
  %dx0 = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %dx = nn.add %dx0, %dh : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %dw = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4xf32>
  zero.yield %dx, %dw : tensor<6x4xf32>, tensor<4xf32>
}
zero.kernel @scatter(%t: tensor<6xi32>, %dx: tensor<6x4xf32>) -> tensor<5x4xf32> kind scatter {
  %d = nn.scatter_add %t, %dx into 5 rows : (tensor<6xi32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  zero.yield %d : tensor<5x4xf32>
}

func.func @count(%labels: tensor<2x2x3xi32> {nn.name = "labels"}) -> tensor<i64> {
  %n = nn.count_labels %labels ignoring -100 : (tensor<2x2x3xi32>) -> tensor<i64>
  return %n : tensor<i64>
}

func.func @joint(%tokens: tensor<2x3xi32> {nn.name = "tokens"}, %labels: tensor<2x3xi32> {nn.name = "labels"}, %seed: tensor<f32>) {
  %wte = nn.read @wte : tensor<5x4xf32>
  %ln.w = nn.read @ln.w : tensor<4xf32>
  %ln.b = nn.read @ln.b : tensor<4xf32>
  %fc.w = nn.read @fc.w : tensor<4x6xf32>
  %fc.b = nn.read @fc.b : tensor<6xf32>
  %pr.w = nn.read @pr.w : tensor<6x4xf32>
  %pr.b = nn.read @pr.b : tensor<4xf32>
  %t = nn.reshape %tokens to [6] : (tensor<2x3xi32>) -> tensor<6xi32>
  %x = zero.launch @embed(%t, %wte) : (tensor<6xi32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %y = zero.launch @ln(%x, %ln.w, %ln.b) : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %u = zero.launch @fc(%y, %fc.w, %fc.b) : (tensor<6x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %a = zero.launch @gelu(%u) : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %h = zero.launch @pr(%a, %pr.w, %pr.b, %x) : (tensor<6x6xf32>, tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %l = zero.launch @logits(%h, %wte) : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %lab = nn.reshape %labels to [6] : (tensor<2x3xi32>) -> tensor<6xi32>
  %loss, %dl = zero.launch @ce(%l, %lab, %seed) : (tensor<6x5xf32>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
  %d.wte.1 = zero.launch @dwte(%dl, %h) : (tensor<6x5xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %dh = zero.launch @dh(%dl, %wte) : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %d.pr.b = zero.launch @db_pr(%dh) : (tensor<6x4xf32>) -> tensor<4xf32>
  %d.pr.w = zero.launch @dw_pr(%a, %dh) : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %da = zero.launch @da(%dh, %pr.w) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  %du = zero.launch @gelu_grad(%da, %u) : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %d.fc.b = zero.launch @db_fc(%du) : (tensor<6x6xf32>) -> tensor<6xf32>
  %d.fc.w = zero.launch @dw_fc(%y, %du) : (tensor<6x4xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %dy = zero.launch @dy(%du, %fc.w) : (tensor<6x6xf32>, tensor<4x6xf32>) -> tensor<6x4xf32>
  %dx, %d.ln.w = zero.launch @ln_grad(%x, %ln.w, %dy, %dh) : (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>)
  %d.wte.2 = zero.launch @scatter(%t, %dx) : (tensor<6xi32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  nn.return %loss grads(%d.wte.1 of @wte : tensor<5x4xf32>, %d.pr.b of @pr.b : tensor<4xf32>, %d.pr.w of @pr.w : tensor<6x4xf32>, %d.fc.b of @fc.b : tensor<6xf32>, %d.fc.w of @fc.w : tensor<4x6xf32>, %d.ln.w of @ln.w : tensor<4xf32>, %d.wte.2 of @wte : tensor<5x4xf32>) : tensor<f32>
}
