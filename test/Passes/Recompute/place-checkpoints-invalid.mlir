// RUN: not zero-opt %s --zero-place-checkpoints="recompute=all" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: expects recompute=none|every-block|min-cut|budget, got recompute=all
//
// RUN: not zero-opt %s --zero-place-checkpoints="recompute=budget" 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: expects memory-budget of at least 1 with recompute=budget, got 0
//
// RUN: not zero-opt %s --zero-place-checkpoints="recompute=budget memory-budget=-5" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: expects memory-budget of at least 1 with recompute=budget, got -5
//
// RUN: not zero-opt %s --zero-place-checkpoints="memory-budget=64" 2>&1 | FileCheck %s --check-prefix=ONLY
// ONLY: error: expects memory-budget only with recompute=budget, got 64
//
// RUN: not zero-opt %s --zero-place-checkpoints="recompute=every-block" 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: expects a module at level launches, got one at level graph
//
// A launch's operands and results are there at once: 32 bytes of logits, and 32 of their gradient.
// RUN: not zero-opt %s --nn-autodiff --zero-form-launches --zero-place-checkpoints="recompute=budget memory-budget=63" 2>&1 | FileCheck %s --check-prefix=FLOOR
// FLOOR: error: expects memory-budget of at least 64, which the operands and results of launch @cross_entropy_with_grad take, got 63
//
// A graph without layers keeps everything, and says so.
// RUN: zero-opt %s --zero-pipeline="recompute=every-block until=launches" 2>&1 | FileCheck %s --check-prefix=WARN
// WARN: warning: finds no launches of forward that repeat as blocks: recompute=every-block keeps everything
// WARN-NOT: nn.barrier

nn.param @w : tensor<4x4xf32> init normal(0.02)
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %u = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %u, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
