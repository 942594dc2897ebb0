// RUN: zero-opt %s | zero-opt | FileCheck %s
// RUN: zero-opt --canonicalize %s | FileCheck %s --check-prefix=FOLD

// The documented example of each op of Dropout.td, and attention that drops probabilities.

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<2x3xf32>, %random: tensor<4xi32>, %site: tensor<1xi32>) {
  // CHECK: nn.dropout %arg0 rate 1.000000e-01 : tensor<2x3xf32>
  %y = nn.dropout %x rate 0.1 : tensor<2x3xf32>
  // CHECK: nn.dropout %arg0 rate 1.000000e-01 keyed by %arg1 samples 2 site 5 : tensor<2x3xf32>
  %z = nn.dropout %x rate 0.1 keyed by %random samples 2 site 5 : tensor<2x3xf32>
  // CHECK: nn.dropout %arg0 rate 1.000000e-01 keyed by %arg1, %arg2 samples 2 : tensor<2x3xf32>
  %k = nn.dropout %x rate 0.1 keyed by %random, %site samples 2 : tensor<2x3xf32>
  return
}

// An open batch, and the bounds of the rate: 0 drops nothing, and the op folds.
// CHECK-LABEL: @bounds
// FOLD-LABEL: @bounds
func.func @bounds(%x: tensor<?x3xbf16>) -> (tensor<?x3xbf16>, tensor<?x3xbf16>) {
  // CHECK: rate 0.000000e+00
  // FOLD: %[[MOST:.*]] = nn.dropout %arg0 rate
  // FOLD-NOT: nn.dropout
  // FOLD: return %arg0, %[[MOST]]
  %none = nn.dropout %x rate 0.0 : tensor<?x3xbf16>
  %most = nn.dropout %x rate 0.9999 : tensor<?x3xbf16>
  return %none, %most : tensor<?x3xbf16>, tensor<?x3xbf16>
}

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// CHECK-LABEL: @attention
func.func @attention(%q: !t, %do: !t, %random: tensor<4xi32>) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 causal dropout 1.000000e-01 : (
  %a, %alse = nn.attention %q, %q, %q scale 0.5 causal dropout 0.1 : (!t, !t, !t) -> (!t, !lse)
  // CHECK: nn.attention {{.*}}, %arg2 scale 5.000000e-01 causal dropout 1.000000e-01 site 3 : ({{.*}}, tensor<4xi32>) ->
  %o, %lse = nn.attention %q, %q, %q, %random scale 0.5 causal dropout 0.1 site 3
      : (!t, !t, !t, tensor<4xi32>) -> (!t, !lse)
  // CHECK: nn.attention_grad {{.*}}, %arg2 scale 5.000000e-01 causal dropout 1.000000e-01 site 3 : ({{.*}}, tensor<4xi32>) ->
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %o, %lse, %do, %random scale 0.5 causal dropout 0.1 site 3
      : (!t, !t, !t, !t, !lse, !t, tensor<4xi32>) -> (!t, !t, !t)
  return
}
