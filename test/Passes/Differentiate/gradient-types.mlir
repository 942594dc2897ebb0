// RUN: zero-opt %s --nn-autodiff | FileCheck %s --check-prefixes=CHECK,SAME
// RUN: zero-opt %s --nn-autodiff=grad-type=f32 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: zero-opt %s --zero-configure=micro-steps=2 --nn-autodiff | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: zero-opt %s --zero-configure=micro-steps=2 --nn-autodiff=grad-type=bf16 | FileCheck %s --check-prefixes=CHECK,SAME
// RUN: zero-opt %s --nn-autodiff=grad-type=f32 --zero-form-launches | FileCheck %s --check-prefix=LAUNCH

// A 16-bit weight's gradient is of its type, or ends in a convert to f32 right behind the op that
// forms it, before views; a kept f32 weight's is f32 in any case.

// CHECK-LABEL: func.func @joint
// CHECK:         %[[DL:.*]] = nn.cross_entropy_with_grad
// SAME:          nn.layer_norm_grad_weight {{.*}} -> tensor<6xbf16>
// SAME:          nn.convert %{{.*}} to f32 : tensor<6xbf16>
// SAME:          %[[DW:.*]] = nn.dot_general %{{.*}} -> tensor<4x6xbf16>
// SAME:          %[[DT:.*]] = nn.transpose %{{.*}} by [1, 0] : (tensor<4x6xbf16>) -> tensor<6x4xbf16>
// SAME:          nn.return {{.*}} grads(%{{.*}} of @ln.w : tensor<6xf32>, %[[DT]] of @w : tensor<6x4xbf16>)
// WIDE:          nn.layer_norm_grad_weight {{.*}} -> tensor<6xbf16>
// WIDE:          nn.convert %{{.*}} to f32 : tensor<6xbf16>
// WIDE:          %[[DW:.*]] = nn.dot_general %{{.*}} -> tensor<4x6xbf16>
// WIDE-NEXT:     %[[DW32:.*]] = nn.convert %[[DW]] to f32 : tensor<4x6xbf16>
// WIDE-NEXT:     %[[DT:.*]] = nn.transpose %[[DW32]] by [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
// WIDE:          nn.return {{.*}} grads(%{{.*}} of @ln.w : tensor<6xf32>, %[[DT]] of @w : tensor<6x4xf32>)

// Each convert stands in the kernel that forms the gradient.
// LAUNCH:      zero.kernel @layer_norm_grad_input({{.*}} -> (tensor<2x6xbf16>, tensor<6xf32>) kind generated
// LAUNCH:        nn.layer_norm_grad_weight
// LAUNCH-NEXT:   nn.convert
// LAUNCH:      zero.kernel @dot_general({{.*}} -> tensor<4x6xf32> kind gemm
// LAUNCH-NEXT:   nn.dot_general
// LAUNCH-NEXT:   nn.convert
// LAUNCH:      func.func @joint
// LAUNCH-NOT:    nn.convert
nn.param @w : tensor<6x4xbf16> init normal(0.02)
nn.param @ln.w : tensor<6xf32> init ones
nn.param @ln.b : tensor<6xf32> init zeros {trainable = false}
func.func @loss(%x: tensor<2x4xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %x16 = nn.convert %x to bf16 : tensor<2x4xf32>
  %w = nn.read @w : tensor<6x4xbf16>
  %t = nn.transpose %w by [1, 0] : (tensor<6x4xbf16>) -> tensor<4x6xbf16>
  %y = nn.linear %x16, %t : (tensor<2x4xbf16>, tensor<4x6xbf16>) -> tensor<2x6xbf16>
  %g = nn.read @ln.w : tensor<6xf32>
  %b = nn.read @ln.b : tensor<6xf32>
  %z = nn.layer_norm %y, %g, %b eps 1.0e-5 : (tensor<2x6xbf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6xbf16>
  %loss = nn.cross_entropy %z, %labels ignoring -100 : (tensor<2x6xbf16>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
