// RUN: zero-opt %s --zero-configure | FileCheck %s
// RUN: zero-opt %s --zero-configure="ranks=4 stage=2" | FileCheck %s --check-prefix=SOME
// RUN: not zero-opt %s --zero-configure="ranks=0" 2>&1 | FileCheck %s --check-prefix=RANKS0
// RUN: not zero-opt %s --zero-configure="ranks=100000" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not zero-opt %s --zero-configure="stage=4" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not zero-opt %s --zero-configure="micro-steps=0" 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not zero-opt %s --zero-configure="bucket-bytes=0" 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not zero-opt %s --zero-configure="threads-per-rank=0" 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not zero-opt %s --zero-configure="reduce-every=never" 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not zero-opt %s --zero-configure="loss-mean=token" 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: not zero-opt %s --zero-configure="optimizer=lamb" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// RUN: not zero-opt %s --zero-configure="beta1=1.0" 2>&1 | FileCheck %s --check-prefix=BETA1
// RUN: not zero-opt %s --zero-configure="beta2=nan" 2>&1 | FileCheck %s --check-prefix=BETA2
// RUN: not zero-opt %s --zero-configure="eps=-1" 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not zero-opt %s --zero-configure="weight-decay=inf" 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not zero-opt %s --zero-configure="momentum=-0.5" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not zero-opt %s --zero-configure="clip=-1" 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not zero-opt %s --zero-configure="ranks=2" --zero-configure="ranks=3" 2>&1 | FileCheck %s --check-prefix=TWICE

// CHECK: module attributes {zero.config = {beta1 = 9.000000e-01 : f64, beta2 = {{.*}} : f64, bucket_bytes = 26214400 : i64, clip = 0.000000e+00 : f64, eps = 1.000000e-08 : f64, loss_mean = "step", micro_steps = 1 : i64, momentum = 0.000000e+00 : f64, optimizer = "adamw", ranks = 1 : i64, reduce_every = "micro-step", stage = 0 : i64, threads_per_rank = 1 : i64, weight_decay = 0.000000e+00 : f64}}
// SOME: ranks = 4 : i64, reduce_every = "micro-step", stage = 2 : i64
// RANKS0: error: expects ranks between 1 and 65536, got 0
// RANKS: error: expects ranks between 1 and 65536, got 100000
// STAGE: error: expects stage between 0 and 3, got 4
// STEPS: error: expects micro-steps between 1 and 1048576, got 0
// BYTES: error: expects bucket-bytes between 1 and 1125899906842624, got 0
// THREADS: error: expects threads-per-rank between 1 and 4096, got 0
// REDUCE: error: expects reduce-every to be one of step, micro-step, got 'never'
// MEAN: error: expects loss-mean to be one of step, micro-step, rank, got 'token'
// OPTIMIZER: error: expects optimizer to be one of adamw, adam, sgd, lion, got 'lamb'
// BETA1: error: expects beta1 in [0, 1), got 1{{$}}
// BETA2: error: expects beta2 in [0, 1), got nan
// EPS: error: expects eps to be finite and at least 0, got -1{{$}}
// DECAY: error: expects weight-decay to be finite and at least 0, got inf
// MOMENTUM: error: expects momentum to be finite and at least 0, got -0.5
// CLIP: error: expects clip to be finite and at least 0, got -1{{$}}
// TWICE: error: expects a module without zero.config, or with {{.*}}ranks = 3{{.*}}, got {{.*}}ranks = 2
module {}
