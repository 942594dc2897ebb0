// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of param: a static ranked tensor of floats.
// expected-error@+1 {{expects a static shape, got 'tensor<?x4xf32>'}}
nn.param @w : tensor<?x4xf32> init zeros

// -----

// (C1)
// expected-error@+1 {{'type' failed to satisfy constraint}}
nn.param @w : tensor<4xi32> init zeros

// -----

// (C2): at least one element.
// expected-error@+1 {{expects a parameter of at least one element, got 'tensor<0x4xf32>'}}
nn.param @w : tensor<0x4xf32> init zeros

// -----

// (C2): 2^31 · 2^31 elements of 4 bytes are 2^64 bytes.
// expected-error@+1 {{expects a tensor of at most 2^63 - 1 bytes, got 'tensor<2147483648x2147483648xf32>'}}
nn.param @w : tensor<2147483648x2147483648xf32> init zeros

// -----

// (C3): a finite number with normal, uniform and constant.
// expected-error@+1 {{expects a finite number for init normal, got 0x7FF0000000000000 : f64}}
"nn.param"() {sym_name = "w", type = tensor<4xf32>, init = 3 : i32, init_value = 0x7FF0000000000000 : f64} : () -> ()

// -----

// (C3): none with the others.
// expected-error@+1 {{expects no number for init ones, got 2.000000e+00 : f64}}
"nn.param"() {sym_name = "w", type = tensor<4xf32>, init = 1 : i32, init_value = 2.0 : f64} : () -> ()

// -----

// expected-error@+1 {{expects zeros, ones, constant, normal or uniform after 'init', got 'xavier'}}
nn.param @w : tensor<4xf32> init xavier

// -----

// expected-error@+1 {{expected '('}}
nn.param @w : tensor<4xf32> init normal

// -----

// (C1) of read: the symbol names a parameter.
func.func @read() {
  // expected-error@+1 {{'nn.read' op expects the name of an nn.param, got @w}}
  %w = nn.read @w : tensor<4xf32>
  return
}

// -----

func.func @read() {
  // expected-error@+1 {{'nn.read' op expects the name of an nn.param, got @read}}
  %w = nn.read @read : tensor<4xf32>
  return
}

// -----

// (C1) of read: of the result's type.
// expected-note@+1 {{the parameter is declared here}}
nn.param @w : tensor<4xf32> init zeros
func.func @read() {
  // expected-error@+1 {{'nn.read' op expects the type of @w, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %w = nn.read @w : tensor<5xf32>
  return
}

// -----

func.func @joint(%loss: tensor<2xf32>) {
  // expected-error@+1 {{'nn.return' op expects a scalar loss, got 'tensor<2xf32>'}}
  nn.return %loss grads() : tensor<2xf32>
}

// -----

// (C1) of return: one gradient per name.
nn.param @w : tensor<4xf32> init zeros
func.func @joint(%loss: tensor<f32>) {
  // expected-error@+1 {{'nn.return' op expects one gradient for each of its 1 names, got 0}}
  "nn.return"(%loss) {params = [@w]} : (tensor<f32>) -> ()
}

// -----

// (C2) of return: names of trainable parameters, of the gradients' types.
func.func @joint(%loss: tensor<f32>, %dw: tensor<4xf32>) {
  // expected-error@+1 {{'nn.return' op expects the name of an nn.param, got @w}}
  nn.return %loss grads(%dw of @w : tensor<4xf32>) : tensor<f32>
}

// -----

// expected-note@+1 {{the parameter is declared here}}
nn.param @w : tensor<4xf32> init zeros
func.func @joint(%loss: tensor<f32>, %dw: tensor<2x2xf32>) {
  // expected-error@+1 {{'nn.return' op expects the type of @w, 'tensor<4xf32>', got 'tensor<2x2xf32>'}}
  nn.return %loss grads(%dw of @w : tensor<2x2xf32>) : tensor<f32>
}

// -----

// expected-note@+1 {{the parameter is frozen here}}
nn.param @w : tensor<4xf32> init zeros {trainable = false}
func.func @joint(%loss: tensor<f32>, %dw: tensor<4xf32>) {
  // expected-error@+1 {{'nn.return' op expects trainable parameters, got @w}}
  nn.return %loss grads(%dw of @w : tensor<4xf32>) : tensor<f32>
}

// -----

// (C4) of param
// expected-error@+1 {{expects a zero row in [0, 5), got 5}}
nn.param @w : tensor<5x4xf32> init normal(0.02) zero_row 5

// -----

// (C4)
// expected-error@+1 {{expects a zero row in [0, 0), got 0}}
nn.param @w : tensor<f32> init normal(0.02) zero_row 0
