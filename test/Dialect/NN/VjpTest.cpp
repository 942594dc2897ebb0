//===- VjpTest.cpp - what the products emit, and in which order -------------===//
//
// The numbers are judged against finite differences elsewhere. Here: that only
// wanted gradients are formed, in the stated order, of the operands' types.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace zero::nn;

namespace {

/// What a product made: the names of the ops that it emitted, and which gradients it set.
struct Product {
  std::string ops;
  std::vector<bool> given;
  std::string errors;
};

/// Differentiates the function's first op. Cotangents come in as new arguments; results named in
/// `silent` have none, and operands outside `wanted` (all floats, where empty) want no gradient.
Product differentiate(const std::string &arguments, const std::string &op,
                      std::vector<bool> wanted = {}, std::vector<unsigned> silent = {}) {
  Graph graph(arguments, op);
  Operation *first = graph.first();
  auto isFloat = [](Value value) {
    return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
  };
  SmallVector<Value> cotangents;
  for (OpResult result : first->getResults())
    cotangents.push_back(isFloat(result) && !llvm::is_contained(silent, result.getResultNumber())
                             ? graph.block().addArgument(result.getType(), result.getLoc())
                             : Value());
  SmallVector<bool> asked(wanted.begin(), wanted.end());
  if (wanted.empty())
    for (Value operand : first->getOperands())
      asked.push_back(isFloat(operand));

  OpBuilder builder(graph.block().getTerminator());
  SmallVector<Value> gradients;
  Product product;
  if (failed(cast<DifferentiableOpInterface>(first).vjp(builder, cotangents, asked, gradients))) {
    product.errors = graph.errors;
    return product;
  }
  for (Operation &emitted : graph.block().without_terminator())
    if (&emitted != first)
      product.ops += (product.ops.empty() ? "" : " ") + emitted.getName().stripDialect().str();
  EXPECT_EQ(gradients.size(), first->getNumOperands());
  for (auto [gradient, operand] : llvm::zip_equal(gradients, first->getOperands())) {
    product.given.push_back(static_cast<bool>(gradient));
    if (gradient)
      EXPECT_EQ(gradient.getType(), operand.getType());
  }
  graph.function().setFunctionType(
      FunctionType::get(&graph.context, graph.block().getArgumentTypes(), {}));
  EXPECT_TRUE(succeeded(verify(*graph.module))) << graph.errors;
  return product;
}

const std::string linearArguments = "%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>, %b: tensor<6xf32>";
const std::string linear = "%0 = nn.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<4x6xf32>, "
                           "tensor<6xf32>) -> tensor<2x3x6xf32>";

TEST(Vjp, LinearFormsBiasThenWeightThenInput) {
  EXPECT_EQ(differentiate(linearArguments, linear).ops, "reduce_sum dot_general dot_general");
  Product weight = differentiate(linearArguments, linear, {false, true, false});
  EXPECT_EQ(weight.ops, "dot_general");
  EXPECT_EQ(weight.given, (std::vector<bool>{false, true, false}));
}

TEST(Vjp, LinearOfOneRowTakesTheCotangentAsBiasGradient) {
  EXPECT_EQ(differentiate("%x: tensor<4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>",
                          "%0 = nn.linear %x, %w, %b transposed : (tensor<4xf32>, tensor<6x4xf32>, "
                          "tensor<6xf32>) -> tensor<6xf32>")
                .ops,
            "dot_general dot_general");
}

TEST(Vjp, NothingIsEmittedWhereNothingIsWantedOrFlows) {
  Product unwanted = differentiate(linearArguments, linear, {false, false, false});
  EXPECT_EQ(unwanted.ops, "");
  EXPECT_EQ(unwanted.given, (std::vector<bool>{false, false, false}));
  Product silent = differentiate(linearArguments, linear, {}, {0});
  EXPECT_EQ(silent.ops, "");
  EXPECT_EQ(silent.given, (std::vector<bool>{false, false, false}));
}

TEST(Vjp, ConvolutionMakesItsPatchesAgain) {
  const std::string arguments = "%x: tensor<2x4x4x3xf32>, %w: tensor<2x2x3x5xf32>";
  const std::string op = "%0 = nn.convolution %x, %w : (tensor<2x4x4x3xf32>, tensor<2x2x3x5xf32>) "
                         "-> tensor<2x3x3x5xf32>";
  EXPECT_EQ(differentiate(arguments, op, {false, true}).ops, "barrier patches reshape dot_general");
  EXPECT_EQ(differentiate(arguments, op, {true, false}).ops, "dot_general reshape patches_grad");
}

TEST(Vjp, ConvolutionOfSingleElementsIsAProduct) {
  EXPECT_EQ(differentiate("%x: tensor<2x4x4x3xf32>, %w: tensor<1x1x3x5xf32>",
                          "%0 = nn.convolution %x, %w : (tensor<2x4x4x3xf32>, "
                          "tensor<1x1x3x5xf32>) -> tensor<2x4x4x5xf32>")
                .ops,
            "reshape dot_general dot_general reshape");
}

TEST(Vjp, DotGeneralNeedsNoTransposeForMatricesAndBatches) {
  // A tied head, a plain product, and scores of attention.
  EXPECT_EQ(differentiate("%h: tensor<2x3x4xf32>, %w: tensor<5x4xf32>",
                          "%0 = nn.dot_general %h, %w contracting [2] x [1] : (tensor<2x3x4xf32>, "
                          "tensor<5x4xf32>) -> tensor<2x3x5xf32>")
                .ops,
            "dot_general dot_general");
  EXPECT_EQ(differentiate("%x: tensor<2x3xf32>, %y: tensor<3x4xf32>",
                          "%0 = nn.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, "
                          "tensor<3x4xf32>) -> tensor<2x4xf32>")
                .ops,
            "dot_general dot_general");
  EXPECT_EQ(differentiate("%q: tensor<5x2x3xf32>, %k: tensor<5x7x3xf32>",
                          "%0 = nn.dot_general %q, %k batch [0] x [0] contracting [2] x [2] : "
                          "(tensor<5x2x3xf32>, tensor<5x7x3xf32>) -> tensor<5x2x7xf32>")
                .ops,
            "dot_general dot_general");
}

TEST(Vjp, DotGeneralOfScatteredDimensionsIsTransposedBack) {
  EXPECT_EQ(
      differentiate("%x: tensor<2x5x3x7x4xf32>, %y: tensor<4x8x5x3x2xf32>",
                    "%0 = nn.dot_general %x, %y batch [1, 0] x [2, 4] contracting [4, 2] x [0, 3] "
                    ": (tensor<2x5x3x7x4xf32>, tensor<4x8x5x3x2xf32>) -> tensor<5x2x7x8xf32>")
          .ops,
      "dot_general transpose dot_general transpose");
}

TEST(Vjp, LayerNormFormsInputThenWeightThenBias) {
  const std::string arguments = "%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>";
  const std::string op = "%0 = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x4xf32>, "
                         "tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>";
  EXPECT_EQ(differentiate(arguments, op).ops,
            "layer_norm_grad_input layer_norm_grad_weight reduce_sum");
  // A frozen bias costs nothing.
  EXPECT_EQ(differentiate(arguments, op, {true, true, false}).ops,
            "layer_norm_grad_input layer_norm_grad_weight");
}

TEST(Vjp, RmsNormFormsInputThenWeight) {
  const std::string arguments = "%x: tensor<2x4xf32>, %w: tensor<4xf32>";
  const std::string op = "%0 = nn.rms_norm %x, %w eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> "
                         "tensor<2x4xf32>";
  EXPECT_EQ(differentiate(arguments, op).ops, "rms_norm_grad_input rms_norm_grad_weight");
  EXPECT_EQ(differentiate(arguments, op, {true, false}).ops, "rms_norm_grad_input");
}

TEST(Vjp, RotaryTurnsBack) {
  EXPECT_EQ(differentiate("%x: tensor<1x3x2x4xf32>",
                          "%0 = nn.rotary %x frequencies [1.0, 0.1] : tensor<1x3x2x4xf32>")
                .ops,
            "rotary");
}

TEST(Vjp, BroadcastOperandsSumTheirCotangents) {
  EXPECT_EQ(differentiate(
                "%x: tensor<4x1x3xf32>, %y: tensor<2x1xf32>",
                "%0 = nn.add %x, %y : (tensor<4x1x3xf32>, tensor<2x1xf32>) -> tensor<4x2x3xf32>")
                .ops,
            "reduce_sum reshape reduce_sum reshape");
  EXPECT_EQ(
      differentiate("%x: tensor<4x3xf32>, %y: tensor<3xf32>",
                    "%0 = nn.add %x, %y : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>")
          .ops,
      "reduce_sum");
}

TEST(Vjp, UnaryOps) {
  auto unary = [](const std::string &op) {
    return differentiate("%x: tensor<2x3xf32>", "%0 = nn." + op + " %x : tensor<2x3xf32>").ops;
  };
  EXPECT_EQ(unary("neg"), "neg");
  EXPECT_EQ(unary("abs"), "constant compare compare neg select select");
  EXPECT_EQ(unary("exp"), "mul");
  EXPECT_EQ(unary("log"), "div");
  EXPECT_EQ(unary("sqrt"), "constant mul div");
  EXPECT_EQ(unary("rsqrt"), "mul mul constant mul mul");
  EXPECT_EQ(unary("tanh"), "mul constant sub mul");
  EXPECT_EQ(unary("erf"), "mul neg exp constant mul mul");
  EXPECT_EQ(unary("sigmoid"), "constant sub mul mul");
  EXPECT_EQ(unary("relu"), "constant compare select");
  EXPECT_EQ(unary("silu"), "silu_grad");
  EXPECT_EQ(unary("gelu tanh"), "gelu_grad");
  EXPECT_EQ(unary("softmax"), "softmax_grad");
}

TEST(Vjp, BinaryOpsAndSelect) {
  auto binary = [](const std::string &op, std::vector<bool> wanted) {
    return differentiate("%x: tensor<3xf32>, %y: tensor<3xf32>",
                         "%0 = nn." + op +
                             " %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>",
                         wanted)
        .ops;
  };
  EXPECT_EQ(binary("add", {true, true}), "");
  EXPECT_EQ(binary("sub", {true, true}), "neg");
  EXPECT_EQ(binary("mul", {true, false}), "mul");
  EXPECT_EQ(binary("div", {true, false}), "div");
  EXPECT_EQ(binary("div", {false, true}), "div mul neg");
  EXPECT_EQ(binary("max", {true, false}), "constant constant mul compare select compare select");
  EXPECT_EQ(binary("min", {true, true}),
            "constant constant mul compare select compare select compare select");
  Product select = differentiate("%m: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<f32>",
                                 "%0 = nn.select %m, %x, %y : (tensor<3xi1>, tensor<3xf32>, "
                                 "tensor<f32>) -> tensor<3xf32>");
  EXPECT_EQ(select.ops, "constant select select reduce_sum");
  EXPECT_EQ(select.given, (std::vector<bool>{false, true, true}));
}

TEST(Vjp, NoGradientFlowsThroughIntegers) {
  Product toInteger =
      differentiate("%x: tensor<3xf32>", "%0 = nn.convert %x to i32 : tensor<3xf32>");
  EXPECT_EQ(toInteger.given, (std::vector<bool>{false}));
  Product fromInteger =
      differentiate("%x: tensor<3xi32>", "%0 = nn.convert %x to f32 : tensor<3xi32>", {true});
  EXPECT_EQ(fromInteger.given, (std::vector<bool>{false}));
  EXPECT_EQ(differentiate("%x: tensor<3xbf16>", "%0 = nn.convert %x to f32 : tensor<3xbf16>").ops,
            "convert");
}

TEST(Vjp, Reductions) {
  EXPECT_EQ(
      differentiate("%x: tensor<4x2x3xf32>",
                    "%0 = nn.reduce_sum %x over [0, 2] : (tensor<4x2x3xf32>) -> tensor<2xf32>")
          .ops,
      "reshape broadcast");
  EXPECT_EQ(differentiate("%x: tensor<4x2xf32>",
                          "%0 = nn.reduce_mean %x over [0] : (tensor<4x2xf32>) -> tensor<2xf32>")
                .ops,
            "constant div reshape broadcast");
  // In bf16 the share is formed in f32: 70000 elements are beyond f16 and inexact in bf16.
  EXPECT_EQ(
      differentiate("%x: tensor<70000x2xbf16>",
                    "%0 = nn.reduce_mean %x over [0] : (tensor<70000x2xbf16>) -> tensor<2xbf16>")
          .ops,
      "convert constant div convert reshape broadcast");
  EXPECT_EQ(
      differentiate("%x: tensor<4x2xf32>",
                    "%0 = nn.reduce_max %x over [1] keep : (tensor<4x2xf32>) -> tensor<4x1xf32>")
          .ops,
      "compare convert reduce_sum div mul");
}

TEST(Vjp, MovementsMoveBack) {
  EXPECT_EQ(differentiate("%x: tensor<2x6xf32>",
                          "%0 = nn.reshape %x to [3, 4] : (tensor<2x6xf32>) -> tensor<3x4xf32>")
                .ops,
            "reshape");
  EXPECT_EQ(
      differentiate("%x: tensor<4x2x3xf32>",
                    "%0 = nn.transpose %x by [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>")
          .ops,
      "transpose");
  EXPECT_EQ(
      differentiate("%x: tensor<4x1xf32>",
                    "%0 = nn.broadcast %x to [3, 4, 2] : (tensor<4x1xf32>) -> tensor<3x4x2xf32>")
          .ops,
      "reduce_sum reshape");
  EXPECT_EQ(differentiate(
                "%x: tensor<4x3xf32>",
                "%0 = nn.slice %x from [1, 0] sizes [2, -1] : (tensor<4x3xf32>) -> tensor<2x3xf32>")
                .ops,
            "pad");
  EXPECT_EQ(
      differentiate("%x: tensor<4x2xf32>",
                    "%0 = nn.pad %x low [1, 0] high [2, 1] : (tensor<4x2xf32>) -> tensor<7x3xf32>")
          .ops,
      "slice");
  Product concat = differentiate(
      "%x: tensor<2xf32>, %y: tensor<3xf32>",
      "%0 = nn.concat %x, %y along 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>",
      {false, true});
  EXPECT_EQ(concat.ops, "slice");
  EXPECT_EQ(concat.given, (std::vector<bool>{false, true}));
}

TEST(Vjp, APartOfASplitThatNothingUsesCountsAsZeros) {
  const std::string op =
      "%0:2 = nn.split %x along 0 sizes [2, 3] : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)";
  EXPECT_EQ(differentiate("%x: tensor<5xf32>", op).ops, "concat");
  EXPECT_EQ(differentiate("%x: tensor<5xf32>", op, {}, {0}).ops, "constant concat");
}

TEST(Vjp, ReadingByIndexAddsByIndex) {
  EXPECT_EQ(
      differentiate(
          "%i: tensor<4x2xi32>, %t: tensor<5x3xf32>",
          "%0 = nn.embedding %i, %t : (tensor<4x2xi32>, tensor<5x3xf32>) -> tensor<4x2x3xf32>")
          .ops,
      "scatter_add");
  EXPECT_EQ(differentiate("%i: tensor<4x2xi32>, %t: tensor<5x3xf32>",
                          "%0 = nn.embedding %i, %t padding 3 : (tensor<4x2xi32>, tensor<5x3xf32>) "
                          "-> tensor<4x2x3xf32>")
                .ops,
            "constant compare reshape constant select scatter_add");
  EXPECT_EQ(
      differentiate(
          "%x: tensor<5x3xf32>, %i: tensor<4xi32>",
          "%0 = nn.gather %x, %i along 0 : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>")
          .ops,
      "scatter_add");
  EXPECT_EQ(differentiate("%x: tensor<2x5x3xf32>, %i: tensor<4x6xi32>",
                          "%0 = nn.gather %x, %i along 1 : (tensor<2x5x3xf32>, tensor<4x6xi32>) -> "
                          "tensor<2x4x6x3xf32>")
                .ops,
            "transpose reshape scatter_add reshape transpose");
}

const std::string attention =
    "%0:2 = nn.attention %q, %k, %k scale 0.5 : (tensor<2x5x6x4xf32>, tensor<2x7x2x4xf32>, "
    "tensor<2x7x2x4xf32>) -> (tensor<2x5x6x4xf32>, tensor<2x6x5xf32>)";
const std::string attentionArguments = "%q: tensor<2x5x6x4xf32>, %k: tensor<2x7x2x4xf32>";

TEST(Vjp, AttentionHasOneOpForItsGradients) {
  Product product = differentiate(attentionArguments, attention, {true, false, true}, {1});
  EXPECT_EQ(product.ops, "attention_grad");
  EXPECT_EQ(product.given, (std::vector<bool>{true, false, true}));
}

TEST(Vjp, AttentionRefusesALossThatDependsOnItsLogSums) {
  Product product = differentiate(attentionArguments, attention);
  EXPECT_NE(product.errors.find("expects its second result to be used by gradients only"),
            std::string::npos)
      << product.errors;
}

TEST(Vjp, CrossEntropyInsideAGraphDividesByItsOwnLabels) {
  Product product = differentiate("%x: tensor<6x5xbf16>, %l: tensor<6xi64>",
                                  "%0 = nn.cross_entropy %x, %l ignoring -100 : (tensor<6x5xbf16>, "
                                  "tensor<6xi64>) -> tensor<f32>");
  EXPECT_EQ(product.ops,
            "constant compare convert reduce_sum constant max div cross_entropy_with_grad");
  EXPECT_EQ(product.given, (std::vector<bool>{true, false}));
}

TEST(Vjp, RefusesOpenShapes) {
  Product product = differentiate("%x: tensor<?x3xf32>", "%0 = nn.neg %x : tensor<?x3xf32>");
  EXPECT_NE(
      product.errors.find(
          "'nn.neg' op expects closed shapes where it is differentiated, got 'tensor<?x3xf32>'"),
      std::string::npos)
      << product.errors;
}

} // namespace
