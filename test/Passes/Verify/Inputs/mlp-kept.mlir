module attributes {zero.config = {beta1 = 9.000000e-01 : f64, beta2 = 0.99899999999999999 : f64, bucket_bytes = 64 : i64, clip = 1.000000e+00 : f64, eps = 1.000000e-08 : f64, loss_mean = "step", micro_steps = 2 : i64, momentum = 0.000000e+00 : f64, optimizer = "adamw", ranks = 2 : i64, reduce_every = "micro-step", stage = 1 : i64, threads_per_rank = 1 : i64, weight_decay = 0.000000e+00 : f64}} {
  nn.param @fc.w : tensor<6x4xf32> init normal(0.02)
  nn.param @fc.b : tensor<4xf32> init zeros
  nn.param @pr.w : tensor<4x3xf32> init normal(0.02)
  zero.bucket @b0 trainable over 2 ranks length 24 chunk 16 {
    zero.slot @fc.w at 0 : tensor<6x4xf32> contributions 1
  }
  zero.bucket @b1 trainable over 2 ranks length 4 chunk 4 {
    zero.slot @fc.b at 0 : tensor<4xf32> contributions 1
  }
  zero.bucket @b2 trainable over 2 ranks length 12 chunk 12 {
    zero.slot @pr.w at 0 : tensor<4x3xf32> contributions 1
  }
  zero.state @b0 holds [param f32 full at 0, grad_accum f32 full at 256, moment1 f32 sharded at 512, moment2 f32 sharded at 640]
  zero.state @b1 holds [param f32 full at 128, grad_accum f32 full at 384, moment1 f32 sharded at 560, moment2 f32 sharded at 688]
  zero.state @b2 holds [param f32 full at 192, grad_accum f32 full at 448, moment1 f32 sharded at 568, moment2 f32 sharded at 696]
  zero.cell @label_count : tensor<i64> at 768
  zero.cell @norm : tensor<f64> at 776
  zero.cell @loss : tensor<2xf32> at 784
  zero.cell @seed : tensor<f32> at 792
  zero.cell @scalars : tensor<7xf32> at 796
  zero.kernel @linear(%arg0: tensor<2x6xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<4xf32>) -> tensor<2x4xf32> kind gemm {
    %0 = nn.linear %arg0, %arg1, %arg2 : (tensor<2x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    zero.yield %0 : tensor<2x4xf32>
  }
  zero.kernel @gelu(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> kind generated may_reuse [[0]] {
    %0 = nn.gelu tanh %arg0 : tensor<2x4xf32>
    zero.yield %0 : tensor<2x4xf32>
  }
  zero.kernel @linear_1(%arg0: tensor<2x4xf32>, %arg1: tensor<4x3xf32>) -> tensor<2x3xf32> kind gemm {
    %0 = nn.linear %arg0, %arg1 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    zero.yield %0 : tensor<2x3xf32>
  }
  zero.kernel @cross_entropy_with_grad(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>) kind cross_entropy may_reuse [[], [0]] {
    %loss, %dlogits = nn.cross_entropy_with_grad %arg0, %arg1, %arg2 ignoring -100 : (tensor<2x3xf32>, tensor<2xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)
    zero.yield %loss, %dlogits : tensor<f32>, tensor<2x3xf32>
  }
  zero.kernel @dot_general(%arg0: tensor<2x4xf32>, %arg1: tensor<2x3xf32>) -> tensor<4x3xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [0] x [0] : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    zero.yield %0 : tensor<4x3xf32>
  }
  zero.kernel @dot_general_1(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3xf32>) -> tensor<2x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    zero.yield %0 : tensor<2x4xf32>
  }
  zero.kernel @gelu_grad(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> kind generated may_reuse [[0, 1]] {
    %0 = nn.gelu_grad tanh %arg0, %arg1 : tensor<2x4xf32>
    zero.yield %0 : tensor<2x4xf32>
  }
  zero.kernel @reduce_sum(%arg0: tensor<2x4xf32>) -> tensor<4xf32> kind generated {
    %0 = nn.reduce_sum %arg0 over [0] : (tensor<2x4xf32>) -> tensor<4xf32>
    zero.yield %0 : tensor<4xf32>
  }
  zero.kernel @dot_general_2(%arg0: tensor<2x6xf32>, %arg1: tensor<2x4xf32>) -> tensor<6x4xf32> kind gemm {
    %0 = nn.dot_general %arg0, %arg1 contracting [0] x [0] : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
    zero.yield %0 : tensor<6x4xf32>
  }
  zero.arena 1152 bytes persistent 832 lower_bound 1152
  zero.segment @count times 1 (%labels: tensor<2x2xi32> at 832) {
    zero.count %labels ignoring -100 into @label_count : tensor<2x2xi32>
    zero.seed @seed from @label_count
  }
  zero.segment @micro_step times 2 (%x: tensor<2x6xf32> at 832, %labels: tensor<2xi32> at 896) {
    %seed = zero.scalar @seed : tensor<f32>
    %b0 = zero.resident @b0 : !zero.full<@b0>
    %b1 = zero.resident @b1 : !zero.full<@b1>
    %fc.w = zero.view @fc.w of %b0 : !zero.full<@b0> -> tensor<6x4xf32>
    %fc.b = zero.view @fc.b of %b1 : !zero.full<@b1> -> tensor<4xf32>
    %linear = zero.launch @linear(%x, %fc.w, %fc.b) on compute to [at 960] : (tensor<2x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %gelu = zero.launch @gelu(%linear) on compute to [at 1024] : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b2 = zero.resident @b2 : !zero.full<@b2>
    %pr.w = zero.view @pr.w of %b2 : !zero.full<@b2> -> tensor<4x3xf32>
    %linear_1 = zero.launch @linear_1(%gelu, %pr.w) on compute to [at 1088] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %cross_entropy_with_grad:2 = zero.launch @cross_entropy_with_grad(%linear_1, %labels, %seed) on compute to [cell, inout 0] : (tensor<2x3xf32>, tensor<2xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x3xf32>)
    zero.set @loss %cross_entropy_with_grad#0 : tensor<f32>
    %dot_general = zero.launch @dot_general(%gelu, %cross_entropy_with_grad#1) on compute to [slot] : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %b2.grads = zero.grads @b2 : !zero.grads<@b2>
    %b2.grads_0 = zero.accumulate %dot_general into %b2.grads[@pr.w] write_first : tensor<4x3xf32>, !zero.grads<@b2>
    zero.keep %b2.grads_0 : !zero.grads<@b2>
    %dot_general_1 = zero.launch @dot_general_1(%cross_entropy_with_grad#1, %pr.w) on compute to [at 896] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %gelu_grad = zero.launch @gelu_grad(%dot_general_1, %linear) on compute to [inout 0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %reduce_sum = zero.launch @reduce_sum(%gelu_grad) on compute to [slot] : (tensor<2x4xf32>) -> tensor<4xf32>
    %b1.grads = zero.grads @b1 : !zero.grads<@b1>
    %b1.grads_1 = zero.accumulate %reduce_sum into %b1.grads[@fc.b] write_first : tensor<4xf32>, !zero.grads<@b1>
    zero.keep %b1.grads_1 : !zero.grads<@b1>
    %dot_general_2 = zero.launch @dot_general_2(%x, %gelu_grad) on compute to [slot] : (tensor<2x6xf32>, tensor<2x4xf32>) -> tensor<6x4xf32>
    %b0.grads = zero.grads @b0 : !zero.grads<@b0>
    %b0.grads_2 = zero.accumulate %dot_general_2 into %b0.grads[@fc.w] write_first : tensor<6x4xf32>, !zero.grads<@b0>
    zero.keep %b0.grads_2 : !zero.grads<@b0>
  }
  zero.segment @update times 1 {
    %b0.grads = zero.grads @b0 : !zero.grads<@b0>
    %b0.sum = zero.reduce_scatter_start %b0.grads on reduce : !zero.grads<@b0> -> !zero.future<@b0>
    %b1.grads = zero.grads @b1 : !zero.grads<@b1>
    %b1.sum = zero.reduce_scatter_start %b1.grads on reduce : !zero.grads<@b1> -> !zero.future<@b1>
    %b2.grads = zero.grads @b2 : !zero.grads<@b2>
    %b2.sum = zero.reduce_scatter_start %b2.grads on reduce : !zero.grads<@b2> -> !zero.future<@b2>
    zero.wait %b0.sum on compute : !zero.future<@b0>
    zero.wait %b1.sum on compute : !zero.future<@b1>
    zero.wait %b2.sum on compute : !zero.future<@b2>
    zero.norm [@b0, @b1, @b2] into @norm
    zero.update @b0 by @norm {[0, 24) decay}
    zero.update @b1 by @norm {[0, 4) no_decay}
    zero.update @b2 by @norm {[0, 12) decay}
    %b0.gather = zero.all_gather_start @b0 in_place on gather : !zero.future<@b0>
    %b1.gather = zero.all_gather_start @b1 in_place on gather : !zero.future<@b1>
    %b2.gather = zero.all_gather_start @b2 in_place on gather : !zero.future<@b2>
    zero.wait %b0.gather on compute : !zero.future<@b0>
    zero.wait %b1.gather on compute : !zero.future<@b1>
    zero.wait %b2.gather on compute : !zero.future<@b2>
  }
}

