//===- ValuesTest.cpp - the reference against values worked by hand ----------===//
//
// The judge itself is judged here: finite differences only show that a gradient belongs
// to its function, not that the function is the right one.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

using Values = ReferenceTest;

TEST_F(Values, everyOpHasAFunction) {
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef op = name.getStringRef();
    if (name.getDialectNamespace() != "nn" || op == "nn.param" || op == "nn.read" ||
        op == "nn.return")
      continue;
    EXPECT_TRUE(Registry::standard().find(op)) << op.str();
  }
}

// gelu(1): erf Φ(1) = 0.841344746068543; tanh 1/2·(1 + tanh(0.7978845608·1.044715)) =
// 0.841191990608. silu(1) = 1/(1 + e^-1) = 0.731058578630; silu'(1) = s·(1 + 1 − s) =
// 0.927670511871.
TEST_F(Values, activations) {
  Results y = run(R"(
    func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %a = nn.gelu erf %x : tensor<2xf32>
      %b = nn.gelu tanh %x : tensor<2xf32>
      %c = nn.silu %x : tensor<2xf32>
      %d = nn.silu_grad %x, %x : tensor<2xf32>
      return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })",
                  {Array::floats({2}, {1.0, 0.0})});
  ASSERT_EQ(y.size(), 4u) << messages;
  expectNear(y[0], {2}, {0.841344746068543, 0.0});
  expectNear(y[1], {2}, {0.841191990608276, 0.0});
  expectNear(y[2], {2}, {0.731058578630005, 0.0});
  expectNear(y[3], {2}, {0.927670511871487, 0.0});
}

// [[1, 2], [3, 4]] ⊗ [[10], [20]]: rows meet 10 and 20.
TEST_F(Values, broadcastingAndComparison) {
  Results y = run(R"(
    func.func @f(%x: tensor<2x2xf32>, %c: tensor<2x1xf32>) -> (tensor<2x2xf32>, tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) {
      %a = nn.sub %c, %x : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %m = nn.compare gt %x, %c : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xi1>
      %s = nn.select %m, %x, %c : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
      %b = nn.convert %m to f32 : tensor<2x2xi1>
      return %a, %m, %s, %b : tensor<2x2xf32>, tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>
    })",
                  {Array::floats({2, 2}, {1, 30, 3, 4}), Array::floats({2, 1}, {10, 20})});
  ASSERT_EQ(y.size(), 4u) << messages;
  expectNear(y[0], {2, 2}, {9, -20, 17, 16});
  EXPECT_EQ(y[1].i, (std::vector<int64_t>{0, 1, 0, 0}));
  expectNear(y[2], {2, 2}, {10, 30, 20, 20});
  expectNear(y[3], {2, 2}, {0, 1, 0, 0});
}

// x = [[0, 1, 2], [3, 4, 5]]
TEST_F(Values, shapes) {
  Results y = run(R"(
    func.func @f(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x1xf32>, tensor<2x5xf32>, tensor<3x5xf32>, tensor<2x3xi32>) {
      %t = nn.transpose %x by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %a, %b = nn.split %x along 1 sizes [2, 1] : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>)
      %c = nn.concat %x, %a along 1 : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
      %p = nn.pad %x low [1, 0] high [0, 2] : (tensor<2x3xf32>) -> tensor<3x5xf32>
      %i = nn.iota along 1 : tensor<2x3xi32>
      return %t, %b, %c, %p, %i : tensor<3x2xf32>, tensor<2x1xf32>, tensor<2x5xf32>, tensor<3x5xf32>, tensor<2x3xi32>
    })",
                  {Array::floats({2, 3}, {0, 1, 2, 3, 4, 5})});
  ASSERT_EQ(y.size(), 5u) << messages;
  expectNear(y[0], {3, 2}, {0, 3, 1, 4, 2, 5});
  expectNear(y[1], {2, 1}, {2, 5});
  expectNear(y[2], {2, 5}, {0, 1, 2, 0, 1, 3, 4, 5, 3, 4});
  expectNear(y[3], {3, 5}, {0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 5, 0, 0});
  EXPECT_EQ(y[4].i, (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
}

// The open dimension takes its size from the argument.
TEST_F(Values, openBatch) {
  Results y = run(R"(
    func.func @f(%x: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x1xf32>) {
      %r = nn.reshape %x to [-1] : (tensor<?x2xf32>) -> tensor<?xf32>
      %s = nn.slice %x from [0, 1] sizes [-1, 1] : (tensor<?x2xf32>) -> tensor<?x1xf32>
      return %r, %s : tensor<?xf32>, tensor<?x1xf32>
    })",
                  {Array::floats({3, 2}, {0, 1, 2, 3, 4, 5})});
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {6}, {0, 1, 2, 3, 4, 5});
  expectNear(y[1], {3, 1}, {1, 3, 5});
}

