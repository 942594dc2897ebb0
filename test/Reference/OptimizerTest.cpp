//===- OptimizerTest.cpp - update rules worked by hand ------------------------===//
//
// The joint graph here has constant gradients: 3 on @w (rank 2, so it decays) and 4 on
// @b, whose two contributions are 1 and 3. The global norm is √(9 + 16) = 5.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "zero/Reference/ReferenceTrainer.h"

#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

constexpr StringRef kModule = R"(
  nn.param @w : tensor<1x1xf32> init ones
  nn.param @b : tensor<1xf32> init ones
  nn.param @idle : tensor<1x1xf32> init ones
  func.func @joint(%x: tensor<1xf32> {nn.name = "x"}, %seed: tensor<f32>) {
    %gw = nn.constant dense<3.0> : tensor<1x1xf32>
    %g1 = nn.constant dense<1.0> : tensor<1xf32>
    %g2 = nn.constant dense<3.0> : tensor<1xf32>
    %s = nn.reduce_sum %x over [0] : (tensor<1xf32>) -> tensor<f32>
    %l = nn.mul %s, %seed : (tensor<f32>, tensor<f32>) -> tensor<f32>
    nn.return %l grads(%g1 of @b : tensor<1xf32>, %gw of @w : tensor<1x1xf32>, %g2 of @b : tensor<1xf32>) : tensor<f32>
  })";

class OptimizerRules : public ReferenceTest {
protected:
  void start(const Optimizer &optimizer, double lr) {
    module = parse(kModule);
    Parameters parameters;
    parameters["w"] = Array::floats({1, 1}, {2.0});
    parameters["b"] = Array::floats({1}, {2.0});
    parameters["idle"] = Array::floats({1, 1}, {2.0});
    FailureOr<ReferenceTrainer> made =
        ReferenceTrainer::create(*module, parameters, optimizer, [lr](int64_t) { return lr; });
    ASSERT_TRUE(succeeded(made)) << messages;
    trainer.emplace(std::move(*made));
  }
  StepResult step(double x = 7.0) {
    FailureOr<StepResult> result = trainer->step({{Array::floats({1}, {x})}});
    EXPECT_TRUE(succeeded(result)) << messages;
    return succeeded(result) ? *result : StepResult();
  }
  double weight(StringRef name) { return trainer->parameters().lookup(name).f[0]; }

  OwningOpRef<ModuleOp> module;
  std::optional<ReferenceTrainer> trainer;
};

// The first Adam step moves by lr·g/(|g| + eps): bias correction makes both moments g and g².
// AdamW decays before: 2·(1 − 0.1·0.5) = 1.9, then −0.1·3/(3 + 1).
TEST_F(OptimizerRules, adamw) {
  start({.kind = OptimizerKind::AdamW, .beta1 = 0.9, .beta2 = 0.99, .eps = 1.0, .weightDecay = 0.5},
        0.1);
  StepResult result = step();
  EXPECT_DOUBLE_EQ(result.loss, 7.0);
  EXPECT_DOUBLE_EQ(result.gradNorm, 5.0);
  EXPECT_NEAR(weight("w"), 1.9 - 0.1 * 3.0 / 4.0, 1e-12);
  EXPECT_NEAR(weight("b"), 2.0 - 0.1 * 4.0 / 5.0, 1e-12); // rank 1: no decay
  EXPECT_EQ(weight("idle"), 2.0);                         // no gradient: no decay either
}

// Decay is part of the gradient: 3 + 0.5·2 = 4, and −0.1·4/(4 + 1).
TEST_F(OptimizerRules, adam) {
  start({.kind = OptimizerKind::Adam, .beta1 = 0.9, .beta2 = 0.99, .eps = 1.0, .weightDecay = 0.5},
        0.1);
  step();
  EXPECT_NEAR(weight("w"), 2.0 - 0.1 * 4.0 / 5.0, 1e-12);
  EXPECT_NEAR(weight("b"), 2.0 - 0.1 * 4.0 / 5.0, 1e-12);
}

// Equal gradients keep the corrected moments at g and g²: a second step moves as far.
TEST_F(OptimizerRules, biasCorrectionCountsSteps) {
  start({.kind = OptimizerKind::Adam, .beta1 = 0.9, .beta2 = 0.99, .eps = 1.0}, 0.1);
  step();
  step();
  EXPECT_EQ(trainer->stepsTaken(), 2);
  EXPECT_NEAR(weight("b"), 2.0 - 2 * 0.1 * 4.0 / 5.0, 1e-12);
}

