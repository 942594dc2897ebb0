// Stage 0 of `tiny` at 3 ranks: everything full, gradients kept over the micro-steps, one all-reduce a
// bucket and step, everyone updates everything.
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 micro-steps=2 bucket-bytes=64" --zero-replicate -o %t
// RUN: FileCheck %s < %t
// RUN: zero-opt %t | diff - %t
// RUN: zero-opt %t --canonicalize --cse | diff - %t

// One bucket a parameter, in order of first use. At 64 bytes a chunk has at most floor(16 / 3) * 3 = 15
// elements; a length is the parameter's rounded up to 3.
// CHECK: zero.config = {{{.*}}stage = 0 : i64
// CHECK:      zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
// CHECK-NEXT:   zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
// CHECK:      zero.bucket @b1 trainable over 3 ranks length 6 chunk 6 {
// CHECK-NEXT:   zero.slot @ln.w at 0 : tensor<4xf32> contributions 1
// CHECK:      zero.bucket @b2 trainable over 3 ranks length 24 chunk 15 {
// CHECK-NEXT:   zero.slot @fc.w at 0 : tensor<4x6xf32> contributions 1
// CHECK:      zero.bucket @b3 trainable over 3 ranks length 6 chunk 6 {
// CHECK-NEXT:   zero.slot @fc.b at 0 : tensor<6xf32> contributions 1
// CHECK:      zero.bucket @b4 trainable over 3 ranks length 24 chunk 15 {
// CHECK-NEXT:   zero.slot @pr.w at 0 : tensor<6x4xf32> contributions 1
// CHECK:      zero.bucket @b5 trainable over 3 ranks length 6 chunk 6 {
// CHECK-NEXT:   zero.slot @pr.b at 0 : tensor<4xf32> contributions 1
// CHECK:      zero.bucket @f0 frozen over 3 ranks length 6 chunk 6 {
// CHECK-NEXT:   zero.slot @ln.b at 0 : tensor<4xf32>{{$}}
// CHECK:      zero.bucket @u0 unused over 3 ranks length 6 chunk 6 {
// CHECK-NEXT:   zero.slot @extra at 0 : tensor<3x2xf32>{{$}}
// CHECK-COUNT-6: zero.state @b{{[0-5]}} holds [param f32 full, grad_accum f32 full, moment1 f32 full, moment2 f32 full]
// CHECK-NEXT: zero.state @f0 holds [param f32 full]
// CHECK-NEXT: zero.state @u0 holds [param f32 full]
// Control: 8 + 8 + 2 * 4 + 4 + 7 * 4 = 56 bytes.
// CHECK-NEXT: zero.cell @label_count : tensor<i64>
// CHECK-NEXT: zero.cell @norm : tensor<f64>
// CHECK-NEXT: zero.cell @loss : tensor<2xf32>
// CHECK-NEXT: zero.cell @seed : tensor<f32>
// CHECK-NEXT: zero.cell @scalars : tensor<7xf32>
// CHECK-NOT: func.func

