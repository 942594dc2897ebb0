// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Attention.td.

!t = tensor<2x5x3x4xf32>

// CHECK-LABEL: @attention
func.func @attention(%q: !t, %k: !t, %v: !t, %do: !t) {
  // CHECK: %{{.*}}, %{{.*}} = nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 causal : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  %o, %lse = nn.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
  // CHECK: nn.attention_grad {{.*}} scale 5.000000e-01 causal : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
      : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>)
      -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  return
}

// Six query heads on two key heads; the keys may be more than the queries without a mask. In bf16
// the log-sum stays f32.
// CHECK-LABEL: @grouped
func.func @grouped(%q: tensor<?x5x6x4xbf16>, %k: tensor<?x7x2x4xbf16>) {
  // CHECK: scale 5.000000e-01 : {{.*}} -> (tensor<?x5x6x4xbf16>, tensor<?x6x5xf32>)
  %o, %lse = nn.attention %q, %k, %k scale 0.5
      : (tensor<?x5x6x4xbf16>, tensor<?x7x2x4xbf16>, tensor<?x7x2x4xbf16>) -> (tensor<?x5x6x4xbf16>, tensor<?x6x5xf32>)
  return
}
