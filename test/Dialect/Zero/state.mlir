// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of State.td.

// CHECK: zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
// CHECK-NEXT: zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
// CHECK-NEXT: }
zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
  zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
}
// 64 bytes are 16 elements of f32 and 32 of bf16: a slot of 17 elements ends before 32.
// CHECK: zero.bucket @f0 frozen over 1 ranks length 36 chunk 36 {
// CHECK-NEXT: zero.slot @fc.weight at 0 : tensor<6x4xbf16>
// CHECK-NEXT: zero.slot @fc.bias at 32 : tensor<4xbf16>
zero.bucket @f0 frozen over 1 ranks length 36 chunk 36 {
  zero.slot @fc.weight at 0 : tensor<6x4xbf16>
  zero.slot @fc.bias at 32 : tensor<4xbf16>
}
// CHECK: zero.bucket @u0 unused over 6 ranks length 6 chunk 6 {
zero.bucket @u0 unused over 6 ranks length 6 chunk 6 {
  zero.slot @extra at 0 : tensor<f32>
}
// CHECK: zero.state @b0 holds [param f32 sharded at 0, grad_accum f32 sharded at 192, moment1 f32 full]
zero.state @b0 holds [param f32 sharded at 0, grad_accum f32 sharded at 192, moment1 f32 full]
// CHECK: zero.state @f0 holds [param bf16 full, grad bf16 full, master f32 sharded, moment2 f32 sharded]
zero.state @f0 holds [param bf16 full, grad bf16 full, master f32 sharded, moment2 f32 sharded]
// CHECK: zero.state @u0 holds []
zero.state @u0 holds []
// CHECK: zero.cell @count : tensor<i64>
zero.cell @count : tensor<i64>
// CHECK: zero.cell @loss : tensor<2xf32> at 584
zero.cell @loss : tensor<2xf32> at 584
// CHECK: zero.arena 2048 bytes persistent 640 lower_bound 2048
zero.arena 2048 bytes persistent 640 lower_bound 2048

// Each attribute has a spelling of its own, too.
// CHECK: module attributes {test.all = [#zero.held<param f32 sharded at 0>, #zero.held<grad bf16 full>, #zero.place<at 584>, #zero.place<inout 1>, #zero.place<slot>, #zero.place<cell>, #zero.range<0 to 24 decay>, #zero.range<32 to 36 no_decay>]}
module attributes {test.all = [#zero.held<param f32 sharded at 0>, #zero.held<grad bf16 full>,
    #zero.place<at 584>, #zero.place<inout 1>, #zero.place<slot>, #zero.place<cell>,
    #zero.range<0 to 24 decay>, #zero.range<32 to 36 no_decay>]} {}