TEST_F(Values, reductions) {
  Results y = run(R"(
    func.func @f(%x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x1xf32>, tensor<f32>) {
      %s = nn.reduce_sum %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>
      %m = nn.reduce_mean %x over [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
      %l = nn.reduce_max %x over [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
      return %s, %m, %l : tensor<3xf32>, tensor<2x1xf32>, tensor<f32>
    })",
                  {Array::floats({2, 3}, {0, -1, 2, -3, 4, -5})});
  ASSERT_EQ(y.size(), 3u) << messages;
  expectNear(y[0], {3}, {-3, 3, -3});
  expectNear(y[1], {2, 1}, {1.0 / 3.0, -4.0 / 3.0});
  expectNear(y[2], {}, {4});
}

// [1 2] · [[1 2 3], [4 5 6]] = [9 12 15]; the bias adds 1, 0, -1. Stored transposed, the same.
// Batched: each of two [1, 2] by [2, 1] products, 1·5 + 2·6 = 17 and 3·7 + 4·8 = 53.
TEST_F(Values, products) {
  Results y = run(R"(
    func.func @f(%x: tensor<1x2xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf32>, %p: tensor<2x2xf32>, %q: tensor<2x2xf32>)
        -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<2xf32>) {
      %y = nn.linear %x, %w, %b : (tensor<1x2xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
      %wt = nn.transpose %w by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %z = nn.linear %x, %wt, %b transposed : (tensor<1x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<1x3xf32>
      %d = nn.dot_general %p, %q batch [0] x [0] contracting [1] x [1] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
      return %y, %z, %d : tensor<1x3xf32>, tensor<1x3xf32>, tensor<2xf32>
    })",
                  {Array::floats({1, 2}, {1, 2}), Array::floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                   Array::floats({3}, {1, 0, -1}), Array::floats({2, 2}, {1, 2, 3, 4}),
                   Array::floats({2, 2}, {5, 6, 7, 8})});
  ASSERT_EQ(y.size(), 3u) << messages;
  expectNear(y[0], {1, 3}, {10, 12, 14});
  expectNear(y[1], {1, 3}, {10, 12, 14});
  expectNear(y[2], {2}, {17, 53});
}

// The image [[1, 2, 3], [4, 5, 6]] under a window of 2 by 2 with a column of zeros on the left: the
// windows hold [0 1 0 4], [1 2 4 5], [2 3 5 6]. The weights [1 10 100 1000] make 10 + 4000,
// 1 + 20 + 400 + 5000 and 2 + 30 + 500 + 6000. Maxima 4, 5, 6; means 5/4, 12/4, 16/4.
TEST_F(Values, windows) {
  Results y = run(R"(
    func.func @f(%x: tensor<1x2x3x1xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<1x1x3x1xf32>, tensor<1x1x3x2x2xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>) {
      %c = nn.convolution %x, %w padding [0, 0, 1, 0] : (tensor<1x2x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x1x3x1xf32>
      %p = nn.patches %x window [2, 2] padding [0, 0, 1, 0] : (tensor<1x2x3x1xf32>) -> tensor<1x1x3x2x2xf32>
      %m = nn.max_pool %x window [2, 2] padding [0, 0, 1, 0] : (tensor<1x2x3x1xf32>) -> tensor<1x1x3x1xf32>
      %a = nn.avg_pool %x window [2, 2] padding [0, 0, 1, 0] : (tensor<1x2x3x1xf32>) -> tensor<1x1x3x1xf32>
      return %c, %p, %m, %a : tensor<1x1x3x1xf32>, tensor<1x1x3x2x2xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>
    })",
                  {Array::floats({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}),
                   Array::floats({2, 2, 1, 1}, {1, 10, 100, 1000})});
  ASSERT_EQ(y.size(), 4u) << messages;
  expectNear(y[0], {1, 1, 3, 1}, {4010, 5421, 6532});
  expectNear(y[1], {1, 1, 3, 2, 2}, {0, 1, 0, 4, 1, 2, 4, 5, 2, 3, 5, 6});
  expectNear(y[2], {1, 1, 3, 1}, {4, 5, 6});
  expectNear(y[3], {1, 1, 3, 1}, {1.25, 3, 4});
}

// The rows 7 3 7 and 7 7 2 under windows of 1 by 2: maxima 7 7 and 7 7. Of equal elements the first
// takes the cotangent: in row 0 the 7s of windows 0 and 1; in row 1 the first 7 of both windows.
TEST_F(Values, theFirstMaximumTakesTheCotangent) {
  Results y = run(
      R"(
    func.func @f(%x: tensor<1x2x3x1xf32>, %dy: tensor<1x2x2x1xf32>) -> tensor<1x2x3x1xf32> {
      %m = nn.max_pool %x window [1, 2] : (tensor<1x2x3x1xf32>) -> tensor<1x2x2x1xf32>
      %dx = nn.max_pool_grad %x, %m, %dy window [1, 2] : (tensor<1x2x3x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x3x1xf32>
      return %dx : tensor<1x2x3x1xf32>
    })",
      {Array::floats({1, 2, 3, 1}, {7, 3, 7, 7, 7, 2}), Array::floats({1, 2, 2, 1}, {1, 2, 3, 4})});
  ASSERT_EQ(y.size(), 1u) << messages;
  expectNear(y[0], {1, 2, 3, 1}, {1, 0, 2, 3, 4, 0});
}

// Row 1 of the table is hit twice by the scatter.
TEST_F(Values, rowsByIndex) {
  Results y = run(R"(
    func.func @f(%i: tensor<3xi32>, %t: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x3xf32>, tensor<4x2xf32>) {
      %e = nn.embedding %i, %t : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %j = nn.constant dense<[1, 0, 1]> : tensor<3xi32>
      %g = nn.gather %t, %j along 1 : (tensor<3x2xf32>, tensor<3xi32>) -> tensor<3x3xf32>
      %s = nn.scatter_add %i, %t into 4 rows : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
      return %e, %g, %s : tensor<3x2xf32>, tensor<3x3xf32>, tensor<4x2xf32>
    })",
                  {Array::integers({3}, {1, 2, 1}), Array::floats({3, 2}, {0, 1, 2, 3, 4, 5})});
  ASSERT_EQ(y.size(), 3u) << messages;
  expectNear(y[0], {3, 2}, {2, 3, 4, 5, 2, 3});
  expectNear(y[1], {3, 3}, {1, 0, 1, 3, 2, 3, 5, 4, 5});
  expectNear(y[2], {4, 2}, {0, 0, 0 + 4, 1 + 5, 2, 3, 0, 0});
}

