// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Parameters.td.

zero.bucket @b0 trainable over 2 ranks length 36 chunk 36 {
  zero.slot @fc.weight at 0 : tensor<6x4xf32>
  zero.slot @fc.bias at 32 : tensor<4xf32>
}

// CHECK-LABEL: zero.segment @micro_step
zero.segment @micro_step times 1 {
  // CHECK-NEXT: %b0 = zero.all_gather @b0 : !zero.full<@b0>
  %0 = zero.all_gather @b0 : !zero.full<@b0>
  // CHECK-NEXT: %fc.weight = zero.view @fc.weight of %b0 : !zero.full<@b0> -> tensor<6x4xf32>
  %1 = zero.view @fc.weight of %0 : !zero.full<@b0> -> tensor<6x4xf32>
  // CHECK-NEXT: %b0_0 = zero.resident @b0 : !zero.full<@b0>
  %2 = zero.resident @b0 : !zero.full<@b0>
  // CHECK-NEXT: %b0.gather = zero.all_gather_start @b0 on gather at 640 : !zero.future<@b0>
  %3 = zero.all_gather_start @b0 on gather at 640 : !zero.future<@b0>
  // CHECK-NEXT: %b0_1 = zero.wait %b0.gather on compute : !zero.future<@b0> -> !zero.full<@b0>
  %4 = zero.wait %3 on compute : !zero.future<@b0> -> !zero.full<@b0>
  // CHECK-NEXT: zero.free %b0_1 : !zero.full<@b0>
  zero.free %4 : !zero.full<@b0>
  // CHECK-NEXT: %b0.gather_2 = zero.all_gather_start @b0 in_place on gather : !zero.future<@b0>
  %5 = zero.all_gather_start @b0 in_place on gather : !zero.future<@b0>
  // CHECK-NEXT: zero.wait %b0.gather_2 on compute : !zero.future<@b0>{{$}}
  zero.wait %5 on compute : !zero.future<@b0>
  // CHECK-NEXT: zero.all_gather_in_place @b0
  zero.all_gather_in_place @b0
}
