// Scatter-add: each hit row summed in index order and added once.
#include "TestSupport.h"

using namespace zrt;
using namespace zrt::test;

namespace {

std::vector<float> run(const ScatterDesc &desc, const std::vector<int32_t> &indices,
                       const std::vector<float> &updates, const std::vector<float> &table,
                       bool accumulate, InstructionSet set, int64_t threads, int64_t offset) {
  Placed u(updates, offset), t(table, offset);
  std::vector<float> workspace = poisoned(workspaceBytes(desc, threads));
  PlainTeam team(threads);
  tableOf(set).scatterAdd(desc, indices.data(), u.data(), t.data(), accumulate,
                          reinterpret_cast<char *>(workspace.data()), team);
  EXPECT_TRUE(t.guardsIntact());
  return t.values();
}

TEST(Scatter, HandComputed) {
  // Rows 2, 0, 2: row 2 gets 1 + 3 and 10 + 30, row 0 gets 2 and 20, row 1 nothing.
  ScatterDesc desc{3, 2, 3};
  std::vector<float> updates = {1, 10, 2, 20, 3, 30}, table = {100, 100, 100, 100, 100, 100};
  for (InstructionSet set : instructionSets()) {
    EXPECT_EQ(run(desc, {2, 0, 2}, updates, table, false, set, 1, 0),
              (std::vector<float>{2, 20, 0, 0, 4, 40}));
    EXPECT_EQ(run(desc, {2, 0, 2}, updates, table, true, set, 1, 0),
              (std::vector<float>{102, 120, 100, 100, 104, 140}));
  }
}

TEST(Scatter, SumIsFormedBeforeItIsAdded) {
  // 1 + 1 = 2 reaches 2^24 as 2^24 + 2; one by one both would be lost.
  ScatterDesc desc{2, 1, 1};
  for (InstructionSet set : instructionSets())
    EXPECT_EQ(run(desc, {0, 0}, {1, 1}, {0x1p24f}, true, set, 1, 0)[0], 0x1p24f + 2);
}

TEST(Scatter, N0_FewAndManyInEveryCircumstance) {
  std::mt19937 random(31);
  for (int64_t rows : {1, 200, 257, 1000}) {
    ScatterDesc desc{rows, 21, 40};
    std::vector<int32_t> indices;
    for (int64_t i = 0; i < rows; ++i)
      indices.push_back(int32_t(random() % 37));
    std::vector<float> updates = randomFloats(size_t(rows * 21), random),
                       table = randomFloats(40 * 21, random);
    EXPECT_EQ(workspaceBytes(desc, 4) == 0, rows <= 256);
    for (bool accumulate : {false, true}) {
      std::vector<float> sums(40 * 21, 0.0f), expected = table;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < 21; ++j)
          sums[size_t(indices[size_t(i)] * 21 + j)] += updates[size_t(i * 21 + j)];
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] = accumulate ? expected[i] + sums[i] : sums[i];
      for (InstructionSet set : instructionSets())
        for (int64_t threads : {1, 2, 3})
          for (int64_t offset : {0, 4, 60})
            EXPECT_EQ(run(desc, indices, updates, table, accumulate, set, threads, offset),
                      expected);
    }
  }
}

} // namespace
