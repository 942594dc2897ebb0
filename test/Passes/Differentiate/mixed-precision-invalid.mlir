// RUN: split-file %s %t
// RUN: zero-opt %t/graph.mlir --nn-mixed-precision="type=bf16 keep-f32=w,norm.*" -verify-diagnostics
// RUN: not zero-opt %t/graph.mlir --nn-mixed-precision=type=bf17 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not zero-opt %t/graph.mlir --nn-mixed-precision=keep-f32=w 2>&1 | FileCheck %s --check-prefix=F32
// RUN: not zero-opt %t/written.mlir --nn-mixed-precision=type=f16 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not zero-opt %t/written.mlir --nn-mixed-precision="type=bf16 keep-f32=w" 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not zero-opt %t/recursive.mlir --nn-mixed-precision=type=bf16 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: not zero-opt %t/written.mlir --nn-autodiff --nn-mixed-precision=type=bf16 2>&1 | FileCheck %s --check-prefix=LEVEL

// TYPE: error: expects type to be one of f32, bf16, f16, got 'bf17'
// F32: error: expects keep-f32 only with type bf16 or f16, got 'w'
// OTHER: written.mlir:1:1: error: expects a graph in f32 or 'f16', got a parameter of 'tensor<4xbf16>'
// KEEP: written.mlir:1:1: error: expects a parameter of f32 to be kept in f32, got 'tensor<4xbf16>'
// CALLS: error: expects calls that can be inlined, and @f calls itself
// LEVEL: error: expects a module at level graph, got one at level joint

//--- graph.mlir
// expected-error @below {{expects keep-f32 patterns that match a parameter, got 'norm.*'}}
module {
  nn.param @w : tensor<4xf32> init zeros
  nn.param @normal : tensor<4xf32> init zeros
  func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
    %w = nn.read @w : tensor<4xf32>
    %y = nn.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = nn.reduce_sum %y over [0] : (tensor<4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
//--- written.mlir
nn.param @w : tensor<4xbf16> init zeros
func.func @loss(%x: tensor<4xbf16>) -> tensor<f32> {
  %w = nn.read @w : tensor<4xbf16>
  %y = nn.mul %x, %w : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %z = nn.convert %y to f32 : tensor<4xbf16>
  %loss = nn.reduce_sum %z over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
//--- recursive.mlir
nn.param @w : tensor<4xf32> init zeros
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @loss() -> tensor<f32> {
  %w = nn.read @w : tensor<4xf32>
  %y = func.call @f(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = nn.reduce_sum %y over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
