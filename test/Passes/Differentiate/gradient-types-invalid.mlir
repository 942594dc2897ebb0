// RUN: split-file %s %t
// RUN: not zero-opt %t/bf16.mlir --nn-autodiff=grad-type=f16 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not zero-opt %t/bf16.mlir --nn-autodiff=grad-type=f64 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not zero-opt %t/f32.mlir --nn-autodiff=grad-type=bf16 2>&1 | FileCheck %s --check-prefix=NONE

// OTHER: bf16.mlir:1:1: error: expects a parameter of 'f16' or f32 with gradients of 'f16', got 'tensor<2x4xbf16>'
// UNKNOWN: error: expects grad-type to be one of auto, f32, bf16, f16, got 'f64'
// NONE: error: expects a trained parameter of 'bf16' where gradients are to be 'bf16', got none

//--- bf16.mlir
nn.param @w : tensor<2x4xbf16> init normal(0.02)
func.func @loss(%labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xbf16>
  %loss = nn.cross_entropy %w, %labels ignoring -100 : (tensor<2x4xbf16>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
//--- f32.mlir
nn.param @w : tensor<2x4xf32> init normal(0.02)
func.func @loss(%labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xf32>
  %loss = nn.cross_entropy %w, %labels ignoring -100 : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
