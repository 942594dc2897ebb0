// RUN: zero-opt %s -split-input-file -verify-diagnostics

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C1): rank 4.
func.func @rank(%q: !t, %k: tensor<5x3x4xf32>) {
  // expected-error@+2 {{expects q, k and v of rank 4 with equal batch and depth, got 'tensor<2x5x3x4xf32>', 'tensor<5x3x4xf32>' and 'tensor<5x3x4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %k scale 0.5 : (!t, tensor<5x3x4xf32>, tensor<5x3x4xf32>) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C1): equal depth.
func.func @depth(%q: !t, %k: tensor<2x5x3x8xf32>) {
  // expected-error@+2 {{expects q, k and v of rank 4 with equal batch and depth}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %k scale 0.5 : (!t, tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32>) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C2): keys and values of one time.
func.func @time(%q: !t, %k: tensor<2x6x3x4xf32>) {
  // expected-error@+2 {{expects k and v of equal time and heads, got 'tensor<2x6x3x4xf32>' and 'tensor<2x5x3x4xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %q scale 0.5 : (!t, tensor<2x6x3x4xf32>, !t) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C3): 2 does not divide 3.
func.func @heads(%q: !t, %k: tensor<2x5x2x4xf32>) {
  // expected-error@+2 {{expects key heads that divide the 3 query heads, got 2}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %k scale 0.5 : (!t, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C3): and 0 divides nothing.
func.func @heads(%q: !t, %k: tensor<2x5x0x4xf32>) {
  // expected-error@+2 {{expects key heads that divide the 3 query heads, got 0}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %k scale 0.5 : (!t, tensor<2x5x0x4xf32>, tensor<2x5x0x4xf32>) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C4): a causal mask is square.
func.func @causal(%q: !t, %k: tensor<2x6x3x4xf32>) {
  // expected-error@+2 {{expects equal times under causal, got 5 and 6}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %k, %k scale 0.5 causal : (!t, tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C5)
func.func @scale(%q: !t) {
  // expected-error@+2 {{expects a finite scale, got}}
  // expected-error@+1 {{failed to infer}}
  %o, %lse = nn.attention %q, %q, %q scale 0x7FF0000000000000 : (!t, !t, !t) -> (!t, !lse)
  return
}

// -----

!t = tensor<2x5x3x4xf32>
!lse = tensor<2x3x5xf32>

// (C6): the gradient's own operands.
func.func @cotangent(%q: !t, %lse: !lse, %do: tensor<2x5x3x8xf32>) {
  // expected-error@+2 {{expects out and its cotangent of type 'tensor<2x5x3x4xf32>', got 'tensor<2x5x3x4xf32>' and 'tensor<2x5x3x8xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %do scale 0.5
      : (!t, !t, !t, !t, !lse, tensor<2x5x3x8xf32>) -> (!t, !t, !t)
  return
}

// -----

!t = tensor<2x5x3x4xf32>

// (C7)
func.func @lse(%q: !t, %lse: tensor<2x5x3xf32>) {
  // expected-error@+2 {{expects lse of type 'tensor<2x3x5xf32>', got 'tensor<2x5x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %q, %lse, %q scale 0.5
      : (!t, !t, !t, !t, tensor<2x5x3xf32>, !t) -> (!t, !t, !t)
  return
}
