// Optimizer steps against torch.optim's formulas, and Lion's, in f64.
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
  tableOf(set).updateElements(scalars, int64_t(grad.size()), p.floats(), g.data(), ElementType::f32,
                              m.floats(), v.floats(), nullptr, ElementType::f32);
  EXPECT_TRUE(p.guardsIntact() && m.guardsIntact() && v.guardsIntact());
  EXPECT_TRUE(sameBytes(g.values(), grad));
  return {p.values(), m.values(), v.values()};
}

TEST(Update, AdamWFirstStepByHand) {
  // g = 2·(1/2) = 1 by the loss scale. p = 1·(1 − 0.1·0.5) = 0.95; m̂ = v̂ = 1: p −= 0.1·1/(1 + ε).
  OptimizerDesc desc;
  desc.kind = OptimizerKind::AdamW;
  UpdateScalars scalars = makeUpdateScalars(desc, 0.1, 0, 0.0, 2.0, 0.5);
  for (InstructionSet set : instructionSets()) {
    State s = step(scalars, {{1.0f}, {0.0f}, {0.0f}}, {2.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 0.85, 1e-7);
    EXPECT_NEAR(s.moment1[0], 0.1, 1e-8);
    EXPECT_NEAR(s.moment2[0], 0.001, 1e-9);
  }
  // Not decayed: 1 − 0.1 = 0.9.
  scalars = makeUpdateScalars(desc, 0.1, 0, 0.0, 2.0, 0.0);
  EXPECT_NEAR(step(scalars, {{1.0f}, {0.0f}, {0.0f}}, {2.0f}, InstructionSet::Baseline, 0).param[0],
              0.9, 1e-7);
}

TEST(Update, SgdWithMomentumByHand) {
  // Decay 0.5 in the gradient: g = 1 + 0.5·2 = 2. First step: buffer 2, p = 2 − 0.1·2 = 1.8.
  // Second: g = 1 + 0.5·1.8 = 1.9, buffer 0.9·2 + 1.9 = 3.7, p = 1.8 − 0.37 = 1.43.
  OptimizerDesc desc;
  desc.kind = OptimizerKind::Sgd;
  desc.momentum = 0.9;
  for (InstructionSet set : instructionSets()) {
    // The first step must not read what the buffer held.
    State s =
        step(makeUpdateScalars(desc, 0.1, 0, 0, 1, 0.5), {{2.0f}, {NAN}, {0.0f}}, {1.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 1.8, 2e-7);
    s = step(makeUpdateScalars(desc, 0.1, 1, 0, 1, 0.5), s, {1.0f}, set, 0);
    EXPECT_NEAR(s.param[0], 1.43, 2e-7);
    EXPECT_NEAR(s.moment1[0], 3.7, 4e-7);
  }
}

TEST(Update, LionByHand) {
  // β1 = 0.5, β2 = 0.75, lr 0.25, decay 0.5: the factor is 1 − 0.125 = 0.875.
  // p 1, m 0, g 2: sign(1) = 1, p = 0.875 − 0.25 = 0.625, m = 0.25·2 = 0.5.
  // p 1, m 2, g −2: sign(0) = 0, p = 0.875, m = 1.5 − 0.5 = 1.
  // p 1, m 1, g −3: sign(−1), p = 0.875 + 0.25 = 1.125, m = 0.75 − 0.75 = 0.
  OptimizerDesc desc;
  desc.kind = OptimizerKind::Lion;
  desc.beta1 = 0.5;
  desc.beta2 = 0.75;
  for (InstructionSet set : instructionSets()) {
    // Its one moment only: nothing else is touched.
    Placed p({1, 1, 1}, 4), m({0, 2, 1}, 4), g({2, -2, -3}, 4);
    tableOf(set).updateElements(makeUpdateScalars(desc, 0.25, 7, 0, 1, 0.5), 3, p.floats(),
                                g.data(), ElementType::f32, m.floats(), nullptr, nullptr,
                                ElementType::f32);
    EXPECT_EQ(p.values(), (std::vector<float>{0.625f, 0.875f, 1.125f}));
    EXPECT_EQ(m.values(), (std::vector<float>{0.5f, 1.0f, 0.0f}));
    EXPECT_TRUE(p.guardsIntact() && m.guardsIntact());
  }
}

TEST(Update, MasterAndRoundedParameterByHand) {
  // Sgd: master 1 + 2^-7 less 1·2^-8 is 1 + 2^-8: in bf16, with steps of 2^-7, a tie to 1; master
  // 1 + 2^-8 + 2^-20 less 0 goes up to 1 + 2^-7. f16 holds both but for the 2^-20.
  OptimizerDesc desc;
  desc.kind = OptimizerKind::Sgd;
  const std::vector<float> master = {1.0f + 0x1p-7f, 1.0f + 0x1p-8f + 0x1p-20f};
  for (InstructionSet set : instructionSets())
    for (ElementType gradType : kTypes)
      for (auto [type, expected] :
           {std::pair{ElementType::bf16, std::vector<float>{1.0f, 1.0f + 0x1p-7f}},
            std::pair{ElementType::f16, std::vector<float>{1.0f + 0x1p-8f, 1.0f + 0x1p-8f}}}) {
        Placed p(master, 4), g({1, 0}, 2, gradType), r({9, 9}, 2, type);
        tableOf(set).updateElements(makeUpdateScalars(desc, 0x1p-8, 0, 0, 1, 0), 2, p.floats(),
                                    g.data(), gradType, nullptr, nullptr, r.data(), type);
        EXPECT_EQ(p.values(), (std::vector<float>{1.0f + 0x1p-8f, master[1]}));
        EXPECT_EQ(r.values(), expected);
        EXPECT_TRUE(p.guardsIntact() && r.guardsIntact());
      }
}

TEST(Update, ClippingScalesTheGradient) {
  // clip 1 at norm 4: 1 / (4 + 1e-6), over loss scale 8; at norm 0.5 nothing but the loss scale.
  OptimizerDesc desc;
  desc.clip = 1.0;
  EXPECT_EQ(makeUpdateScalars(desc, 0.1, 0, 4.0, 8.0, 0.0).gradScale, float(1.0 / 4.000001 / 8.0));
  EXPECT_EQ(makeUpdateScalars(desc, 0.1, 0, 0.5, 8.0, 0.0).gradScale, 0.125f);
}

TEST(Update, ManyStepsFollowTorchInF64) {
  std::mt19937 random(41);
  const size_t count = 37;
  for (OptimizerKind kind :
       {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Lion})
    for (InstructionSet set : instructionSets()) {
      OptimizerDesc desc;
      desc.kind = kind;
      desc.momentum = 0.9;
      desc.beta2 = 0.95;
      State s{randomFloats(count, random), std::vector<float>(count), std::vector<float>(count)};
      std::vector<double> p(s.param.begin(), s.param.end()), m(count), v(count);
      for (int64_t t = 1; t <= 20; ++t) {
        std::vector<float> grad = randomFloats(count, random);
        double lr = 0.01 * double(t);
        s = step(makeUpdateScalars(desc, lr, t - 1, 0, 1, 0.1), s, grad, set, 4);
        for (size_t i = 0; i < count; ++i) {
          double g = grad[i];
          if (kind == OptimizerKind::AdamW || kind == OptimizerKind::Lion)
            p[i] *= 1 - lr * 0.1;
          else
            g += 0.1 * p[i];
          if (kind == OptimizerKind::Sgd) {
            m[i] = t == 1 ? g : desc.momentum * m[i] + g;
            p[i] -= lr * m[i];
            continue;
          }
          if (kind == OptimizerKind::Lion) {
            double direction = desc.beta1 * m[i] + (1 - desc.beta1) * g;
            p[i] -= lr * (direction > 0 ? 1 : -1);
            m[i] = desc.beta2 * m[i] + (1 - desc.beta2) * g;
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
  UpdateScalars scalars = makeUpdateScalars(desc, 1e-3, 3, 0, 1, 0.1);
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

TEST(Update, SixteenBitsGiveWhatTheirFloatsGive) {
  // A gradient of 16 bits is its f32; the parameter is the rounded master, which itself has the
  // bits of an update without it; whatever the alignment.
  std::mt19937 random(43);
  OptimizerDesc desc;
  State s{randomFloats(61, random), randomFloats(61, random), {}};
  for (float x : randomFloats(61, random))
    s.moment2.push_back(x * x);
  for (OptimizerKind kind :
       {OptimizerKind::Sgd, OptimizerKind::Adam, OptimizerKind::AdamW, OptimizerKind::Lion})
    for (InstructionSet set : instructionSets())
      for (ElementType gradType : kTypes)
        for (ElementType type : {ElementType::bf16, ElementType::f16}) {
          desc.kind = kind;
          desc.momentum = 0.5;
          UpdateScalars scalars = makeUpdateScalars(desc, 1e-2, 3, 0, 4, 0.1);
          std::vector<float> grad = rounded(gradType, randomFloats(61, random));
          State expected = step(scalars, s, grad, set, 0);
          for (int64_t offset : kOffsets) {
            Placed p(s.param, offset), g(grad, offset, gradType), m(s.moment1, offset),
                v(s.moment2, offset), r(std::vector<float>(61), offset, type);
            tableOf(set).updateElements(scalars, 61, p.floats(), g.data(), gradType, m.floats(),
                                        v.floats(), r.data(), type);
            EXPECT_TRUE(sameBytes(p.values(), expected.param));
            EXPECT_TRUE(sameBytes(m.values(), expected.moment1));
            EXPECT_TRUE(sameBytes(v.values(), expected.moment2));
            EXPECT_TRUE(sameBytes(r.values(), rounded(type, expected.param)));
            EXPECT_TRUE(r.guardsIntact());
          }
        }
}

} // namespace
