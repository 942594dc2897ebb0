// Scatter-add: each hit row summed in index order and added once.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

std::vector<float> run(const ScatterDesc &desc, const std::vector<int32_t> &indices,
                       const std::vector<float> &updates, const std::vector<float> &table,
                       bool accumulate, InstructionSet set, int64_t threads, int64_t offset) {
  Placed u(updates, offset, desc.type), t(table, offset, desc.resultType);
  std::vector<float> workspace = poisoned(workspaceBytes(desc, threads));
  PlainTeam team(threads);
  tableOf(set).scatterAdd(desc, indices.data(), u.data(), t.data(), accumulate,
                          reinterpret_cast<char *>(workspace.data()), team);
  EXPECT_TRUE(t.guardsIntact());
  return t.values();
}

ScatterDesc describe(int64_t rows, int64_t width, int64_t tableRows,
                     ElementType type = ElementType::f32,
                     ElementType resultType = ElementType::f32) {
  return {type, resultType, rows, width, tableRows};
}

TEST(Scatter, HandComputed) {
  // Rows 2, 0, 2: row 2 gets 1 + 3 and 10 + 30, row 0 gets 2 and 20, row 1 nothing.
  std::vector<float> updates = {1, 10, 2, 20, 3, 30}, table = {100, 100, 100, 100, 100, 100};
  for (ElementType type : kTypes)
    for (ElementType resultType : {type, ElementType::f32})
      for (InstructionSet set : instructionSets()) {
        ScatterDesc desc = describe(3, 2, 3, type, resultType);
        EXPECT_EQ(run(desc, {2, 0, 2}, updates, table, false, set, 1, 0),
                  (std::vector<float>{2, 20, 0, 0, 4, 40}));
        EXPECT_EQ(run(desc, {2, 0, 2}, updates, table, true, set, 1, 0),
                  (std::vector<float>{102, 120, 100, 100, 104, 140}));
      }
}

TEST(Scatter, SumIsFormedBeforeItIsAdded) {
  // 1 + 1 = 2 reaches 2^24 as 2^24 + 2; one by one both would be lost.
  for (InstructionSet set : instructionSets())
    EXPECT_EQ(run(describe(2, 1, 1), {0, 0}, {1, 1}, {0x1p24f}, true, set, 1, 0)[0], 0x1p24f + 2);
}

TEST(Scatter, SixteenBitsAreRoundedOnceByHand) {
  // In bf16, with steps of 2 from 256 on: 256 + 1 + 1 = 258 in f32, though 256 + 1 is a tie to 256.
  // Added to 2: 258 + 2 = 260. In f32 257 keeps its 1.
  const ElementType bf16 = ElementType::bf16, f32 = ElementType::f32;
  for (InstructionSet set : instructionSets()) {
    ScatterDesc desc = describe(3, 1, 1, bf16, bf16);
    EXPECT_EQ(run(desc, {0, 0, 0}, {256, 1, 1}, {2}, false, set, 1, 2)[0], 258.0f);
    EXPECT_EQ(run(desc, {0, 0, 0}, {256, 1, 1}, {2}, true, set, 1, 2)[0], 260.0f);
    desc.rows = 2;
    EXPECT_EQ(run(desc, {0, 0}, {256, 1}, {2}, false, set, 1, 2)[0], 256.0f);
    // The rounded sum is added: 256 + 1 = 257, not 258, which 257 + 1 would be; a tie, to 256.
    EXPECT_EQ(run(desc, {0, 0}, {256, 1}, {1}, true, set, 1, 2)[0], 256.0f);
    desc.resultType = f32;
    EXPECT_EQ(run(desc, {0, 0}, {256, 1}, {2}, false, set, 1, 2)[0], 257.0f);
  }
}

TEST(Scatter, N0_FewAndManyInEveryCircumstance) {
  std::mt19937 random(31);
  for (int64_t rows : {1, 200, 257, 1000})
    for (ElementType type : kTypes)
      for (ElementType resultType : {type, ElementType::f32}) {
        ScatterDesc desc = describe(rows, 21, 40, type, resultType);
        std::vector<int32_t> indices;
        for (int64_t i = 0; i < rows; ++i)
          indices.push_back(int32_t(random() % 37));
        std::vector<float> updates = rounded(type, randomFloats(size_t(rows * 21), random)),
                           table = rounded(resultType, randomFloats(40 * 21, random));
        EXPECT_EQ(workspaceBytes(desc, 4) == 0, rows <= 256);
        for (bool accumulate : {false, true}) {
          std::vector<float> sums(40 * 21, 0.0f), expected = table;
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < 21; ++j)
              sums[size_t(indices[size_t(i)] * 21 + j)] += updates[size_t(i * 21 + j)];
          for (size_t i = 0; i < expected.size(); ++i) {
            float sum = rounded(resultType, sums[i]);
            expected[i] = accumulate ? rounded(resultType, expected[i] + sum) : sum;
          }
          for (InstructionSet set : instructionSets())
            for (int64_t threads : {1, 2, 3})
              for (int64_t offset : kOffsets)
                EXPECT_EQ(run(desc, indices, updates, table, accumulate, set, threads, offset),
                          expected);
        }
      }
}

} // namespace
