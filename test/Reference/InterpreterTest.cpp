//===- InterpreterTest.cpp - calls, launches, and what is refused ------------===//

#include "TestSupport.h"

using namespace mlir;

namespace zero::reference {
namespace {

using Interpreter = ReferenceTest;

// 2·(2·3) = 12: a private function called twice, and a kernel launched in it.
TEST_F(Interpreter, callsAndLaunches) {
  Parameters parameters;
  parameters["w"] = Array::floats({1}, {2.0});
  Results y = run(R"(
    nn.param @w : tensor<1xf32> init ones
    zero.kernel @scale(%x: tensor<1xf32>, %w: tensor<1xf32>) -> tensor<1xf32> kind generated {
      %y = nn.mul %x, %w : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      zero.yield %y : tensor<1xf32>
    }
    func.func private @block(%x: tensor<1xf32>) -> tensor<1xf32> {
      %w = nn.read @w : tensor<1xf32>
      %y = zero.launch @scale(%x, %w) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      return %y : tensor<1xf32>
    }
    func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
      %y = call @block(%x) : (tensor<1xf32>) -> tensor<1xf32>
      %z = call @block(%y) : (tensor<1xf32>) -> tensor<1xf32>
      return %z : tensor<1xf32>
    })",
                  {Array::floats({1}, {3.0})}, parameters);
  ASSERT_EQ(y.size(), 1u) << messages;
  expectNear(y[0], {1}, {12.0});
}

// nn.return gives the loss, then the gradients in their order.
TEST_F(Interpreter, jointGraph) {
  Parameters parameters;
  parameters["w"] = Array::floats({2}, {2.0, 3.0});
  Results y = run(R"(
    nn.param @w : tensor<2xf32> init ones
    func.func @f(%seed: tensor<f32>) {
      %w = nn.read @w : tensor<2xf32>
      %s = nn.reduce_sum %w over [0] : (tensor<2xf32>) -> tensor<f32>
      %l = nn.mul %s, %seed : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %g = nn.broadcast %seed to [2] : (tensor<f32>) -> tensor<2xf32>
      nn.return %l grads(%g of @w : tensor<2xf32>) : tensor<f32>
    })",
                  {Array::scalar(0.5)}, parameters);
  ASSERT_EQ(y.size(), 2u) << messages;
  expectNear(y[0], {}, {2.5});
  expectNear(y[1], {2}, {0.5, 0.5});
}

TEST_F(Interpreter, aRegistryMayKnowMore) {
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
      %y = "other.twice"(%x) : (tensor<1xf32>) -> tensor<1xf32>
      return %y : tensor<1xf32>
    })");
  auto function = module->lookupSymbol<func::FuncOp>("f");
  EXPECT_TRUE(failed(evaluate(function, {Array::floats({1}, {3.0})}, {})));
  EXPECT_EQ(messages, "expects an op that the reference interpreter knows, got 'other.twice'\n");

  Registry registry = Registry::standard();
  registry.add("other.twice", [](Operation *, Operands x) -> FailureOr<Results> {
    Results results;
    results.push_back(Array::floats(x[0]->shape, {2 * x[0]->f[0]}));
    return results;
  });
  FailureOr<Results> y = evaluate(function, {Array::floats({1}, {3.0})}, {}, registry);
  ASSERT_TRUE(succeeded(y));
  expectNear((*y)[0], {1}, {6.0});
}

TEST_F(Interpreter, refusesWrongArguments) {
  std::string text = "func.func @f(%x: tensor<?x2xf32>) { return }";
  run(text, {});
  EXPECT_EQ(messages, "expects 1 arguments, got 0\n");
  messages.clear();
  run(text, {Array::floats({2, 3}, std::vector<double>(6))});
  EXPECT_EQ(messages, "expects argument 0 to be 'tensor<?x2xf32>', got floats [2, 3]\n");
  messages.clear();
  run(text, {Array::integers({1, 2}, {0, 0})});
  EXPECT_EQ(messages, "expects argument 0 to be 'tensor<?x2xf32>', got integers [1, 2]\n");
}

TEST_F(Interpreter, refusesMissingParameters) {
  std::string text = R"(
    nn.param @w : tensor<2xf32> init ones
    func.func @f() -> tensor<2xf32> {
      %w = nn.read @w : tensor<2xf32>
      return %w : tensor<2xf32>
    })";
  run(text);
  EXPECT_EQ(messages, "expects a value for parameter 'w', got none\n");
  messages.clear();
  Parameters parameters;
  parameters["w"] = Array::floats({3}, {1, 2, 3});
  run(text, {}, parameters);
  EXPECT_EQ(messages, "expects a value of 'tensor<2xf32>' for parameter 'w', got [3]\n");
}

TEST_F(Interpreter, refusesIndicesOutOfRange) {
  std::string text = R"(
    func.func @f(%i: tensor<2xi32>, %t: tensor<3x1xf32>) -> tensor<2x1xf32> {
      %e = nn.embedding %i, %t : (tensor<2xi32>, tensor<3x1xf32>) -> tensor<2x1xf32>
      return %e : tensor<2x1xf32>
    })";
  Array table = Array::floats({3, 1}, {0, 1, 2});
  run(text, {Array::integers({2}, {0, 3}), table});
  EXPECT_EQ(messages, "'nn.embedding' op expects indices in [0, 3), got 3\n");
  messages.clear();
  run(text, {Array::integers({2}, {-1, 0}), table});
  EXPECT_EQ(messages, "'nn.embedding' op expects indices in [0, 3), got -1\n");
}

TEST_F(Interpreter, refusesRecursion) {
  run("func.func @f() { call @f() : () -> ()\n return }");
  EXPECT_EQ(messages, "expects a graph without recursion\n");
}

TEST_F(Interpreter, refusesFunctionsWithoutBody) {
  run("func.func private @g()\n func.func @f() { call @g() : () -> ()\n return }");
  EXPECT_EQ(messages, "expects a body of one block\n");
}

TEST_F(Interpreter, refusesFloatsThatNoIntegerHolds) {
  run(R"(
    func.func @f(%x: tensor<1xf32>) -> tensor<1xi32> {
      %y = nn.convert %x to i32 : tensor<1xf32>
      return %y : tensor<1xi32>
    })",
      {Array::floats({1}, {3e9})});
  EXPECT_EQ(messages, "'nn.convert' op expects values that fit in 'i32', got 3.000000e+09\n");
}

} // namespace
} // namespace zero::reference
