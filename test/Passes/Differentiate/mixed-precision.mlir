// RUN: zero-opt %s --nn-mixed-precision="type=bf16 keep-f32=ln.*,*.scale" --split-input-file | FileCheck %s
// RUN: zero-opt %s --nn-mixed-precision --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: zero-opt %s --nn-mixed-precision="type=bf16 keep-f32=ln.*,*.scale" --split-input-file \
// RUN:   | zero-opt --nn-mixed-precision=type=bf16 --split-input-file | FileCheck %s

// Weights take the type, a norm's kept ones stay f32 and meet 16-bit rows as they are; the batch is
// converted where it is used, a kept weight beside 16-bit values too; the loss is f32. f32 leaves
// the graph alone.

// CHECK: nn.param @fc.weight : tensor<4x6xbf16>
// CHECK: nn.param @ln.weight : tensor<6xf32>
// CHECK: nn.param @ln.bias : tensor<6xf32>
// CHECK: nn.param @out.scale : tensor<6xf32>
// CHECK: nn.param @count : tensor<6xf64>
// CHECK: func.func @loss(%[[X:.*]]: tensor<?x4xf32>, %[[LABELS:.*]]: tensor<?xi32>) -> tensor<f32>
// CHECK:   %[[X16:.*]] = nn.convert %[[X]] to bf16
// CHECK:   %[[Y:.*]] = nn.linear %[[X16]], %{{.*}} : (tensor<?x4xbf16>, tensor<4x6xbf16>) -> tensor<?x6xbf16>
// CHECK:   %[[N:.*]] = nn.layer_norm %[[Y]], {{.*}} : (tensor<?x6xbf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x6xbf16>
// CHECK:   %[[S:.*]] = nn.read @out.scale : tensor<6xf32>
// CHECK:   %[[S16:.*]] = nn.convert %[[S]] to bf16
// CHECK:   nn.mul %[[N]], %[[S16]] : (tensor<?x6xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
// CHECK:   nn.mul %{{.*}}, %[[S16]]
// CHECK:   %[[LOSS:.*]] = nn.cross_entropy %{{.*}}, %[[LABELS]] {{.*}} : (tensor<?x6xbf16>, tensor<?xi32>) -> tensor<f32>
// CHECK:   return %[[LOSS]] : tensor<f32>
// SAME-NOT: bf16
nn.param @fc.weight : tensor<4x6xf32> init normal(0.02)
nn.param @ln.weight : tensor<6xf32> init ones
nn.param @ln.bias : tensor<6xf32> init zeros
nn.param @out.scale : tensor<6xf32> init ones
nn.param @count : tensor<6xf64> init ones
func.func @loss(%x: tensor<?x4xf32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %w = nn.read @fc.weight : tensor<4x6xf32>
  %y = nn.linear %x, %w : (tensor<?x4xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
  %g = nn.read @ln.weight : tensor<6xf32>
  %b = nn.read @ln.bias : tensor<6xf32>
  %n = nn.layer_norm %y, %g, %b eps 1.0e-5 : (tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %s = nn.read @out.scale : tensor<6xf32>
  %m = nn.mul %n, %s : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %l = nn.mul %m, %s : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %loss = nn.cross_entropy %l, %labels ignoring -100 : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Scalars are formed in f32: what a sum reads is widened, not the sum. Constants stay f32 and are
// converted where they meet 16-bit values. The two calls of @half agree, the one of f32 has a
// function of its own.

// CHECK: func.func private @half(%{{.*}}: tensor<2x4xbf16>) -> tensor<2x4xbf16>
// CHECK:   %[[C:.*]] = nn.constant dense<1.000000e-01> : tensor<f32>
// CHECK:   %[[C16:.*]] = nn.convert %[[C]] to bf16
// CHECK:   nn.mul %{{.*}}, %[[C16]]
// CHECK: func.func private @[[HALF:half_0]](%{{.*}}: tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: func.func @loss
// CHECK:   %[[Y:.*]] = call @half(%{{.*}}) : (tensor<2x4xbf16>)
// CHECK:   %[[Z:.*]] = call @half(%[[Y]]) : (tensor<2x4xbf16>)
// CHECK:   %[[K:.*]] = call @half_0(%{{.*}}) : (tensor<2x4xf32>)
// CHECK:   %[[K16:.*]] = nn.convert %[[K]] to bf16
// CHECK:   %[[D:.*]] = nn.sub %[[Z]], %[[K16]]
// CHECK:   %[[WIDE:.*]] = nn.convert %[[D]] to f32 : tensor<2x4xbf16>
// CHECK:   %[[SUM:.*]] = nn.reduce_sum %[[WIDE]] over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
// CHECK:   %[[DOT:.*]] = nn.dot_general %[[D]], %[[D]] {{.*}} -> tensor<bf16>
// CHECK:   %[[DOT32:.*]] = nn.convert %[[DOT]] to f32
// CHECK:   %[[LOSS:.*]] = nn.add %[[SUM]], %[[DOT32]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK:   return %[[LOSS]]
nn.param @w : tensor<2x4xf32> init normal(0.02)
nn.param @ln.k : tensor<2x4xf32> init normal(0.02)
nn.param @v.scale : tensor<4xf32> init ones
func.func private @half(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = nn.constant dense<0.1> : tensor<f32>
  %y = nn.mul %x, %c : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
func.func @loss(%ids: tensor<2xi32>) -> tensor<f32> {
  %w = nn.read @w : tensor<2x4xf32>
  %y = func.call @half(%w) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = func.call @half(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %k = nn.read @ln.k : tensor<2x4xf32>
  %h = func.call @half(%k) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = nn.sub %z, %h : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = nn.reduce_sum %d over [0, 1] : (tensor<2x4xf32>) -> tensor<f32>
  %dot = nn.dot_general %d, %d contracting [0, 1] x [0, 1] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
  %loss = nn.add %sum, %dot : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An op whose operands share a type has one, wherever that is asked for.

// CHECK: %[[DY:.*]] = nn.read @ln.dy : tensor<4xf32>
// CHECK: %[[DY16:.*]] = nn.convert %[[DY]] to bf16
// CHECK: nn.gelu_grad tanh %[[DY16]], %{{.*}} : tensor<4xbf16>
nn.param @x : tensor<4xf32> init ones
nn.param @ln.dy : tensor<4xf32> init ones
nn.param @v.scale : tensor<4xf32> init ones
func.func @loss() -> tensor<f32> {
  %dy = nn.read @ln.dy : tensor<4xf32>
  %x = nn.read @x : tensor<4xf32>
  %g = nn.gelu_grad tanh %dy, %x : tensor<4xf32>
  %loss = nn.reduce_sum %g over [0] : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