// CHECK:      zero.segment @count times 1 (%labels: tensor<2x2x3xi32>) {
// CHECK-NEXT:   zero.count %labels ignoring -100 into @label_count
// CHECK-NEXT:   zero.seed @seed from @label_count
// CHECK-NEXT: {{^ *}$}}
// CHECK-NEXT: zero.segment @micro_step times 2 (%tokens: tensor<2x3xi32>, %labels: tensor<2x3xi32>) {
// CHECK-NEXT:   %seed = zero.scalar @seed : tensor<f32>
// CHECK-NEXT:   %[[T:.*]] = nn.reshape %tokens
// One resident a bucket, before the first launch that reads it; one view a parameter.
// CHECK-NEXT:   %b0 = zero.resident @b0 : !zero.full<@b0>
// CHECK-NEXT:   %wte = zero.view @wte of %b0
// CHECK-NEXT:   %embed = zero.launch @embed(%[[T]], %wte)
// CHECK-NEXT:   %b1 = zero.resident @b1
// CHECK-NEXT:   %f0 = zero.resident @f0
// CHECK-NEXT:   %ln.w = zero.view @ln.w of %b1
// CHECK-NEXT:   %ln.b = zero.view @ln.b of %f0
// CHECK-NEXT:   %ln = zero.launch @ln(%embed, %ln.w, %ln.b)
// CHECK-NEXT:   zero.resident @b2
// CHECK-NEXT:   zero.resident @b3
// CHECK:        zero.launch @fc
// CHECK-NEXT:   zero.launch @gelu
// CHECK-NEXT:   zero.resident @b4
// CHECK-NEXT:   zero.resident @b5
// CHECK-NOT:    zero.resident
// CHECK:        zero.launch @logits(%pr, %wte)
// CHECK:        %[[CE:.*]]:2 = zero.launch @ce
// CHECK-NEXT:   zero.set @loss %[[CE]]#0 : tensor<f32>
// The tied weight's two contributions, met in order of formation, stand in one grads value.
// CHECK-NEXT:   %[[D1:.*]] = zero.launch @dwte
// CHECK-NEXT:   %[[G0:.*]] = zero.grads @b0
// CHECK-NEXT:   %[[G1:.*]] = zero.accumulate %[[D1]] into %[[G0]][@wte]
// CHECK-NEXT:   %[[DH:.*]] = zero.launch @dh(%{{.*}}, %wte)
// CHECK-NEXT:   %[[D2:.*]] = zero.launch @db_pr(%[[DH]])
// CHECK-NEXT:   %[[G2:.*]] = zero.grads @b5
// CHECK-NEXT:   %[[G3:.*]] = zero.accumulate %[[D2]] into %[[G2]][@pr.b]
// CHECK-NEXT:   zero.keep %[[G3]]
// CHECK-NEXT:   zero.launch @dw_pr
// CHECK:        zero.keep {{.*}} : !zero.grads<@b4>
// CHECK-NEXT:   zero.launch @da(%[[DH]], %pr.w)
// CHECK:        zero.keep {{.*}} : !zero.grads<@b3>
// CHECK:        zero.keep {{.*}} : !zero.grads<@b2>
// CHECK:        %[[LN:.*]]:2 = zero.launch @ln_grad
// CHECK:        zero.accumulate %[[LN]]#1 into %{{.*}}[@ln.w]
// CHECK-NEXT:   zero.keep {{.*}} : !zero.grads<@b1>
// CHECK-NEXT:   %[[D7:.*]] = zero.launch @scatter(%[[T]], %[[LN]]#0)
// CHECK-NEXT:   %[[G4:.*]] = zero.accumulate %[[D7]] into %[[G1]][@wte]
// CHECK-NEXT:   zero.keep %[[G4]]
// CHECK-NEXT: {{^ *}$}}

// CHECK-NEXT: zero.segment @update times 1 {
// CHECK-NEXT:   %[[U0:.*]] = zero.grads @b0
// CHECK-NEXT:   zero.all_reduce %[[U0]]
// CHECK-NEXT:   %[[U1:.*]] = zero.grads @b1
// CHECK-NEXT:   zero.all_reduce %[[U1]]
// CHECK-COUNT-4: zero.all_reduce
// CHECK-NEXT:   zero.norm [@b0, @b1, @b2, @b3, @b4, @b5] into @norm replicated
// Padding, [20, 21) of b0, is in no range; vectors are not decayed.
// CHECK-NEXT:   zero.update @b0 by @norm {[0, 20) decay} replicated
// CHECK-NEXT:   zero.update @b1 by @norm {[0, 4) no_decay} replicated
// CHECK-NEXT:   zero.update @b2 by @norm {[0, 24) decay} replicated
// CHECK-NEXT:   zero.update @b3 by @norm {[0, 6) no_decay} replicated
// CHECK-NEXT:   zero.update @b4 by @norm {[0, 24) decay} replicated
// CHECK-NEXT:   zero.update @b5 by @norm {[0, 4) no_decay} replicated
// CHECK-NEXT: {{^ *}$}}
