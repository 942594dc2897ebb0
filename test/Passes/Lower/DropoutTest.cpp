//===- DropoutTest.cpp - masks of generated kernels against their definition ----------===//

#include "KernelHarness.h"

#include "zero/Runtime/Random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zero::testing {
namespace {

Bytes words(std::vector<uint32_t> values) {
  Bytes bytes(values.size() * sizeof(uint32_t));
  memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> maskOf(Kernels &kernels, llvm::StringRef name, const zrt::RandomState &state,
                          uint32_t site) {
  int64_t count = llvm::cast<mlir::RankedTensorType>(kernels.kernel(name).getArgumentTypes()[0])
                      .getNumElements();
  std::vector<Bytes> arguments = {
      bytesOf(std::vector<float>(count, 1.0f)),
      words({state.seedLow, state.seedHigh, state.step, state.firstSample}), words({site})};
  return floatsOf(kernels.call(name, arguments)[0]);
}

/// Kernels over `shape`, whose rows are aligned blocks of four or are not.
std::unique_ptr<Kernels> masksOver(const std::string &shape, const std::string &samples) {
  return Kernels::compile("zero.kernel @k(%x: tensor<" + shape +
                          "xf32>, %r: tensor<4xi32>, %s: tensor<1xi32>) -> tensor<" + shape +
                          "xf32> kind generated {\n  %0 = nn.dropout %x rate 0.1 keyed by %r, %s " +
                          "samples " + samples + " : tensor<" + shape +
                          "xf32>\n  zero.yield %0 : tensor<" + shape + "xf32>\n}");
}

/// All 128 bits of the counter and all 64 of the key, seen from words beyond the sign bit; sample
/// numbers wrap round.
TEST(Dropout, everyElementIsItsWordsAffair) {
  const std::pair<const char *, int64_t> shapes[] = {{"5x64", 64}, {"5x7x9", 63}, {"5x3", 3}};
  for (auto [shape, perSample] : shapes) {
    auto kernels = masksOver(shape, "5");
    ASSERT_TRUE(kernels);
    for (zrt::RandomState state :
         {zrt::RandomState{0, 0, 0, 0}, {0xdeadbeef, 0x80000001, 0x7fffffff, 0xfffffffe}})
      for (uint32_t site : {0u, 0xfedcba98u}) {
        std::vector<float> mask = maskOf(*kernels, "k", state, site);
        for (size_t i = 0; i < mask.size(); ++i) {
          auto sample = state.firstSample + static_cast<uint32_t>(i / perSample);
          uint32_t word =
              zrt::dropoutWord(state, site, sample, static_cast<int64_t>(i % perSample));
          bool isDropped = word < zrt::dropoutThreshold(0.1);
          ASSERT_EQ(mask[i], isDropped ? 0.0f : static_cast<float>(1.0 / 0.9))
              << shape << ", site " << site << ", element " << i;
        }
      }
  }
}

/// A change of seed, step, site or sample changes the mask; of 65,536 elements a tenth is dropped,
/// within 5 deviations of √(65,536 · 0.1 · 0.9) = 77.
TEST(Dropout, masksAreOtherOnesAndOfTheRate) {
  auto kernels = masksOver("4x16384", "4");
  ASSERT_TRUE(kernels);
  const zrt::RandomState base{1, 2, 3, 4};
  std::vector<std::vector<float>> masks;
  for (zrt::RandomState state : {base, {2, 2, 3, 4}, {1, 3, 3, 4}, {1, 2, 4, 4}, {1, 2, 3, 8}})
    masks.push_back(maskOf(*kernels, "k", state, 7));
  masks.push_back(maskOf(*kernels, "k", base, 8));
  for (size_t a = 0; a < masks.size(); ++a) {
    EXPECT_NEAR(std::count(masks[a].begin(), masks[a].end(), 0.0f), 6554, 5 * 77);
    for (size_t b = 0; b < a; ++b) {
      // Independent masks share a hundredth: 655 of 65,536, deviation 25.
      int64_t both = 0;
      for (size_t i = 0; i < masks[a].size(); ++i)
        both += masks[a][i] == 0.0f && masks[b][i] == 0.0f;
      EXPECT_NEAR(both, 655, 5 * 25) << a << " and " << b;
    }
  }
  // Samples of one batch differ too, and a sample keeps its mask wherever the batch begins.
  std::vector<float> later = maskOf(*kernels, "k", {1, 2, 3, 5}, 7);
  auto at = [](const std::vector<float> &mask, int64_t sample) {
    return std::vector<float>(mask.begin() + sample * 16384, mask.begin() + (sample + 1) * 16384);
  };
  EXPECT_NE(at(masks[0], 0), at(masks[0], 1));
  EXPECT_EQ(at(masks[0], 1), at(later, 0));
}

/// What is dropped is 0, whatever it was.
TEST(Dropout, dropsWhatIsNotFinite) {
  auto kernels = masksOver("5x64", "5");
  ASSERT_TRUE(kernels);
  std::vector<float> mask = maskOf(*kernels, "k", {1, 2, 3, 4}, 7);
  std::vector<Bytes> arguments = {bytesOf(std::vector<float>(320, NAN)), words({1, 2, 3, 4}),
                                  words({7})};
  std::vector<float> got = floatsOf(kernels->call("k", arguments)[0]);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::isnan(got[i]), mask[i] != 0.0f) << i;
}

} // namespace
} // namespace zero::testing
