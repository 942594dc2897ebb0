// Stage 3 of `tiny` at 3 ranks: weights in shards, one gather a region of use.
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-shard-parameters -o %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %t | diff - %t
// RUN: zero-opt %t --canonicalize --cse | diff - %t
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-replicate --zero-shard-optimizer --zero-shard-gradients --zero-shard-parameters | diff - %t
//
// Sent a micro-step and rank: gathered lengths b0 21 twice, b1 6 twice, f0 6, b2 24 twice, b3 6, b4 24
// twice, b5 6: 168, times 2/3 = 112, as the worked example has it.
// RUN: grep -c 'zero.all_gather @' %t | FileCheck %s --check-prefix=GATHERS
// GATHERS: {{^11$}}

// CHECK: zero.config = {{{.*}}stage = 3 : i64
// CHECK-COUNT-6: zero.state @b{{[0-5]}} holds [param f32 sharded, grad_accum f32 sharded, moment1 f32 sharded, moment2 f32 sharded]
// CHECK-NEXT: zero.state @f0 holds [param f32 sharded]
// CHECK-NEXT: zero.state @u0 holds [param f32 sharded]

// CHECK-LABEL: zero.segment @micro_step
// CHECK-NOT:    zero.resident
// CHECK-NOT:    @u0
// CHECK:        %[[F0:.*]] = zero.all_gather @b0 : !zero.full<@b0>
// CHECK-NEXT:   %[[W0:.*]] = zero.view @wte of %[[F0]]
// CHECK-NEXT:   zero.launch @embed(%{{.*}}, %[[W0]])
// CHECK-NEXT:   %[[F1:.*]] = zero.all_gather @b1
// CHECK-NEXT:   %[[FF:.*]] = zero.all_gather @f0
// CHECK-NEXT:   zero.view @ln.w of %[[F1]]
// CHECK-NEXT:   zero.view @ln.b of %[[FF]]
// CHECK-NEXT:   zero.launch @ln
// CHECK-NEXT:   zero.all_gather @b2
// CHECK-NEXT:   zero.all_gather @b3
// CHECK:        zero.launch @fc
// CHECK-NEXT:   zero.launch @gelu
// CHECK-NEXT:   zero.all_gather @b4
// CHECK-NEXT:   zero.all_gather @b5
// CHECK:        zero.launch @pr
// The tied weight's second region: logits, and the gradient that flows back through them. Nothing else
// is read between, so that the last region of forward and the first of backward are one.
// CHECK-NEXT:   %[[F0B:.*]] = zero.all_gather @b0
// CHECK-NEXT:   %[[W0B:.*]] = zero.view @wte of %[[F0B]]
// CHECK-NEXT:   zero.launch @logits(%{{.*}}, %[[W0B]])
// CHECK:        zero.launch @ce
// CHECK:        zero.launch @dwte
// CHECK-NOT:    zero.all_gather
// CHECK:        zero.launch @dh(%{{.*}}, %[[W0B]])
// CHECK:        zero.launch @dw_pr
// Backward reads no bias: b5 and b3 are not gathered again.
// CHECK-NOT:    zero.all_gather @b5
// CHECK:        zero.all_gather @b4
// CHECK-NEXT:   zero.view @pr.w
// CHECK-NEXT:   zero.launch @da
// CHECK-NOT:    zero.all_gather @b3
// CHECK:        zero.launch @dw_fc
// CHECK:        zero.all_gather @b2
// CHECK-NEXT:   zero.view @fc.w
// CHECK-NEXT:   zero.launch @dy
// CHECK-NEXT:   zero.all_gather @b1
// CHECK-NEXT:   zero.view @ln.w
// CHECK-NEXT:   zero.launch @ln_grad
// CHECK-NOT:    zero.all_gather

// CHECK-LABEL: zero.segment @update
// CHECK-NEXT:   zero.norm [@b0, @b1, @b2, @b3, @b4, @b5] into @norm{{$}}
// CHECK-COUNT-6: zero.update {{.*}}decay}
// CHECK-NEXT: {{^ *}$}}
