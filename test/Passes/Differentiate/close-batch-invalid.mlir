// RUN: zero-opt %s --nn-close-batch=micro-batch=5 --split-input-file --verify-diagnostics

// expected-error @below {{expects calls that can be inlined, and @block calls itself}}
func.func private @block(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %z = func.call @block(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %z : tensor<?x6xf32>
}
func.func @loss(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %a = func.call @block(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %loss = nn.cross_entropy %a, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func private @even(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %z = func.call @odd(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %z : tensor<?x6xf32>
}
// expected-error @below {{expects calls that can be inlined, and @odd calls itself}}
func.func private @odd(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %z = func.call @even(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %z : tensor<?x6xf32>
}
func.func @loss(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %a = func.call @odd(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %loss = nn.cross_entropy %a, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects a body of one block}}
func.func private @elsewhere(%x: tensor<?x6xf32>) -> tensor<?x6xf32>
func.func @loss(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %a = func.call @elsewhere(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %loss = nn.cross_entropy %a, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects a body of one block}}
func.func @loss(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  cf.br ^next
^next:
  %loss = nn.cross_entropy %x, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The two calls would close the function differently.
func.func private @rows(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  return %x : tensor<?x6xf32>
}
func.func @loss(%x: tensor<?x6xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %a = func.call @rows(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %b = nn.concat %a, %a along 0 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // expected-error @below {{expects operands of the types of @rows, which another call closed differently}}
  %c = func.call @rows(%b) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %loss = nn.cross_entropy %a, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects argument 0 to be a ranked tensor that is open in dimension 0 at most, got 'tensor<?x?xf32>'}}
func.func @loss(%x: tensor<?x?xf32>) -> tensor<f32> {
  %loss = nn.constant dense<1.0> : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{expects argument 0 to be a ranked tensor that is open in dimension 0 at most, got 'f32'}}
func.func @loss(%x: f32) -> tensor<f32> {
  %loss = nn.constant dense<1.0> : tensor<f32>
  return %loss : tensor<f32>
}
