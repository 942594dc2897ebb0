// Stage 2 of `tiny` at 3 ranks: gradients in shards, each bucket reduced right behind its last
// contribution, in every micro-step.
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-shard-gradients -o %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %t --canonicalize --cse | diff - %t
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-replicate --zero-shard-optimizer --zero-shard-gradients | diff - %t
//
// With reduce-every=step it has stage 1's form, under its own number.
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64 reduce-every=step" --zero-shard-gradients -o %t.step
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64 reduce-every=step" --zero-shard-optimizer | sed 's/stage = 1/stage = 2/' | diff - %t.step

// CHECK: zero.config = {{{.*}}stage = 2 : i64
// CHECK-COUNT-6: zero.state @b{{[0-5]}} holds [param f32 full, grad_accum f32 sharded, moment1 f32 sharded, moment2 f32 sharded]
// CHECK-NEXT: zero.state @f0 holds [param f32 full]
// CHECK-NEXT: zero.state @u0 holds [param f32 full]

// CHECK-LABEL: zero.segment @micro_step
// CHECK:        zero.resident @b0
// CHECK-NOT:    zero.all_gather
// CHECK-NOT:    zero.keep
// CHECK:        zero.launch @dwte
// CHECK-NEXT:   zero.grads @b0
// CHECK-NEXT:   %[[G:.*]] = zero.accumulate
// CHECK-NEXT:   zero.launch @dh
// CHECK-NEXT:   zero.launch @db_pr
// CHECK-NEXT:   zero.grads @b5
// CHECK-NEXT:   zero.accumulate
// CHECK-NEXT:   zero.reduce_scatter {{.*}} : !zero.grads<@b5>
// CHECK-NEXT:   zero.launch @dw_pr
// CHECK-NEXT:   zero.grads @b4
// CHECK-NEXT:   zero.accumulate
// CHECK-NEXT:   zero.reduce_scatter {{.*}} : !zero.grads<@b4>
// CHECK:        zero.reduce_scatter {{.*}} : !zero.grads<@b3>
// CHECK:        zero.reduce_scatter {{.*}} : !zero.grads<@b2>
// CHECK:        zero.reduce_scatter {{.*}} : !zero.grads<@b1>
// CHECK-NEXT:   %[[D:.*]] = zero.launch @scatter
// CHECK-NEXT:   %[[H:.*]] = zero.accumulate %[[D]] into %[[G]][@wte]
// CHECK-NEXT:   zero.reduce_scatter %[[H]]
// CHECK-NEXT: {{^ *}$}}

// CHECK-NEXT: zero.segment @update
// CHECK-NEXT:   zero.norm [@b0, @b1, @b2, @b3, @b4, @b5] into @norm{{$}}
// CHECK-COUNT-6: zero.update
// CHECK-COUNT-6: zero.all_gather_in_place
// CHECK-NEXT: {{^ *}$}}
