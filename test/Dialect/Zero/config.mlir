// RUN: zero-opt %s | zero-opt | FileCheck %s
// RUN: zero-opt %s --zero-configure="ranks=3 stage=3 micro-steps=2 bucket-bytes=64 threads-per-rank=2 reduce-every=step loss-mean=rank optimizer=sgd beta1=0.5 beta2=0.25 eps=0.125 weight-decay=0.5 momentum=0.75 clip=2.0" | FileCheck %s

// The same values may be configured again, in any spelling of the text: nothing changes.

// CHECK: zero.config = {beta1 = 5.000000e-01 : f64, beta2 = 2.500000e-01 : f64, bucket_bytes = 64 : i64, clip = 2.000000e+00 : f64, eps = 1.250000e-01 : f64, loss_mean = "rank", micro_steps = 2 : i64, momentum = 7.500000e-01 : f64, optimizer = "sgd", ranks = 3 : i64, reduce_every = "step", stage = 3 : i64, threads_per_rank = 2 : i64, weight_decay = 5.000000e-01 : f64}
module attributes {zero.config = {
    ranks = 3, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0}} {
}
