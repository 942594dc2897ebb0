// RUN: zero-opt %root/examples/tiny.mlir --zero-pipeline="stage=3 ranks=3 micro-batch=2 micro-steps=2 bucket-bytes=64 until=arena" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN <%t.err

// WARN: warning: the loss does not depend on parameter @extra

// 16 elements in 64 bytes, of which 15 divide by 3 ranks. The tied @wte has a gradient for each use; the
// frozen @ln.b and the unused @extra hold weights only.
// CHECK: zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
// CHECK-NEXT: zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
// CHECK: zero.bucket @f0 frozen over 3 ranks length 6 chunk 6 {
// CHECK-NEXT: zero.slot @ln.b at 0 : tensor<4xf32>
// CHECK: zero.bucket @u0 unused over 3 ranks length 6 chunk 6 {
// CHECK-NEXT: zero.slot @extra at 0 : tensor<3x2xf32>
// CHECK: zero.arena {{[0-9]+}} bytes persistent 640

// The tied weight is gathered for the embedding, and for the head and its gradient.
// CHECK-LABEL: zero.segment @micro_step times 2
// CHECK-COUNT-2: zero.all_gather_start @b0
// CHECK-NOT: zero.all_gather_start @b0
// CHECK: zero.accumulate {{.*}}[@wte] write
// CHECK: zero.accumulate {{.*}}[@wte] add
