// RUN: zero-opt %s | zero-opt | FileCheck %s

// The documented example of each op of Loss.td.

// CHECK-LABEL: @loss
func.func @loss(%logits: tensor<2x3x5xf32>, %labels: tensor<2x3xi32>) {
  // CHECK: nn.cross_entropy %{{.*}}, %{{.*}} ignoring -100 : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> tensor<f32>
  %loss = nn.cross_entropy %logits, %labels ignoring -100 : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> tensor<f32>
  // CHECK: nn.count_labels %{{.*}} ignoring -100 : (tensor<2x3xi32>) -> tensor<i64>
  %n = nn.count_labels %labels ignoring -100 : (tensor<2x3xi32>) -> tensor<i64>
  return
}

// CHECK-LABEL: @with_grad
func.func @with_grad(%l: tensor<6x5xf32>, %labels: tensor<6xi32>, %seed: tensor<f32>) {
  // CHECK: nn.cross_entropy_with_grad %{{.*}}, %{{.*}}, %{{.*}} ignoring -100 : (tensor<6x5xf32>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
  %loss, %dl = nn.cross_entropy_with_grad %l, %labels, %seed ignoring -100
      : (tensor<6x5xf32>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
  return
}

// The loss of 16-bit logits is f32, and an open batch leaves a scalar.
// CHECK-LABEL: @half
func.func @half(%l: tensor<?x5xbf16>, %labels: tensor<?xi64>) {
  // CHECK: nn.cross_entropy {{.*}} -> tensor<f32>
  %loss = nn.cross_entropy %l, %labels ignoring 0 : (tensor<?x5xbf16>, tensor<?xi64>) -> tensor<f32>
  return
}