// Row [1, 3]: mean 2, variance 1; with eps 3 the scale is 1/2: ∓1/2, times 2, plus 10.
// softmax [0, ln 3] = [1/4, 3/4].
TEST_F(Values, norms) {
  Results y = run(R"(
    func.func @f(%x: tensor<1x2xf32>, %w: tensor<2xf32>, %b: tensor<2xf32>, %l: tensor<2xf32>) -> (tensor<1x2xf32>, tensor<2xf32>) {
      %n = nn.layer_norm %x, %w, %b eps 3.0 : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
      %s = nn.softmax %l : tensor<2xf32>
      return %n, %s : tensor<1x2xf32>, tensor<2xf32>
    })",
                  {Array::floats({1, 2}, {1, 3}), Array::floats({2}, {2, 2}),
                   Array::floats({2}, {10, 10}), Array::floats({2}, {0, std::log(3.0)})});
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {1, 2}, {9, 11});
  expectNear(y[1], {2}, {0.25, 0.75});
}

// The row [1, 7] has a mean square of 25, so with eps 0+ it becomes [1/5, 7/5], and times [10, 5]
// [2, 7]. A quarter turn a position takes the pair (1, 2) at position 1 to (−2, 1); inverse, and
// doubled, to (4, −2). At position 0 nothing moves.
TEST_F(Values, rmsNormAndRotary) {
  Results y = run(R"(
    func.func @f(%x: tensor<1x2xf32>, %w: tensor<2xf32>, %h: tensor<1x2x1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) {
      %n = nn.rms_norm %x, %w eps 1.0e-30 : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
      %r = nn.rotary %h frequencies [1.5707963267948966] : tensor<1x2x1x2xf32>
      %i = nn.rotary %h frequencies [1.5707963267948966] factor 2.0 inverse : tensor<1x2x1x2xf32>
      return %n, %r, %i : tensor<1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>
    })",
                  {Array::floats({1, 2}, {1, 7}), Array::floats({2}, {10, 5}),
                   Array::floats({1, 2, 1, 2}, {3, 4, 1, 2})});
  ASSERT_EQ(y.size(), 3u) << messages;
  expectNear(y[0], {1, 2}, {2, 7});
  expectNear(y[1], {1, 2, 1, 2}, {3, 4, -2, 1});
  expectNear(y[2], {1, 2, 1, 2}, {6, 8, 4, -2});
}

