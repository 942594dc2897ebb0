// Stages go up only, and need the module that they go on from.
//
// RUN: zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="ranks=3 bucket-bytes=64" --zero-shard-parameters -o %t
// RUN: not zero-opt %t --zero-shard-optimizer 2>&1 | FileCheck %s --check-prefix=DOWN
// DOWN: error: expects a module of stage 1 or below, got stage 3
//
// RUN: not zero-opt %S/Inputs/tiny-launches.mlir --zero-configure="reduce-every=step" --zero-shard-parameters 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: expects gradients to be reduced every micro-step at stage 3, got reduce-every=step
//
// RUN: not zero-opt %S/Inputs/tiny-launches.mlir --zero-shard-parameters 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: error: expects zero.config: run zero-configure first
//
// RUN: not zero-opt %S/Inputs/tiny-launches.mlir --zero-configure --zero-bucket-collectives 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: expects a module at level sharded, got one at level launches
//
// RUN: sed '/zero.state @b0/d' %t > %t.state
// RUN: not zero-opt %t.state --zero-bucket-collectives 2>&1 | FileCheck %s --check-prefix=STATE
// STATE: error: 'zero.bucket' op expects a zero.state of the bucket
//
// RUN: sed 's/zero.state @f0 holds .*/zero.state @f0 holds []/' %t > %t.param
// RUN: not zero-opt %t.param --zero-bucket-collectives 2>&1 | FileCheck %s --check-prefix=PARAM
// PARAM: error: 'zero.state' op expects a bucket to hold param
//
// RUN: sed '/nn.param @ln.b/d' %t > %t.slot
// RUN: not zero-opt %t.slot --zero-bucket-collectives 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: error: 'zero.slot' op expects an nn.param @ln.b
//
// RUN: sed 's/zero.segment @update/zero.segment @last/' %t > %t.segment
// RUN: not zero-opt %t.segment --zero-bucket-collectives 2>&1 | FileCheck %s --check-prefix=SEGMENT
// SEGMENT: error: expects segments @micro_step and @update
