// Stage 1 of `tiny` at 3 ranks: moments in shards; a reduce-scatter in place of the all-reduce, and the
// updated weights gathered last.
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-shard-optimizer -o %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %t --canonicalize --cse | diff - %t
//
// From stage 0 on, the pass comes to the same; a second run changes nothing.
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-replicate --zero-shard-optimizer | diff - %t
// RUN: zero-opt %t --zero-shard-optimizer | diff - %t
//
// Outside `update` and the moments it is stage 0.
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-replicate | sed '/zero.state/d;/zero.config/d;/@update/,$d' > %t.0
// RUN: sed '/zero.state/d;/zero.config/d;/@update/,$d' %t | diff - %t.0

// CHECK: zero.config = {{{.*}}stage = 1 : i64
// CHECK-COUNT-6: zero.state @b{{[0-5]}} holds [param f32 full, grad_accum f32 full, moment1 f32 sharded, moment2 f32 sharded]
// CHECK-NEXT: zero.state @f0 holds [param f32 full]
// CHECK-NEXT: zero.state @u0 holds [param f32 full]

// CHECK-LABEL: zero.segment @update
// CHECK-NEXT:   %[[G:.*]] = zero.grads @b0
// CHECK-NEXT:   zero.reduce_scatter %[[G]]
// CHECK-COUNT-5: zero.reduce_scatter
// CHECK-NEXT:   zero.norm [@b0, @b1, @b2, @b3, @b4, @b5] into @norm{{$}}
// CHECK-NEXT:   zero.update @b0 by @norm {[0, 20) decay}{{$}}
// CHECK-COUNT-5: zero.update
// CHECK-NEXT:   zero.all_gather_in_place @b0
// CHECK-NEXT:   zero.all_gather_in_place @b1
// CHECK-NEXT:   zero.all_gather_in_place @b2
// CHECK-NEXT:   zero.all_gather_in_place @b3
// CHECK-NEXT:   zero.all_gather_in_place @b4
// CHECK-NEXT:   zero.all_gather_in_place @b5
// CHECK-NEXT: {{^ *}$}}