// One head of depth 1, q = 1 everywhere, k = [0, ln 3], v = [8, 16]. The first query sees one key:
// 8 and log-sum 0. The second weighs 1/4 and 3/4: 14, log-sum ln 4. Without the mask both do so.
TEST_F(Values, attention) {
  Array q = Array::floats({1, 2, 1, 1}, {1, 1}), v = Array::floats({1, 2, 1, 1}, {8, 16});
  Array k = Array::floats({1, 2, 1, 1}, {0, std::log(3.0)});
  std::string text = R"(
    func.func @f(%q: tensor<1x2x1x1xf32>, %k: tensor<1x2x1x1xf32>, %v: tensor<1x2x1x1xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x1x2xf32>) {
      %o, %l = nn.attention %q, %k, %v scale 1.0 CAUSAL
          : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x1x2xf32>)
      return %o, %l : tensor<1x2x1x1xf32>, tensor<1x1x2xf32>
    })";
  std::string causal = text, full = text;
  causal.replace(text.find("CAUSAL"), 6, "causal");
  full.replace(text.find("CAUSAL"), 6, "");
  Results y = run(causal, {q, k, v});
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {1, 2, 1, 1}, {8, 14});
  expectNear(y[1], {1, 1, 2}, {0, std::log(4.0)});
  Results z = run(full, {q, k, v});
  ASSERT_EQ(z.size(), 2u) << messages;
  expectNear(z[0], {1, 2, 1, 1}, {14, 14});
}

// Philox4x32-10 of counter 0 and key 0 is 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (Random123's
// kat_vectors): as parts of 2^32 0.399, 0.881, 0.736 and 0.606. At rate 0.625 the first and the
// last are dropped, and the others multiplied by 1/0.375 = 8/3, rounded to f32.
TEST_F(Values, dropout) {
  Results y = run(R"(
    func.func @f(%x: tensor<1x4xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
      %a = nn.dropout %x rate 0.625 keyed by %r samples 1 site 0 : tensor<1x4xf32>
      %b = nn.dropout %x rate 0.625 keyed by %r, %s samples 1 : tensor<1x4xf32>
      return %a, %b : tensor<1x4xf32>, tensor<1x4xf32>
    })",
                  {Array::floats({1, 4}, {1, 3, 6, 9}), Array::integers({4}, {0, 0, 0, 0}),
                   Array::integers({1}, {0})});
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {1, 4}, {0, 8, 16, 0}, 1e-6);
  expectNear(y[1], {1, 4}, {0, 8, 16, 0}, 1e-6);
}

