// RUN: zero-opt %s -split-input-file -verify-diagnostics --zero-configure="ranks=2" --zero-replicate

// expected-error @below {{expects a module at level launches or sharded, got one at level graph}}
module {
  nn.param @w : tensor<2xf32> init ones
  func.func @loss(%x: tensor<2xf32>) -> tensor<f32> {
    %w = nn.read @w : tensor<2xf32>
    %s = nn.reduce_sum %w over [0] : (tensor<2xf32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}

// -----
// expected-error @below {{the model has no trainable parameter that the loss depends on}}
module {
  nn.param @w : tensor<2xf32> init ones {trainable = false}
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> tensor<f32> kind generated {
    zero.yield %seed : tensor<f32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    %s = zero.launch @k(%w, %seed) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    nn.return %s grads() : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf32>
  }
  func.func @joint(%x: tensor<2xf32>, %seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    // expected-error @below {{expects reads, views and launches alone in @joint: run zero-form-launches first}}
    %y = nn.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %s, %d = zero.launch @k(%y, %seed) : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
    nn.return %s grads(%d of @w : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    %s = nn.reduce_sum %w over [0] : (tensor<2xf32>) -> tensor<f32>
    zero.yield %s, %w : tensor<f32>, tensor<2xf32>
  }
  // expected-error @below {{expects the seed, 'tensor<f32>', as last argument of @joint}}
  func.func @joint(%x: tensor<2xf32>) {
    %w = nn.read @w : tensor<2xf32>
    %s, %d = zero.launch @k(%w) : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
    nn.return %s grads(%d of @w : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  // expected-error @below {{expects a symbol of another name than @norm, which the schedule uses}}
  nn.param @norm : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @norm : tensor<2xf32>
    %s, %d = zero.launch @k(%w, %seed) : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
    nn.return %s grads(%d of @norm : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  // expected-error @below {{expects a parameter of f32, bf16 or f16, got 'tensor<2xf64>'}}
  nn.param @w : tensor<2xf64> init ones
  zero.kernel @k(%w: tensor<2xf64>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf64>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf64>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf64>
    %s, %d = zero.launch @k(%w, %seed) : (tensor<2xf64>, tensor<f32>) -> (tensor<f32>, tensor<2xf64>)
    nn.return %s grads(%d of @w : tensor<2xf64>) : tensor<f32>
  }
}

// -----
// 2^59 elements of 4 bytes.
// expected-error @below {{parameter 'w': expects all parameters to stay below 1152921504606846976 bytes together}}
module {
  nn.param @w : tensor<576460752303423488xf32> init ones
  zero.kernel @k(%w: tensor<576460752303423488xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<576460752303423488xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<576460752303423488xf32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<576460752303423488xf32>
    %s, %d = zero.launch @k(%w, %seed) : (tensor<576460752303423488xf32>, tensor<f32>) -> (tensor<f32>, tensor<576460752303423488xf32>)
    nn.return %s grads(%d of @w : tensor<576460752303423488xf32>) : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) kind generated {
    %c = nn.constant dense<0.0> : tensor<3xf32>
    zero.yield %seed, %c : tensor<f32>, tensor<3xf32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    %s, %d = zero.launch @k(%w, %seed) : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
    // expected-error @below {{expects the gradient of @w to be all of a launch's result, reshaped at most, that nothing else reads}}
    %part = nn.slice %d from [0] sizes [2] : (tensor<3xf32>) -> tensor<2xf32>
    nn.return %s grads(%part of @w : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  nn.param @v : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %v: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    %v = nn.read @v : tensor<2xf32>
    // expected-error @below {{expects the gradient of @v to be all of a launch's result, reshaped at most, that nothing else reads}}
    %s, %d = zero.launch @k(%w, %v, %seed) : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
    nn.return %s grads(%d of @w : tensor<2xf32>, %d of @v : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>) -> tensor<2xf32> kind generated {
    zero.yield %w : tensor<2xf32>
  }
  // expected-error @below {{expects the loss to be a launch's result that nothing else reads}}
  func.func @joint(%loss: tensor<f32>, %seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    %d = zero.launch @k(%w) : (tensor<2xf32>) -> tensor<2xf32>
    nn.return %loss grads(%d of @w : tensor<2xf32>) : tensor<f32>
  }
}

// -----
module {
  nn.param @w : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf32>
  }
  // expected-error @below {{expects @count to be nn.count_labels of its one argument}}
  func.func @count(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<i64> {
    %n = nn.count_labels %a ignoring -1 : (tensor<2xi32>) -> tensor<i64>
    return %n : tensor<i64>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    %s, %d = zero.launch @k(%w, %seed) : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
    nn.return %s grads(%d of @w : tensor<2xf32>) : tensor<f32>
  }
}

// -----
// From its slot, a later launch would read a sum over micro-steps.
module {
  nn.param @w : tensor<2xf32> init ones
  nn.param @v : tensor<2xf32> init ones
  zero.kernel @k(%w: tensor<2xf32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<2xf32>) kind generated {
    zero.yield %seed, %w : tensor<f32>, tensor<2xf32>
  }
  zero.kernel @l(%d: tensor<1x2xf32>) -> tensor<2xf32> kind generated {
    %0 = nn.reshape %d to [2] : (tensor<1x2xf32>) -> tensor<2xf32>
    zero.yield %0 : tensor<2xf32>
  }
  func.func @joint(%seed: tensor<f32>) {
    %w = nn.read @w : tensor<2xf32>
    // expected-error @below {{expects the gradient of @w to be all of a launch's result, reshaped at most, that nothing else reads}}
    %s, %d = zero.launch @k(%w, %seed) : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
    %r = nn.reshape %d to [1, 2] : (tensor<2xf32>) -> tensor<1x2xf32>
    %e = zero.launch @l(%r) : (tensor<1x2xf32>) -> tensor<2xf32>
    nn.return %s grads(%d of @w : tensor<2xf32>, %e of @v : tensor<2xf32>) : tensor<f32>
  }
}
