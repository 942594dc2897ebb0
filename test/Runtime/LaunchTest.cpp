//===- LaunchTest.cpp - rows hand their operands to the right places ------===//
//
// Each library kernel through a one-row program and called by hand, on operands
// that all differ: a swapped or shifted operand gives other bytes.
//
//===----------------------------------------------------------------------===//

#include "zero/Runtime/Session.h"
#include "zero/Runtime/ThreadTeam.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace zrt;

namespace {

constexpr int64_t kSpacing = 1 << 16; // bytes between operands
constexpr int64_t kOperands = 12;

std::vector<char> pattern() {
  std::vector<char> bytes(size_t(kSpacing * kOperands));
  uint32_t state = 1;
  for (size_t at = 0; at < bytes.size(); at += 4) {
    state = state * 1664525u + 1013904223u;
    float value = float(int((state >> 16) % 2001) - 1000) / 1000.0f;
    std::memcpy(&bytes[at], &value, 4);
  }
  return bytes;
}

struct Arena {
  std::vector<char> bytes = pattern();
  float *floats(int64_t operand) {
    return reinterpret_cast<float *>(bytes.data() + operand * kSpacing);
  }
  int32_t *ints(int64_t operand) { return reinterpret_cast<int32_t *>(floats(operand)); }
  const RandomState *random(int64_t operand) {
    return reinterpret_cast<const RandomState *>(floats(operand));
  }
  char *workspace(int64_t operand) { return bytes.data() + operand * kSpacing; }
};

/// A program of one launch whose operand i lies at i · kSpacing.
Program oneLaunch(const Kernel &kernel, int64_t operands, WriteMode mode) {
  Program program;
  program.arenaBytes = program.persistentBytes = kSpacing * kOperands;
  program.kernels = {kernel};
  Row row;
  row.kernel = 0;
  row.mode = mode;
  for (int64_t i = 0; i < operands; ++i)
    row.operands.push_back(i * kSpacing);
  program.segments = {{"step", SegmentRole::Step, 1, {}, {row}}};
  return program;
}

/// The arena of rank 0 after the launch, begun from `before`.
std::vector<char> launched(const Program &program, const Arena &before,
                           std::vector<GeneratedKernel> generated = {}) {
  std::string error;
  auto session = Session::create(program, std::move(generated), {}, error);
  EXPECT_TRUE(session) << error;
  if (!session)
    return {};
  std::memcpy(session->arena(0), before.bytes.data(), before.bytes.size());
  StepInput input;
  input.data.resize(1);
  StepResult result;
  EXPECT_TRUE(session->step(input, result, error)) << error;
  return {session->arena(0), session->arena(0) + before.bytes.size()};
}

/// Up to the workspace, whose contents are the kernel's own business.
void expectSame(const std::vector<char> &got, const Arena &expected, int64_t operands) {
  ASSERT_GE(int64_t(got.size()), operands * kSpacing);
  EXPECT_EQ(std::memcmp(got.data(), expected.bytes.data(), size_t(operands * kSpacing)), 0);
}

TEST(Launch, GemmWithAndWithoutBiasAndResidual) {
  auto team = createThreadTeam(1, false);
  for (ElementType type : {ElementType::f32, ElementType::bf16})
    for (bool bias : {false, true})
      for (bool residual : {false, true})
        for (bool add : {false, true}) {
          Kernel kernel;
          kernel.kind = KernelKind::Gemm;
          GemmDesc &d = kernel.gemm;
          d.type = type;
          d.m = 3, d.n = 5, d.k = 7;
          d.aRow = 7, d.aCol = 1, d.bRow = 5, d.bCol = 1, d.cRow = d.residualRow = 5;
          d.hasBias = bias;
          d.hasResidual = residual;
          int64_t c = 2 + bias + residual, workspace = c + 1;
          Arena before, expected;
          gemm(d, expected.floats(0), expected.floats(1), bias ? expected.floats(2) : nullptr,
               residual ? expected.floats(2 + bias) : nullptr, expected.floats(c), add,
               expected.workspace(workspace), *team);
          EXPECT_NE(expected.bytes, before.bytes);
          Program program =
              oneLaunch(kernel, workspace + 1, add ? WriteMode::Add : WriteMode::Write);
          expectSame(launched(program, before), expected, workspace);
        }
}

TEST(Launch, Attention) {
  auto team = createThreadTeam(1, false);
  for (double rate : {0.0, 0.25}) {
    Kernel kernel;
    kernel.kind = KernelKind::Attention;
    AttentionDesc &d = kernel.attention;
    d.dropoutRate = rate;
    d.batch = 2;
    d.queryLen = d.keyLen = 5;
    d.heads = d.kvHeads = 2;
    d.headDim = 8;
    d.scale = 0.35f;
    d.causal = true;
    d.q = d.k = d.v = d.out = d.dOut = d.dQ = d.dK = d.dV = {80, 16, 8};
    const bool drops = rate > 0.0;
    Arena before, expected;
    attentionForward(d, expected.floats(0), expected.floats(1), expected.floats(2),
                     expected.floats(3), expected.floats(4), drops ? expected.random(5) : nullptr,
                     expected.workspace(5 + drops), *team);
    EXPECT_NE(expected.bytes, before.bytes);
    expectSame(launched(oneLaunch(kernel, 6 + drops, WriteMode::Write), before), expected,
               5 + drops);

    d.backward = true;
    Arena backward;
    backward.bytes = before.bytes = expected.bytes; // with a true logSumExp
    attentionBackward(d, backward.floats(0), backward.floats(1), backward.floats(2),
                      backward.floats(3), backward.floats(4), backward.floats(5),
                      backward.floats(6), backward.floats(7), backward.floats(8),
                      drops ? backward.random(9) : nullptr, backward.workspace(9 + drops), *team);
    EXPECT_NE(backward.bytes, before.bytes);
    expectSame(launched(oneLaunch(kernel, 10 + drops, WriteMode::Write), before), backward,
               9 + drops);
  }
}

TEST(Launch, CrossEntropyWithAndWithoutGradient) {
  auto team = createThreadTeam(1, false);
  for (bool withGradient : {false, true}) {
    Kernel kernel;
    kernel.kind = KernelKind::CrossEntropy;
    kernel.crossEntropy = {ElementType::f32, withGradient, 4, 6, -100};
    Arena before;
    const int32_t labels[] = {5, -100, 0, 3};
    std::memcpy(before.ints(1), labels, sizeof labels);
    Arena expected = before;
    crossEntropy(kernel.crossEntropy, expected.floats(0), expected.ints(1), *expected.floats(2),
                 expected.floats(3), withGradient ? expected.floats(4) : nullptr,
                 expected.workspace(5), *team);
    EXPECT_NE(expected.bytes, before.bytes);
    const int64_t operands = 4 + withGradient;
    expectSame(launched(oneLaunch(kernel, operands + 1, WriteMode::Write), before), expected,
               operands);
  }
}

TEST(Launch, ScatterWritesAndAdds) {
  auto team = createThreadTeam(1, false);
  Kernel kernel;
  kernel.kind = KernelKind::Scatter;
  kernel.scatter = {ElementType::f32, ElementType::f32, 6, 4, 5};
  for (bool add : {false, true}) {
    Arena before;
    const int32_t indices[] = {4, 0, 4, 1, 1, 4};
    std::memcpy(before.ints(0), indices, sizeof indices);
    Arena expected = before;
    scatterAdd(kernel.scatter, expected.ints(0), expected.floats(1), expected.floats(2), add,
               expected.workspace(3), *team);
    EXPECT_NE(expected.bytes, before.bytes);
    Program program = oneLaunch(kernel, 4, add ? WriteMode::Add : WriteMode::Write);
    expectSame(launched(program, before), expected, 3);
  }
}

TEST(Launch, UnitsOfAGeneratedKernelAreSplitOverThreads) {
  // Unit u writes u; seven units over three threads are 3 + 2 + 2, each once.
  GeneratedKernel count = [](char **operands, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit)
      reinterpret_cast<int64_t *>(operands[0])[unit] += unit + 1;
  };
  Kernel kernel;
  kernel.generated.units = 7;
  Program program = oneLaunch(kernel, 1, WriteMode::Write);
  program.threadsPerRank = 3;
  Arena before;
  std::memset(before.bytes.data(), 0, before.bytes.size());
  std::vector<char> after = launched(program, before, {count});
  for (int64_t unit = 0; unit < 8; ++unit)
    EXPECT_EQ(reinterpret_cast<int64_t *>(after.data())[unit], unit < 7 ? unit + 1 : 0);
}

TEST(Launch, CreateWantsTheWorkspaceThatTheKernelNeeds) {
  Kernel kernel;
  kernel.name = "embed_grad";
  kernel.kind = KernelKind::Scatter;
  kernel.scatter = {ElementType::f32, ElementType::f32, 600, 4, 5};
  int64_t needed = workspaceBytes(kernel.scatter, 1);
  ASSERT_GT(needed, 0);
  std::string error;
  Program program = oneLaunch(kernel, 3, WriteMode::Write);
  EXPECT_FALSE(Session::create(program, {}, {}, error));
  EXPECT_EQ(error, "segment 'step', row 0: expects a workspace of " + std::to_string(needed) +
                       " bytes for kernel 'embed_grad'");
  program.segments[0].rows[0].operands.push_back(program.arenaBytes - needed + 64);
  EXPECT_FALSE(Session::create(program, {}, {}, error));
  program.segments[0].rows[0].operands[3] = program.arenaBytes - needed;
  EXPECT_TRUE(Session::create(program, {}, {}, error)) << error;
}

} // namespace
