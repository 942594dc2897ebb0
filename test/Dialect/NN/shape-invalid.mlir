// RUN: zero-opt %s -split-input-file -verify-diagnostics

// (C1) of reshape: at most one -1.
func.func @reshape(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{expects non-negative sizes and at most one -1, got [-1, -1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [-1, -1] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// (C1)
func.func @reshape(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{expects non-negative sizes and at most one -1, got [-2, 12]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [-2, 12] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// (C2) of reshape: the numbers of elements agree.
func.func @reshape(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{expects a shape of 24 elements, as 'tensor<4x6xf32>' has, got [5, 5]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [5, 5] : (tensor<4x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

// (C2): 5 does not divide 24.
func.func @reshape(%x: tensor<4x6xf32>) {
  // expected-error@+2 {{expects a shape of 24 elements, as 'tensor<4x6xf32>' has, got [5, -1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [5, -1] : (tensor<4x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

// (C2): 2^64 is not taken for 0.
func.func @reshape(%x: tensor<0x6xf32>) {
  // expected-error@+2 {{expects a shape of 0 elements, as 'tensor<0x6xf32>' has, got [4294967296, 4294967296]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [4294967296, 4294967296] : (tensor<0x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @reshape(%x: tensor<0x6xf32>) {
  // expected-error@+2 {{expects sizes between 1 and 2^63 - 1 beside -1, got [0, -1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [0, -1] : (tensor<0x6xf32>) -> tensor<0x6xf32>
  return
}

// -----

// No op embeds the batch size.
func.func @reshape(%x: tensor<?x6xf32>) {
  // expected-error@+2 {{expects a -1 in the shape for an open input, got [24]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [24] : (tensor<?x6xf32>) -> tensor<24xf32>
  return
}

// -----

func.func @reshape(%x: tensor<?x6xf32>) {
  // expected-error@+2 {{expects only dimension 0 to be open, got 'tensor<6x?xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.reshape %x to [6, -1] : (tensor<?x6xf32>) -> tensor<6x?xf32>
  return
}

// -----

// (C1) of transpose
func.func @transpose(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects a permutation of the 2 dimensions, got [1, 1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.transpose %x by [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose(%x: tensor<?x3xf32>) {
  // expected-error@+2 {{expects only dimension 0 to be open, got 'tensor<3x?xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.transpose %x by [1, 0] : (tensor<?x3xf32>) -> tensor<3x?xf32>
  return
}

// -----

// (C1) of broadcast
func.func @broadcast(%x: tensor<3xf32>) {
  // expected-error@+2 {{expects a shape to which 'tensor<3xf32>' broadcasts, got [3, 2]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.broadcast %x to [3, 2] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// (C1): a new dimension has no size to take.
func.func @broadcast(%x: tensor<3xf32>) {
  // expected-error@+2 {{expects a shape to which 'tensor<3xf32>' broadcasts, got [-1, 3]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.broadcast %x to [-1, 3] : (tensor<3xf32>) -> tensor<1x3xf32>
  return
}

// -----

// (C1): nor may the batch size be written down.
func.func @broadcast(%x: tensor<?x1xf32>) {
  // expected-error@+2 {{expects a shape to which 'tensor<?x1xf32>' broadcasts, got [2, 3]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.broadcast %x to [2, 3] : (tensor<?x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C1) of slice
func.func @slice(%x: tensor<5x3xf32>) {
  // expected-error@+2 {{expects one start and one size for each of the 2 dimensions, got [0] and [1, 1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.slice %x from [0] sizes [1, 1] : (tensor<5x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

// (C2) of slice: 3 + 3 > 5.
func.func @slice(%x: tensor<5x3xf32>) {
  // expected-error@+2 {{expects a box inside 'tensor<5x3xf32>', got starts [3, 0] and sizes [3, 3]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.slice %x from [3, 0] sizes [3, 3] : (tensor<5x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// (C2): the sum of start and size must not wrap round.
func.func @slice(%x: tensor<5xf32>) {
  // expected-error@+2 {{expects a box inside 'tensor<5xf32>', got starts [4] and sizes [9223372036854775807]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.slice %x from [4] sizes [9223372036854775807] : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

// (C2)
func.func @slice(%x: tensor<5xf32>) {
  // expected-error@+2 {{expects a box inside 'tensor<5xf32>', got starts [-1] and sizes [2]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.slice %x from [-1] sizes [2] : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of concat: equal element types.
func.func @concat(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{expects equal element types, got 'f32' and 'f64'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.concat %x, %y along 0 : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

// (C2) of concat: the dimension exists.
func.func @concat(%x: tensor<2xf32>) {
  // expected-error@+2 {{expects a dimension in [0, 1), got -1}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.concat %x, %x along -1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) of concat: the other dimensions agree.
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+2 {{expects inputs that differ in dimension 1 only, got 'tensor<2x3xf32>' and 'tensor<3x3xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.concat %x, %y along 1 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concat() {
  // expected-error@+2 {{expects at least one input, got none}}
  // expected-error@+1 {{failed to infer}}
  %0 = "nn.concat"() {dim = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

// (C1) of split
func.func @split(%x: tensor<2x7xf32>) {
  // expected-error@+2 {{expects a dimension in [0, 2), got 2}}
  // expected-error@+1 {{failed to infer}}
  %a = nn.split %x along 2 sizes [7] : (tensor<2x7xf32>) -> tensor<2x7xf32>
  return
}

// -----

// (C2) of split
func.func @split(%x: tensor<?x7xf32>) {
  // expected-error@+2 {{expects a closed dimension to cut, got 'tensor<?x7xf32>'}}
  // expected-error@+1 {{failed to infer}}
  %a = nn.split %x along 0 sizes [2] : (tensor<?x7xf32>) -> tensor<2x7xf32>
  return
}

// -----

// (C3) of split: 3 + 3 < 7.
func.func @split(%x: tensor<2x7xf32>) {
  // expected-error@+2 {{expects sizes that sum to 7, got [3, 3]}}
  // expected-error@+1 {{failed to infer}}
  %a, %b = nn.split %x along 1 sizes [3, 3] : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

// (C3): 8 and -1 sum to 7, but are no parts.
func.func @split(%x: tensor<2x7xf32>) {
  // expected-error@+2 {{expects sizes that sum to 7, got [8, -1]}}
  // expected-error@+1 {{failed to infer}}
  %a, %b = nn.split %x along 1 sizes [8, -1] : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

// (C1) of pad
func.func @pad(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{expects a non-negative low and high for each of the 2 dimensions, got [0, -1] and [0, 0]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.pad %x low [0, -1] high [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// (C1) of iota
func.func @iota() {
  // expected-error@+1 {{'nn.iota' op expects a static shape, got 'tensor<?xi32>'}}
  %0 = nn.iota along 0 : tensor<?xi32>
  return
}

// -----

// (C2) of iota
func.func @iota() {
  // expected-error@+1 {{'nn.iota' op expects numbers, got 'tensor<2xi1>'}}
  %0 = nn.iota along 0 : tensor<2xi1>
  return
}

// -----

// (C3) of iota
func.func @iota() {
  // expected-error@+1 {{expects a dimension in [0, 1), got 1}}
  %0 = nn.iota along 1 : tensor<2xi32>
  return
}

// -----

// (C2) of slice: a start whose distance to the end wraps round.
func.func @slice(%x: tensor<5xf32>) {
  // expected-error@+2 {{expects a box inside 'tensor<5xf32>', got starts [-9223372036854775808] and sizes [-1]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.slice %x from [-9223372036854775808] sizes [-1] : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of broadcast: no other negative size means "open".
func.func @broadcast(%x: tensor<?xf32>) {
  // expected-error@+2 {{expects a shape to which 'tensor<?xf32>' broadcasts, got [-9223372036854775808]}}
  // expected-error@+1 {{failed to infer}}
  %0 = nn.broadcast %x to [-9223372036854775808] : (tensor<?xf32>) -> tensor<?xf32>
  return
}
