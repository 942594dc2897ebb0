// GEMM against a plain f64 loop: shapes, strides, epilogues; and its bits in every circumstance.
#include "TestSupport.h"

#include <array>

using namespace zrt;
using namespace zrt::test;

namespace {

double activated(Activation activation, double x) {
  switch (activation) {
  case Activation::None:
    return x;
  case Activation::GeluTanh:
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Activation::GeluErf:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  case Activation::Relu:
    return x < 0 ? 0 : x;
  }
  return 0;
}

struct Case {
  GemmDesc desc;
  std::vector<float> a, b, bias, residual, c;
};

/// Of the operands, and of C.
struct Types {
  ElementType type = ElementType::f32, result = ElementType::f32;
};
const Types kAllTypes[] = {{},
                           {ElementType::bf16, ElementType::bf16},
                           {ElementType::bf16, ElementType::f32},
                           {ElementType::f16, ElementType::f16},
                           {ElementType::f16, ElementType::f32}};

/// `layout`: bit 0 A transposed, bit 1 B transposed, bit 2 rows longer than needed, bit 3 no stride
/// is 1.
Case makeCase(int64_t batch, int64_t m, int64_t n, int64_t k, int layout, bool bias, bool residual,
              Activation activation, std::mt19937 &random, Types types = {}) {
  Case made;
  GemmDesc &d = made.desc;
  d.type = types.type, d.resultType = types.result;
  d.batch = batch, d.m = m, d.n = n, d.k = k;
  int64_t slack = layout & 4 ? 3 : 0;
  int64_t apart = layout & 8 ? 2 : 1;
  d.aRow = apart * (layout & 1 ? 1 : k + slack);
  d.aCol = apart * (layout & 1 ? m + slack : 1);
  d.aBatch = layout & 1 ? k * d.aCol : m * d.aRow;
  d.bRow = apart * (layout & 2 ? 1 : n + slack);
  d.bCol = apart * (layout & 2 ? k + slack : 1);
  d.bBatch = layout & 2 ? n * d.bCol : k * d.bRow;
  d.cRow = n + slack;
  d.cBatch = m * d.cRow;
  d.residualRow = n + 2 * slack;
  d.residualBatch = m * d.residualRow;
  d.hasBias = bias, d.hasResidual = residual, d.activation = activation;
  made.a = rounded(d.type, randomFloats(size_t(batch * d.aBatch), random));
  made.b = rounded(d.type, randomFloats(size_t(batch * d.bBatch), random));
  made.bias = rounded(d.type, randomFloats(size_t(n), random));
  made.residual = rounded(d.type, randomFloats(size_t(batch * d.residualBatch), random));
  made.c = rounded(d.resultType, randomFloats(size_t(batch * d.cBatch), random));
  return made;
}

std::vector<float> run(const Case &of, bool accumulate, InstructionSet set, int64_t threads,
                       int64_t offset) {
  const ElementType type = of.desc.type;
  Placed a(of.a, offset, type), b(of.b, offset, type), bias(of.bias, offset, type),
      residual(of.residual, offset, type), c(of.c, offset, of.desc.resultType),
      workspace(poisoned(workspaceBytes(of.desc, threads)), offset);
  PlainTeam team(threads);
  tableOf(set).gemm(of.desc, a.data(), b.data(), bias.data(), residual.data(), c.data(), accumulate,
                    workspace.raw(), team);
  EXPECT_TRUE(c.guardsIntact() && workspace.guardsIntact());
  return c.values();
}

/// Each element within the bound of its own sum of magnitudes; bytes between rows untouched.
void check(const Case &of, bool accumulate, const std::vector<float> &c, const char *what) {
  const GemmDesc &d = of.desc;
  std::vector<float> expected = of.c;
  for (int64_t batch = 0; batch < d.batch; ++batch)
    for (int64_t i = 0; i < d.m; ++i)
      for (int64_t j = 0; j < d.n; ++j) {
        double sum = 0, size = 1;
        for (int64_t k = 0; k < d.k; ++k) {
          double term = double(of.a[size_t(batch * d.aBatch + i * d.aRow + k * d.aCol)]) *
                        of.b[size_t(batch * d.bBatch + k * d.bRow + j * d.bCol)];
          sum += term;
          size += std::abs(term);
        }
        sum = activated(d.activation, sum + (d.hasBias ? double(of.bias[size_t(j)]) : 0.0));
        if (d.hasResidual)
          sum += of.residual[size_t(batch * d.residualBatch + i * d.residualRow + j)];
        size_t at = size_t(batch * d.cBatch + i * d.cRow + j);
        if (accumulate)
          sum += of.c[at];
        // A chain of k steps may err by k·2^-24·size at worst; in the mean it stays near its root.
        // Values of 16 bits are rounded once, or once before they are added.
        double bound = 2.5e-7 * size + 4e-7 * (1 + std::abs(sum));
        if (d.resultType != ElementType::f32)
          bound += halfStep(d.resultType, std::abs(sum) + bound) +
                   (accumulate ? halfStep(d.resultType, std::abs(sum - of.c[at]) + bound) : 0.0);
        ASSERT_NEAR(c[at], sum, bound)
            << what << " m " << d.m << " n " << d.n << " k " << d.k << " at " << i << "," << j;
        expected[at] = c[at];
      }
  EXPECT_TRUE(sameBytes(expected, c)) << what << ": wrote between rows";
}

const Activation kActivations[] = {Activation::None, Activation::GeluTanh, Activation::GeluErf,
                                   Activation::Silu, Activation::Relu};

TEST(Gemm, SmallShapesAllLayoutsAndEpilogues) {
  std::mt19937 random(1);
  // 33·33·30 = 32,670 is just small.
  const int64_t sizes[] = {1, 2, 3, 5, 7, 12, 13, 16, 17, 24, 31, 33};
  for (InstructionSet set : instructionSets())
    for (int round = 0; round < 600; ++round) {
      auto size = [&] { return sizes[random() % 12]; };
      int64_t m = size(), n = size(), k = std::min<int64_t>(size(), 30);
      Case made = makeCase(1 + int64_t(random() % 3), m, n, k, int(random() % 16), random() % 2,
                           random() % 2, kActivations[random() % 5], random, kAllTypes[round % 5]);
      bool accumulate = random() % 2;
      EXPECT_EQ(workspaceBytes(made.desc, 2), 0);
      check(made, accumulate, run(made, accumulate, set, 2, 4), "small");
    }
}

TEST(Gemm, SmallButLong) {
  // All of the stack buffers: 1·32·1000 = 32,000 in three blocks of k, 2·40·384 in one.
  std::mt19937 random(6);
  for (InstructionSet set : instructionSets())
    for (auto [m, n, k] :
         {std::array<int64_t, 3>{1, 32, 1000}, {2, 40, 384}, {12, 2, 1200}, {1, 1, 32768}})
      for (int layout : {0, 1, 2, 7, 12}) {
        Case made = makeCase(1, m, n, k, layout, true, false, Activation::None, random,
                             kAllTypes[random() % 5]);
        ASSERT_EQ(workspaceBytes(made.desc, 1), 0);
        check(made, true, run(made, true, set, 1, 0), "small but long");
      }
}

TEST(Gemm, PackedShapesWithTailsAndSeveralBlocks) {
  std::mt19937 random(2);
  struct Shape {
    int64_t batch, m, n, k;
  };
  // One past the block lengths 384 (k), 384 (m) and 512 (n); thin ones; a batch.
  const Shape shapes[] = {{1, 130, 65, 40}, {1, 385, 17, 30},  {1, 13, 513, 20}, {1, 37, 49, 385},
                          {1, 3, 5, 2500},  {1, 1, 700, 800},  {1, 300, 1, 900}, {3, 50, 33, 70},
                          {2, 25, 40, 770}, {1, 400, 530, 12}, {1, 97, 95, 93}};
  int round = 0;
  for (InstructionSet set : instructionSets())
    for (const Types &types : kAllTypes)
      for (const Shape &s : shapes) {
        ++round;
        Case made = makeCase(s.batch, s.m, s.n, s.k, round % 16, round % 2, round % 3 == 0,
                             kActivations[round % 5], random, types);
        EXPECT_GT(workspaceBytes(made.desc, 1), 0);
        check(made, round % 2 == 0, run(made, round % 2 == 0, set, 1 + round % 3, 0), "packed");
      }
}

TEST(Gemm, N0_BytesDependOnNeitherAlignmentNorThreadsNorPlace) {
  std::mt19937 random(3);
  for (InstructionSet set : instructionSets())
    for (const Types &types : kAllTypes)
      for (auto [m, n, k] : {std::array<int64_t, 3>{9, 21, 30}, {100, 75, 400}, {30, 150, 130}}) {
        int layout = int(random() % 4);
        Case made = makeCase(1, m, n, k, layout, true, true, Activation::GeluTanh, random, types);
        made.desc.residualRow = made.desc.cRow;
        made.residual = rounded(types.type, randomFloats(size_t(m * n), random));
        std::vector<float> first = run(made, false, set, 1, 0);
        for (int64_t offset : kOffsets)
          for (int64_t threads : {1, 2, 3})
            EXPECT_TRUE(sameBytes(first, run(made, false, set, threads, offset)));
        if (types.type == types.result) {
          // C over the residual.
          Placed a(made.a, 4, types.type), b(made.b, 60, types.type),
              bias(made.bias, 4, types.type), c(made.residual, 4, types.type),
              workspace(poisoned(workspaceBytes(made.desc, 1)), 60);
          PlainTeam team(1);
          tableOf(set).gemm(made.desc, a.data(), b.data(), bias.data(), c.data(), c.data(), false,
                            workspace.raw(), team);
          EXPECT_TRUE(sameBytes(first, c.values()));
        }
        // Accumulating adds the finished, rounded value.
        std::vector<float> added = run(made, true, set, 1, 0);
        for (size_t i = 0; i < first.size(); ++i)
          ASSERT_EQ(added[i], rounded(types.result, made.c[i] + first[i]));
      }
}

TEST(Gemm, SixteenBitsAreRoundedOnceByHand) {
  // bf16 steps by 2^-7 at 1. 1·1 + 1·2^-8 is a tie, to the even 1; with 3·2^-8 it goes up to
  // 1 + 2^-6. A bias of 2^-8 is added before rounding: 1 + 2^-8 + 2^-8 = 1 + 2^-7, exact, where
  // rounding twice would have lost it. Into an f32 C nothing is rounded.
  Case made;
  made.desc.m = 1, made.desc.n = 2, made.desc.k = 2;
  made.desc.aRow = 2, made.desc.aCol = 1, made.desc.bRow = 2, made.desc.bCol = 1;
  made.desc.cRow = 2;
  made.desc.type = made.desc.resultType = ElementType::bf16;
  made.a = {1.0f, 1.0f};
  made.b = {1.0f, 1.0f, 0x1p-8f, 0x3p-8f};
  made.bias = {0x1p-8f, 0.0f};
  made.c = {1.0f, 0x1p-8f};
  for (InstructionSet set : instructionSets()) {
    EXPECT_EQ(run(made, false, set, 1, 2), (std::vector<float>{1.0f, 1.0f + 0x1p-6f}));
    // 1 + 1 = 2; 1 + 2^-6 + 2^-8 is a tie between 2 and 3 steps above 1: to the even 2.
    EXPECT_EQ(run(made, true, set, 1, 2), (std::vector<float>{2.0f, 1.0f + 0x1p-6f}));
    Case biased = made;
    biased.desc.hasBias = true;
    EXPECT_EQ(run(biased, false, set, 1, 2), (std::vector<float>{1.0f + 0x1p-7f, 1.0f + 0x1p-6f}));
    Case wide = made;
    wide.desc.resultType = ElementType::f32;
    EXPECT_EQ(run(wide, false, set, 1, 2), (std::vector<float>{1.0f + 0x1p-8f, 1.0f + 0x3p-8f}));
    // 240·273 = 65520 is half a step past f16's greatest value.
    Case large = made;
    large.desc.type = large.desc.resultType = ElementType::f16;
    large.a = {240.0f, 0.0f};
    large.b = {272.0f, 273.0f, 0.0f, 0.0f};
    EXPECT_EQ(run(large, false, set, 1, 2),
              (std::vector<float>{65280.0f, std::numeric_limits<float>::infinity()}));
  }
}

TEST(Gemm, N0_ChainIsInOrderOfK) {
  // 2^24 + 1 − 2^24: in order, the 1 is lost in f32 and the sum is 0; any other order gives 1.
  for (InstructionSet set : instructionSets()) {
    std::mt19937 random(4);
    for (int64_t n : {1, 16, 33}) {
      Case made = makeCase(1, 14, n, 3, 0, false, false, Activation::None, random);
      for (int64_t i = 0; i < 14; ++i)
        made.a[size_t(3 * i)] = 0x1p24f, made.a[size_t(3 * i + 1)] = 1.0f,
                          made.a[size_t(3 * i + 2)] = -0x1p24f;
      std::fill(made.b.begin(), made.b.end(), 1.0f);
      for (float x : run(made, false, set, 1, 0))
        EXPECT_EQ(x, 0.0f);
    }
  }
}

TEST(Gemm, N0_TileRegistersAddAsTheManualSays) {
  // 32 elements of k a step: a chain over the even ones, one over the odd, their sum, added to C.
  if (!supported(InstructionSet::Amx))
    GTEST_SKIP() << "this processor has none";
  std::mt19937 random(8);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 5},
                         {20, 37, 31},
                         {17, 16, 64},
                         {33, 48, 70},
                         {40, 50, 1100},
                         {70, 530, 33}})
    for (int layout : {0, 1, 2, 3, 4, 8}) {
      Case made = makeCase(1, m, n, k, layout, false, false, Activation::None, random,
                           {ElementType::bf16, ElementType::f32});
      const GemmDesc &d = made.desc;
      std::vector<float> c = run(made, false, InstructionSet::Amx, 2, 2);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (int64_t step = 0; step < k; step += 32) {
            float chains[2] = {0, 0};
            for (int64_t x = step; x < std::min(k, step + 32); ++x)
              chains[x % 2] = std::fma(made.a[size_t(i * d.aRow + x * d.aCol)],
                                       made.b[size_t(x * d.bRow + j * d.bCol)], chains[x % 2]);
            sum += chains[0] + chains[1];
          }
          ASSERT_EQ(c[size_t(i * d.cRow + j)], sum) << m << "x" << n << "x" << k;
        }
    }
}

TEST(Gemm, NothingToSumLeavesTheEpilogue) {
  std::mt19937 random(5);
  for (const Types &types : kAllTypes) {
    Case made = makeCase(1, 3, 4, 0, 0, true, false, Activation::None, random, types);
    for (InstructionSet set : instructionSets()) {
      std::vector<float> c = run(made, false, set, 1, 0);
      for (size_t i = 0; i < 12; ++i)
        EXPECT_EQ(c[i], made.bias[i % 4]);
    }
  }
}

TEST(Gemm, WorkspaceGrowsWithThreadsOnlyAndStaysSmall) {
  GemmDesc d;
  d.m = 2048, d.n = 50257, d.k = 12288;
  EXPECT_EQ(workspaceBytes(d, 3) - workspaceBytes(d, 2),
            workspaceBytes(d, 2) - workspaceBytes(d, 1));
  EXPECT_LE(workspaceBytes(d, 1), 2 << 20);
  d.type = d.resultType = ElementType::bf16;
  EXPECT_LE(workspaceBytes(d, 1), 2 << 20);
  // Sizes whose product overflows 64 bits are not small.
  d.m = d.n = d.k = int64_t(1) << 40;
  EXPECT_GT(workspaceBytes(d, 1), 0);
}

} // namespace
