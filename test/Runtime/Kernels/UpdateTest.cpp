// Optimizer steps against torch.optim's formulas in f64.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

struct State {
  std::vector<float> param, moment1, moment2;
};

State step(const UpdateScalars &scalars, const State &from, const std::vector<float> &grad,
           InstructionSet set, int64_t offset) {
  Placed p(from.param, offset), g(grad, offset), m(from.moment1, offset), v(from.moment2, offset);
  tableOf(set).updateElements(scalars, int64_t(grad.size()), p.data(), g.data(), m.data(),
                              v.data());
  EXPECT_TRUE(p.guardsIntact() && m.guardsIntact() && v.guardsIntact());
  EXPECT_TRUE(sameBytes(g.values(), grad));
  return {p.values(), m.values(), v.values()};
}

TEST(Update, AdamWFirstStepByHand) {
  // g = 2·(1/2) = 1 by the loss scale. p = 1·(1 − 0.1·0.5) = 0.95; m̂ = v̂ = 1: p −= 0.1·1/(1 + ε).
  OptimizerDesc desc;
  desc.kind = OptimizerKind::AdamW;
  desc.weightDecay = 0.5;
  UpdateScalars scalars = makeUpdateScalars(desc, 0.1, 0, 0.0, 2.0, true);
  for (InstructionSet set : instructionSets()) {
    State s = step(scalars, {{1.0f}, {0.0f}, {0.0f}}, {2.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 0.85, 1e-7);
    EXPECT_NEAR(s.moment1[0], 0.1, 1e-8);
    EXPECT_NEAR(s.moment2[0], 0.001, 1e-9);
  }
  // Not decayed: 1 − 0.1 = 0.9.
  scalars = makeUpdateScalars(desc, 0.1, 0, 0.0, 2.0, false);
  EXPECT_NEAR(step(scalars, {{1.0f}, {0.0f}, {0.0f}}, {2.0f}, InstructionSet::Baseline, 0).param[0],
              0.9, 1e-7);
}

TEST(Update, SgdWithMomentumByHand) {
  // Decay 0.5 in the gradient: g = 1 + 0.5·2 = 2. First step: buffer 2, p = 2 − 0.1·2 = 1.8.
  // Second: g = 1 + 0.5·1.8 = 1.9, buffer 0.9·2 + 1.9 = 3.7, p = 1.8 − 0.37 = 1.43.
  OptimizerDesc desc;
  desc.kind = OptimizerKind::Sgd;
  desc.momentum = 0.9;
  desc.weightDecay = 0.5;
  for (InstructionSet set : instructionSets()) {
    // The first step must not read what the buffer held.
    State s =
        step(makeUpdateScalars(desc, 0.1, 0, 0, 1, true), {{2.0f}, {NAN}, {0.0f}}, {1.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 1.8, 2e-7);
    s = step(makeUpdateScalars(desc, 0.1, 1, 0, 1, true), s, {1.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 1.43, 2e-7);
    EXPECT_NEAR(s.moment1[0], 3.7, 4e-7);
  }
}

TEST(Update, ClippingScalesTheGradient) {
  // clip 1 at norm 4: 1 / (4 + 1e-6), over loss scale 8; at norm 0.5 nothing but the loss scale.
  OptimizerDesc desc;
  desc.clip = 1.0;
  EXPECT_EQ(makeUpdateScalars(desc, 0.1, 0, 4.0, 8.0, true).gradScale, float(1.0 / 4.000001 / 8.0));
  EXPECT_EQ(makeUpdateScalars(desc, 0.1, 0, 0.5, 8.0, true).gradScale, 0.125f);
}

TEST(Update, ManyStepsFollowTorchInF64) {
  std::mt19937 random(41);
  const size_t count = 37;
  for (OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW})
    for (InstructionSet set : instructionSets()) {
      OptimizerDesc desc;
      desc.kind = kind;
      desc.weightDecay = 0.1;
      desc.momentum = 0.9;
      desc.beta2 = 0.95;
      State s{randomFloats(count, random), std::vector<float>(count), std::vector<float>(count)};
      std::vector<double> p(s.param.begin(), s.param.end()), m(count), v(count);
      for (int64_t t = 1; t <= 20; ++t) {
        std::vector<float> grad = randomFloats(count, random);
        double lr = 0.01 * double(t);
        s = step(makeUpdateScalars(desc, lr, t - 1, 0, 1, true), s, grad, set, 4);
        for (size_t i = 0; i < count; ++i) {
          double g = grad[i];
          if (kind == OptimizerKind::AdamW)
            p[i] *= 1 - lr * desc.weightDecay;
          else
            g += desc.weightDecay * p[i];
          if (kind == OptimizerKind::Sgd) {
            m[i] = t == 1 ? g : desc.momentum * m[i] + g;
            p[i] -= lr * m[i];
            continue;
          }
          m[i] = desc.beta1 * m[i] + (1 - desc.beta1) * g;
          v[i] = desc.beta2 * v[i] + (1 - desc.beta2) * g * g;
          double root = std::sqrt(v[i]) / std::sqrt(1 - std::pow(desc.beta2, double(t))) + desc.eps;
          p[i] -= lr / (1 - std::pow(desc.beta1, double(t))) * m[i] / root;
        }
      }
      for (size_t i = 0; i < count; ++i)
        ASSERT_NEAR(s.param[i], p[i], 3e-6 * (1 + std::abs(p[i])));
    }
}

TEST(Update, N0_BytesDependOnNeitherAlignmentNorCut) {
  std::mt19937 random(42);
  OptimizerDesc desc;
  desc.weightDecay = 0.1;
  UpdateScalars scalars = makeUpdateScalars(desc, 1e-3, 3, 0, 1, true);
  State s{randomFloats(61, random), randomFloats(61, random), {}};
  for (float x : randomFloats(61, random))
    s.moment2.push_back(x * x);
  std::vector<float> grad = randomFloats(61, random);
  for (InstructionSet set : instructionSets()) {
    State whole = step(scalars, s, grad, set, 0);
    for (int64_t offset : {4, 60})
      EXPECT_TRUE(sameBytes(whole.param, step(scalars, s, grad, set, offset).param));
    for (size_t cut = 0; cut <= 61; ++cut) {
      State head{{s.param.begin(), s.param.begin() + cut},
                 {s.moment1.begin(), s.moment1.begin() + cut},
                 {s.moment2.begin(), s.moment2.begin() + cut}};
      State tail{{s.param.begin() + cut, s.param.end()},
                 {s.moment1.begin() + cut, s.moment1.end()},
                 {s.moment2.begin() + cut, s.moment2.end()}};
      head = step(scalars, head, {grad.begin(), grad.begin() + cut}, set, 4);
      tail = step(scalars, tail, {grad.begin() + cut, grad.end()}, set, 60);
      head.param.insert(head.param.end(), tail.param.begin(), tail.param.end());
      EXPECT_TRUE(sameBytes(whole.param, head.param)) << cut;
    }
  }
}

} // namespace
