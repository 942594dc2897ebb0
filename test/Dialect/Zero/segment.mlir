// RUN: zero-opt %s | zero-opt | FileCheck %s
// RUN: zero-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// The documented examples of Segment.td.

zero.cell @label_count : tensor<i64>
zero.cell @seed : tensor<f32>
zero.cell @loss : tensor<2xf32>
zero.cell @counts : tensor<2xi64>
zero.cell @seeds : tensor<2xf32>
zero.cell @random : tensor<4xi32>

// Arguments keep the names under which they were written.
// CHECK: zero.segment @count times 1 (%labels: tensor<2x2x3xi32>) {
// GENERIC: names = ["labels"]
zero.segment @count times 1 (%labels: tensor<2x2x3xi32>) {
  // CHECK-NEXT: zero.count %labels ignoring -100 into @label_count : tensor<2x2x3xi32>
  zero.count %labels ignoring -100 into @label_count : tensor<2x2x3xi32>
  // CHECK-NEXT: zero.seed @seed from @label_count
  zero.seed @seed from @label_count
  // CHECK-NEXT: zero.count %labels ignoring -1 into @counts : tensor<2x2x3xi32>
  zero.count %labels ignoring -1 into @counts : tensor<2x2x3xi32>
  // CHECK-NEXT: zero.seed @seeds from @counts
  zero.seed @seeds from @counts
  // CHECK-NEXT: zero.seed @seed{{$}}
  zero.seed @seed
}
// CHECK: zero.segment @micro_step times 2 (%tokens: tensor<2x3xi32> at 1920, %labels: tensor<2x3xi32> at 1984) {
// GENERIC: names = ["tokens", "labels"], offsets = array<i64: 1920, 1984>
zero.segment @micro_step times 2 (%tokens: tensor<2x3xi32> at 1920, %labels: tensor<2x3xi32> at 1984) {
  // CHECK-NEXT: zero.random samples 2 into @random
  zero.random samples 2 into @random
  // CHECK-NEXT: %seed = zero.scalar @seed : tensor<f32>
  %0 = zero.scalar @seed : tensor<f32>
  // One element a run: the runs' own.
  // CHECK-NEXT: %seeds = zero.scalar @seeds : tensor<f32>
  %1 = zero.scalar @seeds : tensor<f32>
  // CHECK-NEXT: zero.set @loss %seed : tensor<f32>
  zero.set @loss %0 : tensor<f32>
}
// CHECK: zero.segment @update times 1 {
// CHECK-NEXT: }
zero.segment @update times 1 {
}
// CHECK: zero.segment @eval times 3 attributes {test.note = 1 : i64} {
zero.segment @eval times 3 attributes {test.note = 1 : i64} {}
// A name that is no identifier, or not the only one, stands in `names`.
// CHECK: zero.segment @odd times 1 (%{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>) attributes {names = ["a b", "0"]} {
zero.segment @odd times 1 (%x: tensor<i32>, %y: tensor<i32>) attributes {names = ["a b", "0"]} {}
// CHECK: zero.segment @twins times 1 (%x: tensor<i32>, %x_0: tensor<i32>) attributes {names = ["x", "x"]} {
zero.segment @twins times 1 (%a: tensor<i32>, %b: tensor<i32>) attributes {names = ["x", "x"]} {}
// Names of numbers, as a printer without names gives them.
// CHECK: zero.segment @numbers times 1 (%{{.*}}: tensor<i32>) attributes {names = ["0"]} {
zero.segment @numbers times 1 (%0: tensor<i32>) {}
