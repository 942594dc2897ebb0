// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Update.td.

zero.bucket @b0 trainable over 2 ranks length 36 chunk 36 {
  zero.slot @fc.weight at 0 : tensor<6x4xf32>
  zero.slot @fc.bias at 32 : tensor<4xf32>
}
zero.bucket @b1 trainable over 2 ranks length 4 chunk 4 {
  zero.slot @w at 0 : tensor<3xf32>
}
zero.cell @norm : tensor<f64>

// CHECK-LABEL: zero.segment @update
zero.segment @update times 1 {
  // CHECK-NEXT: zero.norm [@b0, @b1] into @norm{{$}}
  zero.norm [@b0, @b1] into @norm
  // CHECK-NEXT: zero.norm [@b1] into @norm replicated
  zero.norm [@b1] into @norm replicated
  // CHECK-NEXT: zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay}{{$}}
  zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay}
  // CHECK-NEXT: zero.update @b1 by @norm {[0, 3) no_decay} replicated
  zero.update @b1 by @norm {[0, 3) no_decay} replicated
}
