// RUN: zero-opt %s --zero-lower --split-input-file --verify-diagnostics

// expected-error @+1 {{'zero.kernel' op has no generated code: expects ops with generated code, got 'nn.linear'}}
zero.kernel @k(%x: tensor<6x4xf32>, %w: tensor<4x6xf32>) -> tensor<6x6xf32> kind generated {
  %0 = nn.linear %x, %w : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  zero.yield %0 : tensor<6x6xf32>
}

// -----

// expected-error @+1 {{'zero.kernel' op has no generated code: expects tensors of f32, bf16, f16, f64, i32, i64 or i1, got tensor<4xi16>}}
zero.kernel @k(%x: tensor<4xi16>) -> tensor<4xi16> kind generated {
  zero.yield %x : tensor<4xi16>
}

// -----

zero.kernel @k(%x: tensor<4xf64>) -> tensor<4xf64> kind generated {
  // expected-error @+1 {{'nn.erf' op expects f32, bf16 or f16 for the error function, got 'tensor<4xf64>'}}
  %0 = nn.erf %x : tensor<4xf64>
  zero.yield %0 : tensor<4xf64>
}
