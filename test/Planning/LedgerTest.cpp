//===- LedgerTest.cpp - (M2) model states and (C1) traffic ---------------===//
#include "zero/Planning/Ledger.h"

#include <gtest/gtest.h>

using namespace zero::planning::ledger;

namespace {

/// The paper's recipe: half-precision weights and gradients, f32 the rest.
Group mixed(int64_t trainable) {
  Group group;
  group.trainable = trainable;
  group.paramBytes = group.gradBytes = 2;
  group.masterBytes = 4;
  return group;
}

int64_t total(const Problem &problem) {
  EXPECT_EQ(check(problem), std::nullopt);
  return states(problem).totalBytes;
}

/// The tied model: 82 trainable, 4 frozen, 6 unused elements in f32, 3 ranks, 2
/// micro-steps.
Problem tiny(int64_t stage, bool reduceEveryStep = false) {
  Group group;
  group.trainable = 82;
  group.frozen = 4;
  group.unused = 6;
  return {stage, 3, 2, reduceEveryStep, {group}};
}

std::vector<int64_t> rows(const Problem &problem) {
  States result = states(problem);
  return {result.bytes, result.bytes + kKindCount};
}

TEST(LedgerM2, TinyAtAllStages) {
  // Full: param 92·4 = 368, the others 82·4 = 328. Over 3 ranks: 122⅔ and 109⅓.
  using Rows = std::vector<int64_t>; // param, grad, grad_accum, master, moment1, moment2
  EXPECT_EQ(rows(tiny(0)), (Rows{368, 0, 328, 0, 328, 328}));
  EXPECT_EQ(rows(tiny(1)), (Rows{368, 0, 328, 0, 109, 109}));
  EXPECT_EQ(rows(tiny(2)), (Rows{368, 0, 109, 0, 109, 109}));
  EXPECT_EQ(rows(tiny(3)), (Rows{122, 0, 109, 0, 109, 109}));
  // Sums of the rows, each rounded down: 368+328·3, 368+328+218, 368+327, 122+327.
  EXPECT_EQ(states(tiny(0)).rowsBytes, 1352);
  EXPECT_EQ(states(tiny(1)).rowsBytes, 914);
  EXPECT_EQ(states(tiny(2)).rowsBytes, 695);
  EXPECT_EQ(states(tiny(3)).rowsBytes, 449);
  // Rounded down once: 1352; 696 + 656/3 = 914⅔; 368 + 984/3 = 696; 16·82/3 + 40/3 = 450⅔.
  EXPECT_EQ(total(tiny(0)), 1352);
  EXPECT_EQ(total(tiny(1)), 914);
  EXPECT_EQ(total(tiny(2)), 696);
  EXPECT_EQ(total(tiny(3)), 450);
  // Stage 2 that reduces once a step keeps full gradients: stage 1's ledger.
  EXPECT_EQ(rows(tiny(2, /*reduceEveryStep=*/true)), rows(tiny(1)));
}

TEST(LedgerM2, OneMicroStepKeepsGradInItsOwnType) {
  // 12 parameters at 3 ranks: 2·12 + 2·12 + 12·12 = 192; 24 + 24 + 144/3 = 96;
  // 24 + 8 + 48 = 80; 192/3 = 64.
  int64_t expected[] = {192, 96, 80, 64};
  for (int64_t stage = 0; stage < 4; ++stage)
    EXPECT_EQ(total({stage, 3, 1, false, {mixed(12)}}), expected[stage]);
  // At stage 2 the rows are 24, 8, 0, 16, 16, 16; over two micro-steps the
  // gradients take 4·12/3 = 16 in grad_accum and nothing in grad.
  EXPECT_EQ(rows({2, 3, 1, false, {mixed(12)}}), (std::vector<int64_t>{24, 8, 0, 16, 16, 16}));
  EXPECT_EQ(rows({2, 3, 2, false, {mixed(12)}}), (std::vector<int64_t>{24, 0, 16, 16, 16, 16}));
}

TEST(LedgerM2, FiguresOfThePaper) {
  struct Case {
    int64_t millions, ranks;
    double gigabytes[4]; // by stage; 0: not a figure of the paper
    double rounding;     // half of the last digit printed
  };
  Case cases[] = {
      {1500, 4, {24, 10.5, 8.25, 6}, 1e-9},
      {1500, 8, {24, 8.25, 5.625, 3}, 1e-9},
      {3000, 8, {0, 0, 11.25, 0}, 1e-9},
      {7500, 64, {120, 31.4, 16.6, 1.9}, 0.05},
      {128000, 1024, {2048, 513.5, 257.75, 2}, 1e-9}, // 512 + 1.5, 256 + 1.75, 2048/1024
      {1000000, 1024, {16000, 4011.7, 2013.7, 15.6}, 0.05},
  };
  for (const Case &row : cases)
    for (int64_t stage = 0; stage < 4; ++stage)
      if (row.gigabytes[stage] != 0)
        EXPECT_NEAR(total({stage, row.ranks, 1, false, {mixed(row.millions * 1'000'000)}}) / 1e9,
                    row.gigabytes[stage], row.rounding)
            << row.millions << "M at stage " << stage;
}

TEST(LedgerM2, F32WithAdamIsSixteenBytes) {
  // 4 bytes each of weight, gradient and two moments; Ψ = 64, N = 4.
  Group group;
  group.trainable = 64;
  int64_t expected[] = {16 * 64, 8 * 64 + 8 * 16, 4 * 64 + 12 * 16, 16 * 16};
  for (int64_t stage = 0; stage < 4; ++stage)
    EXPECT_EQ(total({stage, 4, 1, false, {group}}), expected[stage]);
}

TEST(LedgerM2, CheckRefuses) {
  auto message = [](Problem problem) { return check(problem).value_or("accepted"); };
  Group group = mixed(1);
  EXPECT_EQ(message({4, 1, 1, false, {group}}), "expects a stage from 0 to 3, got 4");
  EXPECT_EQ(message({0, 0, 1, false, {group}}), "expects 1 to 2^31 - 1 ranks, got 0");
  EXPECT_EQ(message({0, 1, 0, false, {group}}), "expects at least 1 micro-step, got 0");
  EXPECT_NE(message({3, 1, 1, true, {group}}).find("expects stage 2"), std::string::npos);
  group.frozen = -1;
  EXPECT_EQ(message({0, 1, 1, false, {group}}), "expects element counts of at least 0, got -1");
  EXPECT_NE(message({0, 1, 1, false, {mixed(INT64_MAX)}}).find("2^62"), std::string::npos);
}

/// Lengths of b0 to b5, 87 elements together, and f0, 6.
const int64_t kLengths[] = {21, 6, 24, 6, 24, 6, 6};

TEST(LedgerC1, TinyAtAllStages) {
  // 87 padded elements, two thirds of them sent: 58 a pass.
  auto plain = [](int64_t stage, bool reduceEveryStep = false) {
    std::vector<Moves> moves;
    for (int i = 0; i < 6; ++i)
      moves.push_back(plainMoves(kLengths[i], stage, 2, reduceEveryStep));
    return traffic(moves, 3).value();
  };
  EXPECT_EQ(plain(0), (Traffic{116, 0, 0})); // an all-reduce counts twice
  EXPECT_EQ(plain(1), (Traffic{0, 58, 58}));
  EXPECT_EQ(plain(2, /*reduceEveryStep=*/true), (Traffic{0, 58, 58}));
  EXPECT_EQ(plain(2), (Traffic{0, 116, 58})); // a reduction a micro-step
  EXPECT_EQ(plain(3).total(), 348);           // 3A·87·⅔
  // Read off the schedule: wte is gathered for two regions of use, biases not in
  // backward, the frozen bias once and never reduced; all of it in 2 micro-steps.
  int64_t gathers[] = {2, 2, 2, 1, 2, 1, 1};
  std::vector<Moves> moves;
  for (int i = 0; i < 7; ++i)
    moves.push_back({kLengths[i], 2 * gathers[i], i < 6 ? 2 : 0, 0});
  // A micro-step gathers 28 + 8 + 32 + 4 + 32 + 4 + 4 = 112.
  EXPECT_EQ(traffic(moves, 3), (Traffic{0, 116, 224}));
  EXPECT_EQ(traffic(moves, 3)->total(), 340);
}

TEST(LedgerC1, PassesOfTheFormulas) {
  // Ψ = 100, N = 4, A = 3: 2Ψ, 2Ψ, (A+1)Ψ, 3AΨ, each times ¾.
  int64_t expected[] = {150, 150, 300, 675};
  for (int64_t stage = 0; stage < 4; ++stage)
    EXPECT_EQ(traffic({plainMoves(100, stage, 3)}, 4)->total(), expected[stage]);
  EXPECT_EQ(traffic({plainMoves(100, 3, 3)}, 1)->total(), 0); // one rank sends nothing
}

TEST(LedgerC1, NonsenseHasNoTraffic) {
  EXPECT_EQ(traffic({{100, 1, 1, 0}}, 3), std::nullopt); // 3 does not divide 100
  EXPECT_EQ(traffic({{99, -1, 1, 0}}, 3), std::nullopt);
  EXPECT_EQ(traffic({{99, 1, 1, 0}}, 0), std::nullopt);
  EXPECT_EQ(traffic({{int64_t(1) << 61, 8, 1, 0}}, 2), std::nullopt);
}

} // namespace