// The head of `attention`, whose probability of query i and key j is element 2i + j: the words
// above. At rate 0.5 the first is dropped and the others are doubled. The first query sees one key,
// which is dropped: 0. The second gives 2 · (8/4 + 16 · 3/4) = 28. The log-sums know nothing of it.
TEST_F(Values, attentionDropout) {
  Results y =
      run(R"(
    func.func @f(%q: tensor<1x2x1x1xf32>, %k: tensor<1x2x1x1xf32>, %v: tensor<1x2x1x1xf32>, %r: tensor<4xi32>) -> (tensor<1x2x1x1xf32>, tensor<1x1x2xf32>) {
      %o, %l = nn.attention %q, %k, %v, %r scale 1.0 causal dropout 0.5 site 0
          : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<4xi32>) -> (tensor<1x2x1x1xf32>, tensor<1x1x2xf32>)
      return %o, %l : tensor<1x2x1x1xf32>, tensor<1x1x2xf32>
    })",
          {Array::floats({1, 2, 1, 1}, {1, 1}), Array::floats({1, 2, 1, 1}, {0, std::log(3.0)}),
           Array::floats({1, 2, 1, 1}, {8, 16}), Array::integers({4}, {0, 0, 0, 0})});
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {1, 2, 1, 1}, {0, 28});
  expectNear(y[1], {1, 1, 2}, {0, std::log(4.0)});
}

// Rows [0, ln 3] with labels 0 and ignored: -ln(1/4) = ln 4; seed 1/2 halves the loss, and the
// gradient is (softmax - onehot)/2 = [-3/8, 3/8], then zeros.
TEST_F(Values, crossEntropy) {
  Results y = run(R"(
    func.func @f(%l: tensor<2x2xf32>, %labels: tensor<2xi32>, %seed: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<2x2xf32>, tensor<i64>) {
      %m = nn.cross_entropy %l, %labels ignoring -7 : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<f32>
      %s, %d = nn.cross_entropy_with_grad %l, %labels, %seed ignoring -7 : (tensor<2x2xf32>, tensor<2xi32>, tensor<f32>) -> (tensor<f32>, tensor<2x2xf32>)
      %n = nn.count_labels %labels ignoring -7 : (tensor<2xi32>) -> tensor<i64>
      return %m, %s, %d, %n : tensor<f32>, tensor<f32>, tensor<2x2xf32>, tensor<i64>
    })",
                  {Array::floats({2, 2}, {0, std::log(3.0), 5, 6}), Array::integers({2}, {0, -7}),
                   Array::scalar(0.5)});
  ASSERT_EQ(y.size(), 4u) << messages;
  expectNear(y[0], {}, {std::log(4.0)});
  expectNear(y[1], {}, {std::log(4.0) / 2});
  expectNear(y[2], {2, 2}, {-0.375, 0.375, 0, 0});
  EXPECT_EQ(y[3].i, (std::vector<int64_t>{1}));
}

// (N2) Without any label the loss is 0.
TEST_F(Values, crossEntropyWithoutLabels) {
  Results y = run(R"(
    func.func @f(%l: tensor<1x2xf32>, %labels: tensor<1xi32>) -> tensor<f32> {
      %m = nn.cross_entropy %l, %labels ignoring -1 : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<f32>
      return %m : tensor<f32>
    })",
                  {Array::floats({1, 2}, {1, 2}), Array::integers({1}, {-1})});
  ASSERT_EQ(y.size(), 1u) << messages;
  expectNear(y[0], {}, {0});
}

} // namespace
} // namespace zero::reference
