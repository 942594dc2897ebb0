// RUN: zero-opt %s --nn-autodiff --zero-form-launches --split-input-file | FileCheck %s

// A GEMM takes bias, activation and residual, in this order, as its epilogue. The activation only where
// nothing else reads the pre-activation: @frozen's gelu has no backward, @trained's has.

nn.param @frozen : tensor<4x4xf32> init normal(0.02) {trainable = false}
nn.param @trained : tensor<4x4xf32> init normal(0.02)
nn.param @b : tensor<4xf32> init zeros {trainable = false}
// The residual is the input itself, one argument: the result may not lie over it.
// CHECK:      zero.kernel @linear(%arg0: tensor<2x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4xf32>) -> tensor<2x4xf32> kind gemm {
// CHECK-NEXT:   %[[A:.*]] = nn.linear %arg0, %arg1, %arg2
// CHECK-NEXT:   %[[B:.*]] = nn.gelu tanh %[[A]]
// CHECK-NEXT:   %[[C:.*]] = nn.add %[[B]], %arg0
// CHECK-NEXT:   zero.yield %[[C]]
// A bias that an add brings is an epilogue too.
// CHECK:      zero.kernel @dot_general(%arg0: tensor<2x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4xf32>) -> tensor<2x4xf32> kind gemm
// CHECK-NEXT:   %[[A:.*]] = nn.dot_general %arg0, %arg1
// CHECK-NEXT:   %[[B:.*]] = nn.add %[[A]], %arg2
// CHECK-NEXT:   zero.yield %[[B]]
// CHECK:      zero.kernel @gelu(
// CHECK-LABEL: func.func @joint
// CHECK:         %[[Y:.*]] = zero.launch @linear(%arg0, %{{[^,]*}}, %{{[^,]*}}) :
// CHECK:         %[[Z:.*]] = zero.launch @dot_general(%[[Y]],
// CHECK:         zero.launch @gelu(%[[Z]])
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @frozen : tensor<4x4xf32>
  %b = nn.read @b : tensor<4xf32>
  %u = nn.linear %x, %w, %b : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %a = nn.gelu tanh %u : tensor<2x4xf32>
  %y = nn.add %a, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = nn.read @trained : tensor<4x4xf32>
  %t = nn.dot_general %y, %v contracting [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z = nn.add %t, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %g = nn.gelu tanh %z : tensor<2x4xf32>
  %loss = nn.cross_entropy %g, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Equal structure is one kernel: three layers launch the kernels of one. A gradient that forms a norm's
// cotangent takes along the weight's and the bias's gradient, and the residual behind it.

nn.param @w0 : tensor<4x4xf32> init normal(0.02)
nn.param @w1 : tensor<4x4xf32> init normal(0.02)
nn.param @w2 : tensor<4x4xf32> init normal(0.02)
nn.param @n : tensor<4xf32> init ones
nn.param @m : tensor<4xf32> init zeros
// CHECK-COUNT-1: nn.layer_norm %
// CHECK-COUNT-1: nn.linear %
// CHECK-NOT:     nn.linear %
// CHECK:      zero.kernel @layer_norm_grad_input({{.*}}) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) kind generated may_reuse {{\[\[\], \[\], \[0, 2, 3\]\]}}
// CHECK-DAG:    %[[DX:.*]] = nn.layer_norm_grad_input %arg0, %arg1, %arg2
// CHECK-DAG:    nn.layer_norm_grad_weight %arg0, %arg2
// CHECK-DAG:    nn.reduce_sum %arg2 over [0]
// CHECK-DAG:    nn.add %arg3, %[[DX]]
// CHECK:        zero.yield
// CHECK-LABEL: func.func @joint
// CHECK-COUNT-3: zero.launch @linear(
// CHECK-COUNT-2: zero.launch @layer_norm_grad_input(
// The first layer's input is no parameter's: there is no group to join.
// CHECK:         zero.launch @layer_norm_grad_weight(
// CHECK:         zero.launch @reduce_sum(
// CHECK-NEXT:    nn.return
func.func private @block(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %n = nn.read @n : tensor<4xf32>
  %m = nn.read @m : tensor<4xf32>
  %y = nn.layer_norm %x, %n, %m eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %z = nn.linear %y, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %r = nn.add %z, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w0 = nn.read @w0 : tensor<4x4xf32>
  %w1 = nn.read @w1 : tensor<4x4xf32>
  %w2 = nn.read @w2 : tensor<4x4xf32>
  %a = func.call @block(%x, %w0) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = func.call @block(%a, %w1) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = func.call @block(%b, %w2) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %c, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The parts of a packed projection are strided views of it, and attention's three gradients are written
// into one packed one. A position table that is longer than the sequence is read through a slice, behind
// the tokens' rows; its gradient is padded.

nn.param @wte : tensor<7x4xf32> init normal(0.02)
nn.param @wpe : tensor<5x4xf32> init normal(0.02)
nn.param @qkv : tensor<4x12xf32> init normal(0.02)
// CHECK:      zero.kernel @embedding(%arg0: tensor<2x3xi32>, %arg1: tensor<7x4xf32>, %arg2: tensor<3x4xf32>) -> tensor<2x3x4xf32> kind generated
// CHECK-NEXT:   %[[E:.*]] = nn.embedding %arg0, %arg1
// CHECK-NEXT:   nn.add %[[E]], %arg2
// CHECK:      zero.kernel @attention({{.*}} kind attention strides {{\[\[36, 12, 2, 1\], \[36, 12, 2, 1\], \[36, 12, 2, 1\]\]}}
// CHECK:      zero.kernel @attention_grad({{.*}}) -> tensor<2x3x12xf32> kind attention
// CHECK:        nn.attention_grad
// CHECK:        nn.concat %{{.*}} along 2
// CHECK-LABEL: func.func @joint
// CHECK:         %[[P:.*]] = nn.read @wpe
// CHECK:         %[[S:.*]] = nn.slice %[[P]] from [0, 0] sizes [3, 4]
// CHECK:         zero.launch @embedding(%arg0, %{{.*}}, %[[S]])
// CHECK:         %[[QKV:.*]] = zero.launch @linear(
// CHECK:         %[[PARTS:.*]]:3 = nn.split %[[QKV]] along 2 sizes [4, 4, 4]
// CHECK:         %[[Q:.*]] = nn.reshape %[[PARTS]]#0 to [2, 3, 2, 2]
// CHECK:         zero.launch @attention(%[[Q]],
// CHECK:         %[[DQKV:.*]] = zero.launch @attention_grad(
// CHECK:         zero.launch @dot_general{{.*}}(%{{.*}}, %[[DQKV]])
// CHECK:         %[[DWPE:.*]] = zero.launch @pad(
// CHECK:         nn.return {{.*}}%[[DWPE]] of @wpe : tensor<5x4xf32>
func.func @loss(%tokens: tensor<2x3xi32>, %labels: tensor<2x3xi32>) -> tensor<f32> {
  %e = nn.read @wte : tensor<7x4xf32>
  %p = nn.read @wpe : tensor<5x4xf32>
  %s = nn.slice %p from [0, 0] sizes [3, 4] : (tensor<5x4xf32>) -> tensor<3x4xf32>
  %t = nn.embedding %tokens, %e : (tensor<2x3xi32>, tensor<7x4xf32>) -> tensor<2x3x4xf32>
  %x = nn.add %t, %s : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %w = nn.read @qkv : tensor<4x12xf32>
  %y = nn.linear %x, %w : (tensor<2x3x4xf32>, tensor<4x12xf32>) -> tensor<2x3x12xf32>
  %a, %b, %c = nn.split %y along 2 sizes [4, 4, 4] : (tensor<2x3x12xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  %q = nn.reshape %a to [2, 3, 2, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32>
  %k = nn.reshape %b to [2, 3, 2, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32>
  %v = nn.reshape %c to [2, 3, 2, 2] : (tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32>
  %o, %lse = nn.attention %q, %k, %v scale 0.7 causal : (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x2x3xf32>)
  %l = nn.reshape %o to [2, 3, 4] : (tensor<2x3x2x2xf32>) -> tensor<2x3x4xf32>
  %loss = nn.cross_entropy %l, %labels ignoring -100 : (tensor<2x3x4xf32>, tensor<2x3xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// What stays between launches is views. A parameter that is only read through a transpose is a strided
// operand; its gradient, a transposed view, is copied into the parameter's order. A part of the logits
// is copied for cross_entropy, which takes dense rows; elementwise ops read it where it lies.

nn.param @w : tensor<6x4xf32> init normal(0.02)
nn.param @s : tensor<3xf32> init ones
// CHECK-DAG:  zero.kernel @linear(%arg0: tensor<2x4xf32>, %arg1: tensor<4x6xf32>) -> tensor<2x6xf32> kind gemm strides {{\[\[\], \[1, 4\]\]}}
// CHECK-DAG:  zero.kernel @copy(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> kind generated strides {{\[\[6, 1\]\]}}
// CHECK-DAG:  zero.kernel @gradient(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> kind generated strides {{\[\[1, 6\]\]}}
// CHECK-LABEL: func.func @joint
// CHECK:         %[[W:.*]] = nn.read @w
// CHECK:         %[[T:.*]] = nn.transpose %[[W]] by [1, 0]
// CHECK:         %[[Y:.*]] = zero.launch @linear(%arg0, %[[T]])
// CHECK:         %[[P:.*]]:2 = nn.split %[[Y]] along 1 sizes [3, 3]
// CHECK:         zero.launch @copy(%[[P]]#0)
// CHECK:         %[[D:.*]] = nn.transpose %{{.*}} by [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
// CHECK:         %[[DW:.*]] = zero.launch @gradient(%[[D]])
// CHECK:         nn.return {{.*}}%[[DW]] of @w : tensor<6x4xf32>
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<6x4xf32>
  %t = nn.transpose %w by [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y = nn.linear %x, %t : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  %a, %b = nn.split %y along 1 sizes [3, 3] : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %s = nn.read @s : tensor<3xf32>
  %c = nn.mul %b, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %m = nn.reduce_mean %c over [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
  %ce = nn.cross_entropy %a, %labels ignoring -100 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<f32>
  %loss = nn.add %m, %ce : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A gradient lies in its slot, so nothing else may read it there: where one value is the gradient of two
// parameters, or feeds a launch as well, a launch copies it, one for all that are equal. Chains of elementwise ops are one kernel;
// the reduction over all of its elements joins where it runs along rows.

nn.param @b : tensor<3x4xf32> init ones
nn.param @c : tensor<3x4xf32> init ones
nn.param @d : tensor<4x3xf32> init ones
// CHECK:      zero.kernel @add(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) kind generated may_reuse {{.*}} strides {{\[\[\], \[\], \[1, 3\]\]}}
// CHECK-NEXT:   nn.add
// CHECK-NEXT:   nn.add
// CHECK-NEXT:   nn.exp
// CHECK-NEXT:   nn.mul
// CHECK-NEXT:   zero.yield
// A constant is copied into the kernel that reads it.
// CHECK:      zero.kernel @div(%arg0: tensor<f32>)
// CHECK-NEXT:   nn.constant dense<1.200000e+01>
// CHECK-LABEL: func.func @joint
// CHECK:         %[[DY:.*]] = zero.launch @mul_2(
// CHECK-DAG:     %[[D:.*]]:2 = zero.launch @gradient(%[[DY]])
// CHECK-DAG:     %[[T:.*]] = nn.transpose %[[DY]] by [1, 0]
// CHECK-DAG:     %[[DD:.*]] = zero.launch @gradient_1(%[[T]])
// CHECK:         nn.return {{.*}} of @b : tensor<3x4xf32>, %[[D]]#0 of @b : tensor<3x4xf32>, %[[D]]#1 of @c : tensor<3x4xf32>, %[[DD]] of @d : tensor<4x3xf32>)
func.func @loss() -> tensor<f32> {
  %b = nn.read @b : tensor<3x4xf32>
  %c = nn.read @c : tensor<3x4xf32>
  %d = nn.read @d : tensor<4x3xf32>
  %t = nn.transpose %d by [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %y = nn.add %b, %c : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z = nn.add %y, %t : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %e = nn.exp %z : tensor<3x4xf32>
  %f = nn.mul %e, %b : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %m = nn.reduce_mean %f over [0, 1] : (tensor<3x4xf32>) -> tensor<f32>
  return %m : tensor<f32>
}

// -----

// Groups are convex: @exp's result feeds a GEMM whose result the multiplication reads, so the two
// elementwise ops are launches of their own.

nn.param @w : tensor<4x4xf32> init normal(0.02)
// CHECK-LABEL: func.func @joint
// CHECK:         %[[E:.*]] = zero.launch @exp(%arg0)
// CHECK:         %[[G:.*]] = zero.launch @linear(%[[E]],
// CHECK:         zero.launch @mul{{.*}}(%[[E]], %[[G]])
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %e = nn.exp %x : tensor<2x4xf32>
  %g = nn.linear %e, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %m = nn.mul %e, %g : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %m, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A constant that a GEMM reads is a launch of its own: the library has no constants.

nn.param @w : tensor<4x4xf32> init normal(0.02)
// CHECK:      zero.kernel @constant() -> tensor<2x4xf32> kind generated
// CHECK-LABEL: func.func @joint
// CHECK:         %[[C:.*]] = zero.launch @constant()
// CHECK:         zero.launch @linear(%[[C]],
func.func @loss(%labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<4x4xf32>
  %x = nn.constant dense<0.5> : tensor<2x4xf32>
  %g = nn.linear %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %g, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A launch forms one gradient of a parameter at most, since its results are written in no order. Here
// @v is weight and bias of a norm: the bias's gradient is copied. And two equal gradients of @w are two
// copies, the second of a copy of the first, which CSE cannot merge.

nn.param @w : tensor<2x4xf32> init normal(0.02)
nn.param @v : tensor<4xf32> init ones
// CHECK-LABEL: func.func @joint
// CHECK:         %[[N:.*]]:3 = zero.launch @layer_norm_grad_input(
// CHECK-DAG:     %[[B:.*]] = zero.launch @gradient{{[_0-9]*}}(%[[N]]#{{[012]}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-DAG:     %[[C:.*]]:2 = zero.launch @gradient{{[_0-9]*}}(%[[N]]#{{[012]}}) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-DAG:     %[[D:.*]] = zero.launch @gradient{{[_0-9]*}}(%[[C]]#1)
// CHECK:         nn.return {{.*}} grads(%[[N]]#{{[012]}} of @v : tensor<4xf32>, %[[B]] of @v : tensor<4xf32>, %[[C]]#0 of @w : tensor<2x4xf32>, %[[D]] of @w : tensor<2x4xf32>)
func.func @loss(%labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xf32>
  %x = nn.add %w, %w : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = nn.read @v : tensor<4xf32>
  %y = nn.layer_norm %x, %v, %v eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %loss = nn.cross_entropy %y, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
