// Parameters may be called as the compiler would call its buckets and kernels: both take another name,
// and text of each level reads back. Segments and cells keep theirs, and say so.
//
// RUN: zero-opt %s --zero-pipeline="ranks=2 stage=3 bucket-bytes=64 until=sharded" | FileCheck %s
// RUN: zero-opt %s --zero-pipeline="ranks=2 stage=3 bucket-bytes=64 until=llvm" -o %t.direct
// RUN: zero-opt %s --zero-pipeline="ranks=2 stage=3 bucket-bytes=64 until=arena" | zero-opt --zero-pipeline="until=llvm" | cmp - %t.direct
//
// RUN: sed 's/@gelu/@micro_step/' %s | not zero-opt --zero-pipeline="until=sharded" 2>&1 | FileCheck %s --check-prefix=SEGMENT
// RUN: sed 's/@gelu/@loss/' %s | not zero-opt --zero-pipeline="until=sharded" 2>&1 | FileCheck %s --check-prefix=CELL
// RUN: sed 's/@gelu/@joint/' %s | not zero-opt --zero-pipeline="until=sharded" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// SEGMENT: error: expects a symbol of another name than @micro_step, which the schedule uses
// CELL: error: expects a symbol of another name than @loss, which the schedule uses
// FUNCTION: error: expects a symbol of another name than @joint, which the schedule uses

// CHECK: nn.param @b0
nn.param @b0 : tensor<6x4xf32> init normal(0.02)
nn.param @linear : tensor<4xf32> init zeros
nn.param @gelu : tensor<4x3xf32> init normal(0.02)
nn.param @f0 : tensor<3xf32> init zeros {trainable = false}

// CHECK:      zero.bucket @[[B0:b0_[0-9]+]] trainable
// CHECK-NEXT:   zero.slot @b0 at 0
// CHECK:      zero.bucket @b1 trainable
// CHECK-NEXT:   zero.slot @linear at 0
// CHECK:      zero.bucket @b2 trainable
// CHECK-NEXT:   zero.slot @gelu at 0
// CHECK:      zero.bucket @[[F0:f0_[0-9]+]] frozen
// CHECK-NEXT:   zero.slot @f0 at 0
// CHECK:      zero.state @[[B0]] holds
// CHECK:      zero.kernel @[[LINEAR:linear_[0-9]+]](
// CHECK:      zero.kernel @[[GELU:gelu_[0-9]+]](
// CHECK-LABEL: zero.segment @micro_step
// CHECK:         %[[FULL:.*]] = zero.all_gather @[[B0]]
// CHECK:         zero.view @b0 of %[[FULL]] : !zero.full<@[[B0]]>
// CHECK:         zero.launch @[[LINEAR]](
// CHECK:         zero.launch @[[GELU]](
func.func @forward(%x: tensor<2x6xf32>, %labels: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @b0 : tensor<6x4xf32>
  %b = nn.read @linear : tensor<4xf32>
  %y = nn.linear %x, %w, %b : (tensor<2x6xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %g = nn.gelu tanh %y : tensor<2x4xf32>
  %v = nn.read @gelu : tensor<4x3xf32>
  %z = nn.linear %g, %v : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %f = nn.read @f0 : tensor<3xf32>
  %z1 = nn.add %z, %f : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %loss = nn.cross_entropy %z1, %labels ignoring -100 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
