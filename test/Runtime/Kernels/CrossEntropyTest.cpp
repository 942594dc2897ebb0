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

CrossEntropyDesc describe(int64_t rows, int64_t classes, int64_t ignore = -100,
                          ElementType type = ElementType::f32) {
  return {type, true, rows, classes, ignore};
}

Results run(const CrossEntropyDesc &desc, const std::vector<float> &logits,
            const std::vector<int32_t> &labels, float seed, InstructionSet set, int64_t threads,
            int64_t offset, bool inPlace) {
  Placed x(logits, offset, desc.type),
      dx(std::vector<float>(logits.size(), 9.0f), offset, desc.type);
  PlainTeam team(threads);
  Results r;
  Placed &to = inPlace ? x : dx;
  tableOf(set).crossEntropy(desc, x.data(), labels.data(), seed, &r.loss, to.data(), nullptr, team);
  EXPECT_TRUE(x.guardsIntact() && dx.guardsIntact());
  r.gradient = to.values();
  if (!inPlace)
    EXPECT_TRUE(sameBytes(x.values(), rounded(desc.type, logits)));
  return r;
}

/// The loss alone, without a place for the gradient.
float lossOf(CrossEntropyDesc desc, const std::vector<float> &logits,
             const std::vector<int32_t> &labels, float seed, InstructionSet set, int64_t threads) {
  desc.withGradient = false;
  Placed x(logits, 2, desc.type);
  PlainTeam team(threads);
  float loss;
  tableOf(set).crossEntropy(desc, x.data(), labels.data(), seed, &loss, nullptr, nullptr, team);
  EXPECT_TRUE(sameBytes(x.values(), rounded(desc.type, logits)));
  return loss;
}

TEST(CrossEntropy, HandComputed) {
  // Softmax of (0, ln 3) is (1/4, 3/4). Row 0: −ln(3/4), row 1 ignored, row 2: −ln(1/4).
  // Seed 1/2: loss = (2·ln 4 − ln 3) / 2 = 0.8369882168; gradients (1/8, −1/8), 0, (−3/8, 3/8).
  float ln3 = float(std::log(3.0));
  CrossEntropyDesc desc = describe(3, 2);
  for (InstructionSet set : instructionSets()) {
    Results r = run(desc, {0, ln3, 5, 6, 0, ln3}, {1, -100, 0}, 0.5f, set, 1, 0, false);
    EXPECT_NEAR(r.loss, 0.8369882168, 1e-7);
    const double expected[] = {0.125, -0.125, 0, 0, -0.375, 0.375};
    for (size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(r.gradient[i], expected[i], 5e-8) << i;
    EXPECT_EQ(r.gradient[2], 0.0f);
  }
}

TEST(CrossEntropy, SixteenBitsByHand) {
  // Logits (0, 0, 0): p = 1/3 each, the loss ln 3. Gradients 1/3 and −2/3 are, in binary,
  // 0.0101…: bf16 keeps 8 bits of 1.0101010|10…·2^-2, and what is cut off, 0.1010…, is over a half:
  // 1.0101011·2^-2 = 171/512. f16 keeps 11 bits of 1.0101010101|01…, under a half: 1365/4096.
  for (InstructionSet set : instructionSets())
    for (auto [type, third] : {std::pair{ElementType::bf16, 171.0f / 512},
                               std::pair{ElementType::f16, 1365.0f / 4096}}) {
      Results r = run(describe(1, 3, -100, type), {0, 0, 0}, {1}, 1.0f, set, 1, 2, true);
      EXPECT_NEAR(r.loss, std::log(3.0), 2e-7);
      EXPECT_EQ(r.gradient, (std::vector<float>{third, -2 * third, third}));
    }
}

TEST(CrossEntropy, AgainstPlainLoops) {
  std::mt19937 random(21);
  for (ElementType type : kTypes)
    for (InstructionSet set : instructionSets())
      for (auto [rows, classes] :
           {std::array<int64_t, 2>{1, 1}, {5, 3}, {7, 16}, {33, 128}, {600, 37}, {3, 50257}}) {
        CrossEntropyDesc desc = describe(rows, classes, -100, type);
        std::vector<float> logits =
            rounded(type, randomFloats(size_t(rows * classes), random, 8.0f));
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
            double bound = 1.2e-6 * std::abs(expected) + 1e-12;
            if (type != ElementType::f32)
              bound += halfStep(type, std::abs(expected) + bound);
            ASSERT_NEAR(r.gradient[size_t(i * classes + j)], expected, bound) << i << "," << j;
          }
        }
        EXPECT_NEAR(r.loss, loss * seed, 2e-7 * std::abs(loss * seed) + 1e-12);
        float alone = lossOf(desc, logits, labels, seed, set, 3);
        EXPECT_EQ(std::memcmp(&alone, &r.loss, 4), 0);
      }
}

TEST(CrossEntropy, N0_BytesDependOnNeitherPlaceNorThreads) {
  std::mt19937 random(22);
  for (ElementType type : kTypes) {
    CrossEntropyDesc desc = describe(301, 45, 7, type);
    std::vector<float> logits = randomFloats(301 * 45, random, 4.0f);
    std::vector<int32_t> labels;
    for (int i = 0; i < 301; ++i)
      labels.push_back(int32_t(random() % 45));
    for (InstructionSet set : instructionSets()) {
      Results first = run(desc, logits, labels, 0.25f, set, 1, 0, false);
      for (int64_t offset : kOffsets)
        for (int64_t threads : {1, 2, 3})
          for (bool inPlace : {false, true}) {
            Results r = run(desc, logits, labels, 0.25f, set, threads, offset, inPlace);
            EXPECT_EQ(std::memcmp(&r.loss, &first.loss, 4), 0);
            EXPECT_TRUE(sameBytes(r.gradient, first.gradient));
          }
    }
  }
}

TEST(CrossEntropy, ExtremesStayFinite) {
  CrossEntropyDesc desc = describe(2, 3);
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
