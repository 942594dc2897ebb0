// RUN: zero-opt %s --nn-autodiff="evaluate=true" | FileCheck %s
// RUN: zero-opt %s --nn-autodiff | FileCheck %s --check-prefix=TRAIN
// RUN: zero-opt %s --zero-configure="ranks=2 stage=3" --nn-autodiff="evaluate=true" --zero-form-launches \
// RUN:   --zero-replicate --zero-shard-optimizer --zero-shard-gradients --zero-shard-parameters \
// RUN:   --zero-bucket-collectives --zero-verify --zero-schedule --zero-verify --zero-plan-arena --zero-verify \
// RUN:   | FileCheck %s --check-prefix=ARENA

// Forward alone: no dropout, no gradient of the logits, and the loss weighed by the last argument.
// CHECK-LABEL: func.func @eval(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>{{.*}}, %[[LABELS:.*]]: tensor<2xi32>{{.*}}, %[[SEED:.*]]: tensor<f32>) -> tensor<f32>
// CHECK: %[[W:.*]] = nn.read @w
// CHECK-NEXT: %[[Y:.*]] = nn.linear %[[X]], %[[W]]
// CHECK-NEXT: %[[LOSS:.*]], %{{.*}} = nn.cross_entropy_with_grad %[[Y]], %[[LABELS]], %[[SEED]]
// CHECK-NEXT: return %[[LOSS]] : tensor<f32>
// CHECK: func.func @joint(
// CHECK: nn.dropout

// TRAIN-NOT: @eval

// One gather, a seed without a count (which is 1 in an evaluation), and no backward.
// ARENA: zero.segment @eval times 1 (%x: tensor<2x3xf32> at {{[0-9]+}}, %labels: tensor<2xi32> at {{[0-9]+}})
// ARENA: zero.all_gather_start @b0
// ARENA: zero.count %labels ignoring -100 into @eval_count
// ARENA: zero.seed @eval_seed
// ARENA: zero.launch @linear(
// ARENA: zero.free
// ARENA: zero.launch @cross_entropy_with_grad{{.*}} to [cell]
// ARENA: zero.set @eval_loss
// ARENA-NOT: zero.grads
// ARENA: }
nn.param @w : tensor<3x5xf32> init normal(0.02)
func.func @loss(%x: tensor<2x3xf32> {nn.name = "x"}, %labels: tensor<2xi32> {nn.name = "labels"}) -> tensor<f32> {
  %w = nn.read @w : tensor<3x5xf32>
  %y = nn.linear %x, %w : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %d = nn.dropout %y rate 0.5 : tensor<2x5xf32>
  %loss = nn.cross_entropy %d, %labels ignoring -100 : (tensor<2x5xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
