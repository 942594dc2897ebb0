// RUN: zero-opt %s --zero-lower | FileCheck %s

// The kernel stays: it is the text of the step table. Its function has the runtime's convention: row by
// row, whole vectors, then 20 - 16 = 4 lanes under a mask.
// CHECK: zero.kernel @bias(
// CHECK: llvm.func @zrt.k.bias(%[[OPERANDS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: "prefer-vector-width", "512"
// CHECK: llvm.br ^[[ROWS:.*]](%[[BEGIN]] : i64)
// CHECK: ^[[ROWS]](%[[ROW:.*]]: i64)
// CHECK: llvm.icmp "slt" %[[ROW]], %[[END]]
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: llvm.fadd {{.*}} : vector<16xf32>
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: llvm.intr.masked.load
// CHECK: llvm.fadd {{.*}} : vector<16xf32>
// CHECK: llvm.intr.masked.store
zero.kernel @bias(%x: tensor<6x20xf32>, %b: tensor<20xf32>) -> tensor<6x20xf32> kind generated {
  %0 = nn.add %x, %b : (tensor<6x20xf32>, tensor<20xf32>) -> tensor<6x20xf32>
  zero.yield %0 : tensor<6x20xf32>
}

// Law N0: no flag allows another order or a contraction, and no reduction is left to LLVM.
// The sixteen sums are added in halves.
// CHECK-LABEL: llvm.func @zrt.k.softmax
// CHECK-NOT: fastmath
// CHECK-NOT: vector.reduce
// CHECK: llvm.shufflevector {{.*}} [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: llvm.shufflevector {{.*}} [4, 5, 6, 7]
// CHECK: llvm.shufflevector {{.*}} [2, 3]
// CHECK: llvm.shufflevector {{.*}} [1]
// Elementary functions are polynomials: nothing is called.
// CHECK-NOT: llvm.call
// CHECK-NOT: intr.exp
// CHECK: llvm.return
zero.kernel @softmax(%x: tensor<6x32xf32>) -> tensor<6x32xf32> kind generated {
  %0 = nn.softmax %x : tensor<6x32xf32>
  zero.yield %0 : tensor<6x32xf32>
}

// Accumulators of a block of columns lie on the stack.
// CHECK-LABEL: llvm.func @zrt.k.columns
// CHECK-COUNT-2: llvm.alloca {{.*}} x f32 {alignment = 64 : i64}
zero.kernel @columns(%x: tensor<600x64xf32>) -> tensor<64xf32> kind generated {
  %0 = nn.reduce_sum %x over [0] : (tensor<600x64xf32>) -> tensor<64xf32>
  zero.yield %0 : tensor<64xf32>
}

// CHECK: llvm.mlir.global internal constant @zrt.k.scale.c0(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK: llvm.func @zrt.k.scale
zero.kernel @scale(%x: tensor<2x3xf32>) -> tensor<2x3xf32> kind generated {
  %0 = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = nn.mul %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  zero.yield %1 : tensor<2x3xf32>
}

// A library's kernel has no function.
// CHECK-NOT: zrt.k.fc
zero.kernel @fc(%x: tensor<6x4xf32>, %w: tensor<4x6xf32>) -> tensor<6x6xf32> kind gemm {
  %0 = nn.linear %x, %w : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  zero.yield %0 : tensor<6x6xf32>
}
