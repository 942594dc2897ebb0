module attributes {zero.config = {beta1 = 9.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, bucket_bytes = 64 : i64, clip = 1.000000e+00 : f64, eps = 1.000000e-08 : f64, loss_mean = "step", micro_steps = 2 : i64, momentum = 0.000000e+00 : f64, optimizer = "adamw", ranks = 3 : i64, reduce_every = "micro-step", stage = 3 : i64, threads_per_rank = 1 : i64, weight_decay = 0.000000e+00 : f64}} {
  nn.param @wte : tensor<5x4xf32> init normal(0.02)
  nn.param @ln.w : tensor<4xf32> init ones
  nn.param @ln.b : tensor<4xf32> init zeros {trainable = false}
  nn.param @fc.w : tensor<4x6xf32> init normal(0.02)
  nn.param @fc.b : tensor<6xf32> init zeros
  nn.param @pr.w : tensor<6x4xf32> init normal(0.02)
  nn.param @pr.b : tensor<4xf32> init zeros
  nn.param @extra : tensor<3x2xf32> init normal(0.02)
  zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
    zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
  }
  zero.bucket @b1 trainable over 3 ranks length 6 chunk 6 {
    zero.slot @ln.w at 0 : tensor<4xf32> contributions 1
  }
  zero.bucket @b2 trainable over 3 ranks length 24 chunk 15 {
    zero.slot @fc.w at 0 : tensor<4x6xf32> contributions 1
  }
  zero.bucket @b3 trainable over 3 ranks length 6 chunk 6 {
    zero.slot @fc.b at 0 : tensor<6xf32> contributions 1
  }
  zero.bucket @b4 trainable over 3 ranks length 24 chunk 15 {
    zero.slot @pr.w at 0 : tensor<6x4xf32> contributions 1
  }
  zero.bucket @b5 trainable over 3 ranks length 6 chunk 6 {
    zero.slot @pr.b at 0 : tensor<4xf32> contributions 1
  }
  zero.bucket @f0 frozen over 3 ranks length 6 chunk 6 {
    zero.slot @ln.b at 0 : tensor<4xf32>
  }
  zero.bucket @u0 unused over 3 ranks length 6 chunk 6 {
    zero.slot @extra at 0 : tensor<3x2xf32>
  }
  zero.state @b0 holds [param f32 sharded at 0, grad_accum f32 sharded at 192, moment1 f32 sharded at 320, moment2 f32 sharded at 448]
  zero.state @b1 holds [param f32 sharded at 28, grad_accum f32 sharded at 220, moment1 f32 sharded at 348, moment2 f32 sharded at 476]
  zero.state @b2 holds [param f32 sharded at 36, grad_accum f32 sharded at 228, moment1 f32 sharded at 356, moment2 f32 sharded at 484]
  zero.state @b3 holds [param f32 sharded at 68, grad_accum f32 sharded at 260, moment1 f32 sharded at 388, moment2 f32 sharded at 516]
  zero.state @b4 holds [param f32 sharded at 76, grad_accum f32 sharded at 268, moment1 f32 sharded at 396, moment2 f32 sharded at 524]
  zero.state @b5 holds [param f32 sharded at 108, grad_accum f32 sharded at 300, moment1 f32 sharded at 428, moment2 f32 sharded at 556]
  zero.state @f0 holds [param f32 sharded at 116]
  zero.state @u0 holds [param f32 sharded at 124]
  zero.cell @label_count : tensor<i64> at 576
  zero.cell @norm : tensor<f64> at 584
  zero.cell @loss : tensor<2xf32> at 592
  zero.cell @seed : tensor<f32> at 600
  zero.cell @scalars : tensor<7xf32> at 604
  zero.kernel @embedding(%arg0: tensor<2x3xi32>, %arg1: tensor<5x4xf32>) -> tensor<2x3x4xf32> kind generated {
    %0 = nn.embedding %arg0, %arg1 : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    zero.yield %0 : tensor<2x3x4xf32>
  }
  zero.kernel @layer_norm(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<2x3x4xf32> kind generated may_reuse [[0]] {
    %0 = nn.layer_norm %arg0, %arg1, %arg2 eps 1.000000e-05 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    zero.yield %0 : tensor<2x3x4xf32>
  }
  zero.kernel @linear(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<6xf32>) -> tensor<2x3x6xf32> kind gemm {
    %0 = nn.linear %arg0, %arg1, %arg2 : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
    zero.yield %0 : tensor<2x3x6xf32>
  }
  zero.kernel @gelu(%arg0: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> kind generated may_reuse [[0]] {
    %0 = nn.gelu tanh %arg0 : tensor<2x3x6xf32>
    zero.yield %0 : tensor<2x3x6xf32>
  }
  zero.kernel @linear_1(%arg0: tensor<2x3x6xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> kind gemm may_reuse [[3]] {
    %0 = nn.linear %arg0, %arg1, %arg2 : (tensor<2x3x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %1 = nn.add %0, %arg3 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    zero.yield %1 : tensor<2x3x4xf32>
  }
  zero.kernel @dot_general(%arg0: tensor<2x3x4xf32>, %arg1: tensor<5x4xf32>) -> tensor<2x3x5xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [2] x [1] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    zero.yield %0 : tensor<2x3x5xf32>
  }
  zero.kernel @cross_entropy_with_grad(%arg0: tensor<2x3x5xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<2x3x5xf32>) kind cross_entropy may_reuse [[], [0]] {
    %loss, %dlogits = nn.cross_entropy_with_grad %arg0, %arg1, %arg2 ignoring -100 : (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x3x5xf32>)
    zero.yield %loss, %dlogits : tensor<f32>, tensor<2x3x5xf32>
  }
  zero.kernel @dot_general_1(%arg0: tensor<2x3x5xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<5x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [0, 1] x [0, 1] : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
    zero.yield %0 : tensor<5x4xf32>
  }
  zero.kernel @dot_general_2(%arg0: tensor<2x3x5xf32>, %arg1: tensor<5x4xf32>) -> tensor<2x3x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [2] x [0] : (tensor<2x3x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    zero.yield %0 : tensor<2x3x4xf32>
  }
  zero.kernel @reduce_sum(%arg0: tensor<2x3x4xf32>) -> tensor<4xf32> kind generated {
    %0 = nn.reduce_sum %arg0 over [0, 1] : (tensor<2x3x4xf32>) -> tensor<4xf32>
    zero.yield %0 : tensor<4xf32>
  }
  zero.kernel @dot_general_3(%arg0: tensor<2x3x6xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<6x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [0, 1] x [0, 1] : (tensor<2x3x6xf32>, tensor<2x3x4xf32>) -> tensor<6x4xf32>
    zero.yield %0 : tensor<6x4xf32>
  }
  zero.kernel @dot_general_4(%arg0: tensor<2x3x4xf32>, %arg1: tensor<6x4xf32>) -> tensor<2x3x6xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [2] x [1] : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
    zero.yield %0 : tensor<2x3x6xf32>
  }
  zero.kernel @gelu_grad(%arg0: tensor<2x3x6xf32>, %arg1: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> kind generated may_reuse [[0, 1]] {
    %0 = nn.gelu_grad tanh %arg0, %arg1 : tensor<2x3x6xf32>
    zero.yield %0 : tensor<2x3x6xf32>
  }
  zero.kernel @reduce_sum_1(%arg0: tensor<2x3x6xf32>) -> tensor<6xf32> kind generated {
    %0 = nn.reduce_sum %arg0 over [0, 1] : (tensor<2x3x6xf32>) -> tensor<6xf32>
    zero.yield %0 : tensor<6xf32>
  }
  zero.kernel @dot_general_5(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x6xf32>) -> tensor<4x6xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [0, 1] x [0, 1] : (tensor<2x3x4xf32>, tensor<2x3x6xf32>) -> tensor<4x6xf32>
    zero.yield %0 : tensor<4x6xf32>
  }
  zero.kernel @dot_general_6(%arg0: tensor<2x3x6xf32>, %arg1: tensor<4x6xf32>) -> tensor<2x3x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [2] x [1] : (tensor<2x3x6xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
    zero.yield %0 : tensor<2x3x4xf32>
  }
  zero.kernel @layer_norm_grad_input(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<2x3x4xf32>, %arg3: tensor<2x3x4xf32>) -> (tensor<4xf32>, tensor<2x3x4xf32>) kind generated may_reuse [[], [0, 2, 3]] {
    %0 = nn.layer_norm_grad_input %arg0, %arg1, %arg2 eps 1.000000e-05 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %1 = nn.layer_norm_grad_weight %arg0, %arg2 eps 1.000000e-05 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<4xf32>
    %2 = nn.add %arg3, %0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    zero.yield %1, %2 : tensor<4xf32>, tensor<2x3x4xf32>
  }
  zero.kernel @scatter_add(%arg0: tensor<2x3xi32>, %arg1: tensor<2x3x4xf32>) -> tensor<5x4xf32> kind scatter {
    %0 = nn.scatter_add %arg0, %arg1 into 5 rows : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
    zero.yield %0 : tensor<5x4xf32>
  }
  zero.arena 2048 bytes persistent 640 lower_bound 2048
  zero.segment @count times 1 (%labels: tensor<2x2x3xi32> at 640) {
    zero.count %labels ignoring -100 into @label_count : tensor<2x2x3xi32>
    zero.seed @seed from @label_count
  }
  zero.segment @micro_step times 2 (%tokens: tensor<2x3xi32> at 1920, %labels: tensor<2x3xi32> at 1792) {
    %b0.gather = zero.all_gather_start @b0 on gather at 640 : !zero.future<@b0>
    %seed = zero.scalar @seed : tensor<f32>
    %b1.gather = zero.all_gather_start @b1 on gather at 768 : !zero.future<@b1>
    %f0.gather = zero.all_gather_start @f0 on gather at 960 : !zero.future<@f0>
    %b0 = zero.wait %b0.gather on compute : !zero.future<@b0> -> !zero.full<@b0>
    %wte = zero.view @wte of %b0 : !zero.full<@b0> -> tensor<5x4xf32>
    %embedding = zero.launch @embedding(%tokens, %wte) on compute to [at 1024] : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    zero.free %b0 : !zero.full<@b0>
    %b2.gather = zero.all_gather_start @b2 on gather at 832 : !zero.future<@b2>
    %b3.gather = zero.all_gather_start @b3 on gather at 1856 : !zero.future<@b3>
    %b1 = zero.wait %b1.gather on compute : !zero.future<@b1> -> !zero.full<@b1>
    %f0 = zero.wait %f0.gather on compute : !zero.future<@f0> -> !zero.full<@f0>
    %ln.w = zero.view @ln.w of %b1 : !zero.full<@b1> -> tensor<4xf32>
    %ln.b = zero.view @ln.b of %f0 : !zero.full<@f0> -> tensor<4xf32>
    %layer_norm = zero.launch @layer_norm(%embedding, %ln.w, %ln.b) on compute to [at 1152] : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    zero.free %f0 : !zero.full<@f0>
    zero.free %b1 : !zero.full<@b1>
    %b4.gather = zero.all_gather_start @b4 on gather at 1280 : !zero.future<@b4>
    %b5.gather = zero.all_gather_start @b5 on gather at 1664 : !zero.future<@b5>
    %b2 = zero.wait %b2.gather on compute : !zero.future<@b2> -> !zero.full<@b2>
    %b3 = zero.wait %b3.gather on compute : !zero.future<@b3> -> !zero.full<@b3>
    %fc.w = zero.view @fc.w of %b2 : !zero.full<@b2> -> tensor<4x6xf32>
    %fc.b = zero.view @fc.b of %b3 : !zero.full<@b3> -> tensor<6xf32>
    %linear = zero.launch @linear(%layer_norm, %fc.w, %fc.b) on compute to [at 640] : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
    zero.free %b3 : !zero.full<@b3>
    zero.free %b2 : !zero.full<@b2>
    %gelu = zero.launch @gelu(%linear) on compute to [at 832] : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
    %b0.gather_0 = zero.all_gather_start @b0 on gather at 1408 : !zero.future<@b0>
    %b4 = zero.wait %b4.gather on compute : !zero.future<@b4> -> !zero.full<@b4>
    %b5 = zero.wait %b5.gather on compute : !zero.future<@b5> -> !zero.full<@b5>
    %pr.w = zero.view @pr.w of %b4 : !zero.full<@b4> -> tensor<6x4xf32>
    %pr.b = zero.view @pr.b of %b5 : !zero.full<@b5> -> tensor<4xf32>
    %linear_1 = zero.launch @linear_1(%gelu, %pr.w, %pr.b, %embedding) on compute to [at 1536] : (tensor<2x3x6xf32>, tensor<6x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    zero.free %b5 : !zero.full<@b5>
    zero.free %b4 : !zero.full<@b4>
    %b4.gather_1 = zero.all_gather_start @b4 on gather at 1280 : !zero.future<@b4>
    %b0_2 = zero.wait %b0.gather_0 on compute : !zero.future<@b0> -> !zero.full<@b0>
    %wte_3 = zero.view @wte of %b0_2 : !zero.full<@b0> -> tensor<5x4xf32>
    %dot_general = zero.launch @dot_general(%linear_1, %wte_3) on compute to [at 1664] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    %cross_entropy_with_grad:2 = zero.launch @cross_entropy_with_grad(%dot_general, %labels, %seed) on compute to [cell, inout 0] : (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x3x5xf32>)
    zero.set @loss %cross_entropy_with_grad#0 : tensor<f32>
    %dot_general_1 = zero.launch @dot_general_1(%cross_entropy_with_grad#1, %linear_1) on compute to [slot] : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
    %b0.grads = zero.grads @b0 at 1792 : !zero.grads<@b0>
    %b0.grads_4 = zero.accumulate %dot_general_1 into %b0.grads[@wte] write : tensor<5x4xf32>, !zero.grads<@b0>
    %dot_general_2 = zero.launch @dot_general_2(%cross_entropy_with_grad#1, %wte_3) on compute to [at 1536] : (tensor<2x3x5xf32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    zero.free %b0_2 : !zero.full<@b0>
    %reduce_sum = zero.launch @reduce_sum(%dot_general_2) on compute to [slot] : (tensor<2x3x4xf32>) -> tensor<4xf32>
    %b5.grads = zero.grads @b5 at 1984 : !zero.grads<@b5>
    %b5.grads_5 = zero.accumulate %reduce_sum into %b5.grads[@pr.b] write : tensor<4xf32>, !zero.grads<@b5>
    %b5.sum = zero.reduce_scatter_start %b5.grads_5 on reduce : !zero.grads<@b5> -> !zero.future<@b5>
    %dot_general_3 = zero.launch @dot_general_3(%gelu, %dot_general_2) on compute to [slot] : (tensor<2x3x6xf32>, tensor<2x3x4xf32>) -> tensor<6x4xf32>
    %b4.grads = zero.grads @b4 at 1408 : !zero.grads<@b4>
    %b4.grads_6 = zero.accumulate %dot_general_3 into %b4.grads[@pr.w] write : tensor<6x4xf32>, !zero.grads<@b4>
    %b4.sum = zero.reduce_scatter_start %b4.grads_6 on reduce : !zero.grads<@b4> -> !zero.future<@b4>
    %b2.gather_7 = zero.all_gather_start @b2 on gather at 1664 : !zero.future<@b2>
    %b4_8 = zero.wait %b4.gather_1 on compute : !zero.future<@b4> -> !zero.full<@b4>
    %pr.w_9 = zero.view @pr.w of %b4_8 : !zero.full<@b4> -> tensor<6x4xf32>
    %dot_general_4 = zero.launch @dot_general_4(%dot_general_2, %pr.w_9) on compute to [at 832] : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
    zero.free %b4_8 : !zero.full<@b4>
    %gelu_grad = zero.launch @gelu_grad(%dot_general_4, %linear) on compute to [inout 0] : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
    zero.wait %b5.sum on compute : !zero.future<@b5>
    %reduce_sum_1 = zero.launch @reduce_sum_1(%gelu_grad) on compute to [slot] : (tensor<2x3x6xf32>) -> tensor<6xf32>
    %b3.grads = zero.grads @b3 at 768 : !zero.grads<@b3>
    %b3.grads_10 = zero.accumulate %reduce_sum_1 into %b3.grads[@fc.b] write : tensor<6xf32>, !zero.grads<@b3>
    %b3.sum = zero.reduce_scatter_start %b3.grads_10 on reduce : !zero.grads<@b3> -> !zero.future<@b3>
    zero.wait %b4.sum on compute : !zero.future<@b4>
    %dot_general_5 = zero.launch @dot_general_5(%layer_norm, %gelu_grad) on compute to [slot] : (tensor<2x3x4xf32>, tensor<2x3x6xf32>) -> tensor<4x6xf32>
    %b2.grads = zero.grads @b2 at 640 : !zero.grads<@b2>
    %b2.grads_11 = zero.accumulate %dot_general_5 into %b2.grads[@fc.w] write : tensor<4x6xf32>, !zero.grads<@b2>
    %b2.sum = zero.reduce_scatter_start %b2.grads_11 on reduce : !zero.grads<@b2> -> !zero.future<@b2>
    %b1.gather_12 = zero.all_gather_start @b1 on gather at 1280 : !zero.future<@b1>
    %b2_13 = zero.wait %b2.gather_7 on compute : !zero.future<@b2> -> !zero.full<@b2>
    %fc.w_14 = zero.view @fc.w of %b2_13 : !zero.full<@b2> -> tensor<4x6xf32>
    %dot_general_6 = zero.launch @dot_general_6(%gelu_grad, %fc.w_14) on compute to [at 1152] : (tensor<2x3x6xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
    zero.free %b2_13 : !zero.full<@b2>
    %b1_15 = zero.wait %b1.gather_12 on compute : !zero.future<@b1> -> !zero.full<@b1>
    %ln.w_16 = zero.view @ln.w of %b1_15 : !zero.full<@b1> -> tensor<4xf32>
    zero.wait %b3.sum on compute : !zero.future<@b3>
    %layer_norm_grad_input:2 = zero.launch @layer_norm_grad_input(%embedding, %ln.w_16, %dot_general_6, %dot_general_2) on compute to [slot, inout 0] workspace at 1664 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<4xf32>, tensor<2x3x4xf32>)
    zero.free %b1_15 : !zero.full<@b1>
    %b1.grads = zero.grads @b1 at 1344 : !zero.grads<@b1>
    %b1.grads_17 = zero.accumulate %layer_norm_grad_input#0 into %b1.grads[@ln.w] write : tensor<4xf32>, !zero.grads<@b1>
    %b1.sum = zero.reduce_scatter_start %b1.grads_17 on reduce : !zero.grads<@b1> -> !zero.future<@b1>
    zero.wait %b2.sum on compute : !zero.future<@b2>
    %scatter_add = zero.launch @scatter_add(%tokens, %layer_norm_grad_input#1) on compute to [slot] : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
    %b0.grads_18 = zero.accumulate %scatter_add into %b0.grads_4[@wte] add : tensor<5x4xf32>, !zero.grads<@b0>
    %b0.sum = zero.reduce_scatter_start %b0.grads_18 on reduce : !zero.grads<@b0> -> !zero.future<@b0>
    zero.wait %b1.sum on compute : !zero.future<@b1>
    zero.wait %b0.sum on compute : !zero.future<@b0>
  }
  zero.segment @update times 1 {
    zero.norm [@b0, @b1, @b2, @b3, @b4, @b5] into @norm
    zero.update @b0 by @norm {[0, 20) decay}
    zero.update @b1 by @norm {[0, 4) no_decay}
    zero.update @b2 by @norm {[0, 24) decay}
    zero.update @b3 by @norm {[0, 6) no_decay}
    zero.update @b4 by @norm {[0, 24) decay}
    zero.update @b5 by @norm {[0, 4) no_decay}
  }
}

