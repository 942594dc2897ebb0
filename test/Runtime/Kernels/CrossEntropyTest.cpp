// Loss and gradient of softmax cross-entropy.
#include "TestSupport.h"

#include <algorithm>
#include <array>

using namespace zrt;
using namespace zrt::test;

namespace {

struct Results {
  float loss;
  std::vector<float> gradient;
};

Results run(const CrossEntropyDesc &desc, const std::vector<float> &logits,
            const std::vector<int32_t> &labels, float seed, InstructionSet set, int64_t threads,
            int64_t offset, bool inPlace) {
  Placed x(logits, offset), dx(std::vector<float>(logits.size(), 9.0f), offset);
  PlainTeam team(threads);
  Results r;
  Placed &to = inPlace ? x : dx;
  tableOf(set).crossEntropyWithGrad(desc, x.data(), labels.data(), seed, &r.loss, to.data(),
                                    nullptr, team);
  EXPECT_TRUE(x.guardsIntact() && dx.guardsIntact());
  r.gradient = to.values();
  return r;
}

TEST(CrossEntropy, HandComputed) {
  // Softmax of (0, ln 3) is (1/4, 3/4). Row 0: −ln(3/4), row 1 ignored, row 2: −ln(1/4).
  // Seed 1/2: loss = (2·ln 4 − ln 3) / 2 = 0.8369882168; gradients (1/8, −1/8), 0, (−3/8, 3/8).
  float ln3 = float(std::log(3.0));
  CrossEntropyDesc desc{3, 2, -100};
  for (InstructionSet set : instructionSets()) {
    Results r = run(desc, {0, ln3, 5, 6, 0, ln3}, {1, -100, 0}, 0.5f, set, 1, 0, false);
    EXPECT_NEAR(r.loss, 0.8369882168, 1e-7);
    const double expected[] = {0.125, -0.125, 0, 0, -0.375, 0.375};
    for (size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(r.gradient[i], expected[i], 5e-8) << i;
    EXPECT_EQ(r.gradient[2], 0.0f);
  }
}

TEST(CrossEntropy, AgainstPlainLoops) {
  std::mt19937 random(21);
  for (InstructionSet set : instructionSets())
    for (auto [rows, classes] :
         {std::array<int64_t, 2>{1, 1}, {5, 3}, {7, 16}, {33, 128}, {600, 37}, {3, 50257}}) {
      CrossEntropyDesc desc{rows, classes, -100};
      std::vector<float> logits = randomFloats(size_t(rows * classes), random, 8.0f);
      std::vector<int32_t> labels;
      for (int64_t i = 0; i < rows; ++i)
        labels.push_back(i % 4 == 3 ? -100 : int32_t(random() % classes));
      float seed = 1.0f / 64;
      Results r = run(desc, logits, labels, seed, set, 2, 4, true);
      double loss = 0;
      for (int64_t i = 0; i < rows; ++i) {
        const float *x = logits.data() + i * classes;
        int32_t label = labels[size_t(i)];
        double largest = *std::max_element(x, x + classes), sum = 0;
        for (int64_t j = 0; j < classes; ++j)
          sum += std::exp(double(x[j]) - largest);
        if (label >= 0)
          loss += std::log(sum) + largest - x[label];
        for (int64_t j = 0; j < classes; ++j) {
          double p = std::exp(double(x[j]) - largest) / sum - (j == label ? 1.0 : 0.0);
          double expected = label >= 0 ? seed * p : 0.0;
          ASSERT_NEAR(r.gradient[size_t(i * classes + j)], expected,
                      1.2e-6 * std::abs(expected) + 1e-12)
              << i << "," << j;
        }
      }
      EXPECT_NEAR(r.loss, loss * seed, 2e-7 * std::abs(loss * seed) + 1e-12);
    }
}

TEST(CrossEntropy, N0_BytesDependOnNeitherPlaceNorThreads) {
  std::mt19937 random(22);
  CrossEntropyDesc desc{301, 45, 7};
  std::vector<float> logits = randomFloats(301 * 45, random, 4.0f);
  std::vector<int32_t> labels;
  for (int i = 0; i < 301; ++i)
    labels.push_back(int32_t(random() % 45));
  for (InstructionSet set : instructionSets()) {
    Results first = run(desc, logits, labels, 0.25f, set, 1, 0, false);
    for (int64_t offset : {0, 4, 60})
      for (int64_t threads : {1, 2, 3})
        for (bool inPlace : {false, true}) {
          Results r = run(desc, logits, labels, 0.25f, set, threads, offset, inPlace);
          EXPECT_EQ(std::memcmp(&r.loss, &first.loss, 4), 0);
          EXPECT_TRUE(sameBytes(r.gradient, first.gradient));
        }
  }
}

TEST(CrossEntropy, ExtremesStayFinite) {
  CrossEntropyDesc desc{2, 3, -100};
  for (InstructionSet set : instructionSets()) {
    // Row 0: certain and right, loss 0. Row 1: certain and wrong, loss 2e30.
    Results r = run(desc, {1e30f, -1e30f, 0, 1e30f, -1e30f, 0}, {0, 1}, 1.0f, set, 1, 0, false);
    EXPECT_FLOAT_EQ(r.loss, 2e30f);
    EXPECT_EQ(r.gradient[0], 0.0f);
    EXPECT_EQ(r.gradient[3], 1.0f);
    EXPECT_EQ(r.gradient[4], -1.0f);
    // Nothing to learn from: 0.
    EXPECT_EQ(run(desc, {1, 2, 3, 4, 5, 6}, {-100, -100}, 1.0f, set, 1, 0, false).loss, 0.0f);
    // A label out of range shows.
    EXPECT_TRUE(std::isnan(run(desc, {1, 2, 3, 4, 5, 6}, {0, 3}, 1.0f, set, 1, 0, false).loss));
  }
}

} // namespace
