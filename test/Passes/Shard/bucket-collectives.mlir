// Buckets of `tiny` merged: at 4096 bytes one of each class; at 256 bytes the slots, at multiples of 16
// elements, fill 64 elements a bucket: wte [0, 20), ln.w [32, 36), then fc.w would end at 72; fc.w
// [0, 24), fc.b [32, 38), then pr.w would end at 72; pr.w [0, 24), pr.b [32, 36).
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=256" --zero-shard-parameters --zero-bucket-collectives -o %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %t --canonicalize --cse | diff - %t
// RUN: zero-opt %t --zero-bucket-collectives | diff - %t
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=4096" --zero-shard-parameters --zero-bucket-collectives | FileCheck %s --check-prefix=ALL
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=256" --zero-replicate --zero-bucket-collectives | FileCheck %s --check-prefix=FULL
//
// Merged and sharded in either order, the program is the same.
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=256" --zero-replicate --zero-bucket-collectives --zero-shard-parameters | diff - %t
//
// At 64 bytes no two parameters share a bucket: nothing changes.
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-shard-parameters -o %t.64
// RUN: zero-opt %t.64 --zero-bucket-collectives | diff - %t.64

// Lengths: 36, 38 and 36, rounded up to 3; a chunk holds floor(64 / 3) * 3 = 63.
// CHECK:      zero.bucket @b0 trainable over 3 ranks length 36 chunk 36 {
// CHECK-NEXT:   zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
// CHECK-NEXT:   zero.slot @ln.w at 32 : tensor<4xf32> contributions 1
// CHECK-NEXT: {{^ *}$}}
// CHECK-NEXT: zero.bucket @b1 trainable over 3 ranks length 39 chunk 39 {
// CHECK-NEXT:   zero.slot @fc.w at 0 : tensor<4x6xf32> contributions 1
// CHECK-NEXT:   zero.slot @fc.b at 32 : tensor<6xf32> contributions 1
// CHECK-NEXT: {{^ *}$}}
// CHECK-NEXT: zero.bucket @b2 trainable over 3 ranks length 36 chunk 36 {
// CHECK-NEXT:   zero.slot @pr.w at 0 : tensor<6x4xf32> contributions 1
// CHECK-NEXT:   zero.slot @pr.b at 32 : tensor<4xf32> contributions 1
// CHECK-NEXT: {{^ *}$}}
// CHECK-NEXT: zero.bucket @f0 frozen over 3 ranks length 6 chunk 6 {
// CHECK:      zero.bucket @u0 unused over 3 ranks length 6 chunk 6 {
// CHECK:      zero.state @b0 holds [param f32 sharded, grad_accum f32 sharded, moment1 f32 sharded, moment2 f32 sharded]
// CHECK-NEXT: zero.state @b1 holds
// CHECK-NEXT: zero.state @b2 holds
// CHECK-NEXT: zero.state @f0 holds [param f32 sharded]
// CHECK-NEXT: zero.state @u0 holds [param f32 sharded]

// embed and ln read b0 (and f0); fc reads b1; pr b2; logits to dh b0; da b2; dy b1; ln_grad b0.
// CHECK-LABEL: zero.segment @micro_step
// CHECK:        %[[F0:.*]] = zero.all_gather @b0
// CHECK-NEXT:   zero.view @wte of %[[F0]]
// CHECK-NEXT:   zero.launch @embed
// CHECK-NEXT:   zero.all_gather @f0
// CHECK-NEXT:   zero.view @ln.w of %[[F0]]
// CHECK:        zero.launch @ln
// CHECK-NEXT:   %[[F1:.*]] = zero.all_gather @b1
// CHECK-NEXT:   zero.view @fc.w of %[[F1]]
// CHECK-NEXT:   zero.view @fc.b of %[[F1]]
// CHECK-NEXT:   zero.launch @fc
// CHECK-NEXT:   zero.launch @gelu
// CHECK-NEXT:   zero.all_gather @b2
// CHECK:        zero.launch @pr
// CHECK-NEXT:   zero.all_gather @b0
// CHECK:        zero.launch @logits
// A grads value begins at its bucket's first contribution and ends behind its last.
// CHECK:        zero.launch @dwte
// CHECK-NEXT:   %[[G0:.*]] = zero.grads @b0
// CHECK-NEXT:   %[[G0A:.*]] = zero.accumulate %{{.*}} into %[[G0]][@wte]
// CHECK:        zero.launch @db_pr
// CHECK-NEXT:   %[[G2:.*]] = zero.grads @b2
// CHECK-NEXT:   %[[G2A:.*]] = zero.accumulate %{{.*}} into %[[G2]][@pr.b]
// CHECK-NEXT:   zero.launch @dw_pr
// CHECK-NEXT:   %[[G2B:.*]] = zero.accumulate %{{.*}} into %[[G2A]][@pr.w]
// CHECK-NEXT:   zero.reduce_scatter %[[G2B]] : !zero.grads<@b2>
// CHECK-NEXT:   zero.all_gather @b2
// CHECK:        zero.reduce_scatter {{.*}} : !zero.grads<@b1>
// CHECK-NEXT:   zero.all_gather @b1
// CHECK:        zero.launch @dy
// CHECK-NEXT:   zero.all_gather @b0
// CHECK:        zero.launch @ln_grad
// CHECK-NEXT:   %[[G0B:.*]] = zero.accumulate %{{.*}} into %[[G0A]][@ln.w]
// CHECK-NEXT:   zero.launch @scatter
// CHECK-NEXT:   %[[G0C:.*]] = zero.accumulate %{{.*}} into %[[G0B]][@wte]
// CHECK-NEXT:   zero.reduce_scatter %[[G0C]] : !zero.grads<@b0>
// CHECK-NEXT: {{^ *}$}}
// CHECK-NEXT: zero.segment @update
// CHECK-NEXT:   zero.norm [@b0, @b1, @b2] into @norm{{$}}
// CHECK-NEXT:   zero.update @b0 by @norm {[0, 20) decay, [32, 36) no_decay}{{$}}
// CHECK-NEXT:   zero.update @b1 by @norm {[0, 24) decay, [32, 38) no_decay}
// CHECK-NEXT:   zero.update @b2 by @norm {[0, 24) decay, [32, 36) no_decay}
// CHECK-NEXT: {{^ *}$}}

// One gather of everything that is trained, one reduction.
// ALL:          zero.bucket @b0 trainable over 3 ranks length 132 chunk 132 {
// ALL:          zero.segment @micro_step
// ALL-COUNT-2:  zero.all_gather
// ALL-NOT:      zero.all_gather
// ALL:          zero.reduce_scatter
// ALL-NOT:      zero.reduce_scatter

// FULL:         zero.segment @micro_step
// FULL:         zero.keep {{.*}} : !zero.grads<@b2>
// FULL:         zero.keep {{.*}} : !zero.grads<@b1>
// FULL:         zero.keep {{.*}} : !zero.grads<@b0>
// FULL:         zero.segment @update
// FULL-COUNT-3: zero.all_reduce
// FULL-NEXT:    zero.norm [@b0, @b1, @b2] into @norm replicated