// b: buffer 4, then 0.5·4 + 4 = 6. w: 3 + 0.5·2 = 4, to 1.6; then 0.5·4 + 3 + 0.8 = 5.8.
TEST_F(OptimizerRules, sgdWithMomentum) {
  start({.kind = OptimizerKind::Sgd, .momentum = 0.5, .weightDecay = 0.5}, 0.1);
  step();
  EXPECT_NEAR(weight("b"), 1.6, 1e-12);
  EXPECT_NEAR(weight("w"), 1.6, 1e-12);
  step();
  EXPECT_NEAR(weight("b"), 1.0, 1e-12);
  EXPECT_NEAR(weight("w"), 1.02, 1e-12);
}

// The sign alone moves a weight, behind the decay: 2·(1 − 0.1·0.5) − 0.1 = 1.8, then 1.8·0.95 −
// 0.1.
TEST_F(OptimizerRules, lion) {
  start({.kind = OptimizerKind::Lion, .beta1 = 0.9, .beta2 = 0.99, .weightDecay = 0.5}, 0.1);
  step();
  EXPECT_NEAR(weight("w"), 1.8, 1e-12);
  EXPECT_NEAR(weight("b"), 1.9, 1e-12); // rank 1: no decay
  step();
  EXPECT_NEAR(weight("w"), 1.61, 1e-12);
  EXPECT_NEAR(weight("b"), 1.8, 1e-12);
}

// b of rank 1 decays where its rule says so: 4 + 0.25·2 = 4.5, at half of the rate. w's rule has
// the decay of the rest, 3 + 0.5·2 = 4, at twice the rate.
TEST_F(OptimizerRules, rulesOfParameters) {
  Optimizer optimizer{.kind = OptimizerKind::Sgd, .weightDecay = 0.5};
  optimizer.rules["b"] = {0.5, 0.25};
  optimizer.rules["w"] = {2.0, std::nullopt};
  start(optimizer, 0.1);
  step();
  EXPECT_NEAR(weight("b"), 2.0 - 0.05 * 4.5, 1e-12);
  EXPECT_NEAR(weight("w"), 2.0 - 0.2 * 4.0, 1e-12);
}

// The norm 5 is brought to 2.5: gradients times 2.5/(5 + 1e-6).
TEST_F(OptimizerRules, clipping) {
  start({.kind = OptimizerKind::Sgd, .clip = 2.5}, 1.0);
  EXPECT_DOUBLE_EQ(step().gradNorm, 5.0);
  double factor = 2.5 / 5.000001;
  EXPECT_NEAR(weight("b"), 2.0 - 4.0 * factor, 1e-12);
  start({.kind = OptimizerKind::Sgd, .clip = 6.0}, 1.0);
  step();
  EXPECT_NEAR(weight("b"), -2.0, 1e-12);
}

// Two micro-steps: gradients add up, and a loss without labels is averaged, (7 + 9)/2.
TEST_F(OptimizerRules, microSteps) {
  start({.kind = OptimizerKind::Sgd}, 1.0);
  FailureOr<StepResult> result =
      trainer->step({{Array::floats({1}, {7.0})}, {Array::floats({1}, {9.0})}});
  ASSERT_TRUE(succeeded(result)) << messages;
  EXPECT_DOUBLE_EQ(result->loss, 8.0);
  EXPECT_NEAR(weight("b"), 2.0 - 8.0, 1e-12);
}

// (F1) A loss that is not finite ends the step before anything is written.
TEST_F(OptimizerRules, nonFiniteLoss) {
  start({.kind = OptimizerKind::Sgd}, 1.0);
  step();
  double kept = weight("b");
  EXPECT_TRUE(failed(trainer->step({{Array::floats({1}, {INFINITY})}})));
  EXPECT_EQ(messages, "step 1: expects a finite loss, got INF\n");
  EXPECT_EQ(weight("b"), kept);
  EXPECT_EQ(trainer->stepsTaken(), 1);
}

TEST_F(OptimizerRules, refusesWhatIsNoJointGraph) {
  auto create = [&](StringRef text, Parameters parameters = {}) {
    messages.clear();
    OwningOpRef<ModuleOp> other = parse(text);
    EXPECT_TRUE(failed(
        ReferenceTrainer::create(*other, std::move(parameters), {}, [](int64_t) { return 0.1; })));
    return messages;
  };
  EXPECT_EQ(create("func.func @loss() { return }"),
            "expects a function @joint, as nn-autodiff makes it, found none\n");
  EXPECT_EQ(create("func.func @joint(%x: tensor<f32>) { return }"),
            "expects a seed as last argument, and nn.return at the end\n");
  EXPECT_EQ(create(kModule), "expects an initial value, got none\n");
  Parameters parameters;
  for (const char *name : {"w", "b", "idle"})
    parameters[name] = Array::floats({1}, {2.0});
  EXPECT_EQ(create(kModule, parameters),
            "expects an initial value of 'tensor<1x1xf32>', got [1]\n");
}

} // namespace
} // namespace zero::reference
