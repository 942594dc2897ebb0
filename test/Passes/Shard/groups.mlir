// A range tells the group of its parameter: the first of zero.config whose pattern matches.
//
// RUN: zero-opt %s --zero-configure="ranks=2 optimizer=lion weight-decay=0.5 groups='*.bias:weight-decay=0.25;fc?.*:lr=0.5;[op]ut.*:lr=2,weight-decay=0'" --zero-shard-parameters --zero-bucket-collectives | FileCheck %s
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight:lr=2;fc?.*:lr=0.5;fc2.*:lr=1'" 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not zero-opt %s --zero-configure="groups='idle:lr=0.5'" 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight'" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight:rate=1'" 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight:lr=1,lr=1'" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight:lr=fast'" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not zero-opt %s --zero-configure="groups='fc1.weight:lr=-1'" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not zero-opt %s --zero-configure="groups='fc[1.weight:lr=1'" 2>&1 | FileCheck %s --check-prefix=GLOB

// CHECK: groups = [{lr = 1.000000e+00 : f64, pattern = "*.bias", weight_decay = 2.500000e-01 : f64}, {lr = 5.000000e-01 : f64, pattern = "fc?.*"}, {lr = 2.000000e+00 : f64, pattern = "[op]ut.*", weight_decay = 0.000000e+00 : f64}]

// LATE: error: expects group 'fc2.*' to match a trainable parameter that no group before it matches, got none
// FROZEN: error: expects group 'idle' to match a trainable parameter that no group before it matches, got none
// NOTHING: error: expects a group such as '*.bias:lr=0.5,weight-decay=0', got 'fc1.weight'
// KEY: error: expects a group such as '*.bias:lr=0.5,weight-decay=0', got 'fc1.weight:rate=1'
// TWICE: error: expects a group such as '*.bias:lr=0.5,weight-decay=0', got 'fc1.weight:lr=1,lr=1'
// WORD: error: expects a group such as '*.bias:lr=0.5,weight-decay=0', got 'fc1.weight:lr=fast'
// NEGATIVE: error: expects lr and weight-decay of group 'fc1.weight' to be finite and at least 0
// GLOB: error: expects a group's pattern to be one of names, got 'fc[1.weight': {{.*}}

nn.param @fc1.weight : tensor<4x4xf32> init ones
nn.param @fc1.bias : tensor<16xf32> init ones
nn.param @fc10.weight : tensor<4x4xf32> init ones
nn.param @out.weight : tensor<4x4xf32> init ones
nn.param @idle : tensor<2x2xf32> init ones {trainable = false}

zero.kernel @k(%a: tensor<4x4xf32>, %b: tensor<16xf32>, %c: tensor<4x4xf32>, %d: tensor<4x4xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>) kind generated {
  zero.yield %seed, %a, %b, %c, %d : tensor<f32>, tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @joint(%seed: tensor<f32>) {
  %a = nn.read @fc1.weight : tensor<4x4xf32>
  %b = nn.read @fc1.bias : tensor<16xf32>
  %c = nn.read @fc10.weight : tensor<4x4xf32>
  %d = nn.read @out.weight : tensor<4x4xf32>
  %loss, %da, %db, %dc, %dd = zero.launch @k(%a, %b, %c, %d, %seed) : (tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4x4xf32>, tensor<16xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  nn.return %loss grads(%da of @fc1.weight : tensor<4x4xf32>, %db of @fc1.bias : tensor<16xf32>, %dc of @fc10.weight : tensor<4x4xf32>, %dd of @out.weight : tensor<4x4xf32>) : tensor<f32>
}

// Lion has one moment.
// CHECK: zero.state @b0 holds [param f32 sharded, grad f32 sharded, moment1 f32 sharded]
// CHECK: zero.update @b0 by @norm {[0, 16) decay group 1, [16, 32) no_decay group 0, [32, 48) decay, [48, 64) decay group 2}
