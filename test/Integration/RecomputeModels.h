//===- RecomputeModels.h - models whose layers are counted by hand ------------===//
#ifndef ZERO_TEST_INTEGRATION_RECOMPUTEMODELS_H
#define ZERO_TEST_INTEGRATION_RECOMPUTEMODELS_H

#include "Cases.h"

#include <gtest/gtest.h>

namespace zero::test {

inline constexpr const char *kPolicies[] = {"every-block", "min-cut"};

/// `layers` times linear to 4·16, gelu, linear back to 16, and the residual; 4 rows of f32.
inline std::string deepModel(int layers) {
  std::string text, body, h = "%x";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    text += "nn.param @a" + n + " : tensor<16x64xf32> init normal(0.1)\nnn.param @b" + n +
            " : tensor<64x16xf32> init normal(0.1)\n";
    body += "%a" + n + " = nn.read @a" + n + " : tensor<16x64xf32>\n%b" + n + " = nn.read @b" + n +
            " : tensor<64x16xf32>\n%u" + n + " = nn.linear " + h + ", %a" + n +
            " : (tensor<4x16xf32>, tensor<16x64xf32>) -> tensor<4x64xf32>\n%g" + n +
            " = nn.gelu tanh %u" + n + " : tensor<4x64xf32>\n%y" + n + " = nn.linear %g" + n +
            ", %b" + n + " : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>\n%h" + n +
            " = nn.add " + h + ", %y" + n +
            " : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>\n";
    h = "%h" + n;
  }
  return text + "func.func @loss(%x: tensor<4x16xf32>, %labels: tensor<4xi32>) -> tensor<f32> {\n" +
         body + "%l = nn.cross_entropy " + h +
         ", %labels ignoring -100 : (tensor<4x16xf32>, tensor<4xi32>) -> tensor<f32>\n"
         "return %l : tensor<f32>\n}\n";
}

/// `bucketBytes`: 8192 holds the two weights of a layer, 2 · 16 · 64 · 4 bytes.
inline Report plan(const std::string &model, const std::string &policy, int64_t stage,
                   int64_t bucketBytes = 8192, int64_t holdBytes = -1,
                   std::optional<int64_t> memoryBudget = std::nullopt) {
  TrainOptions options;
  options.compile.ranks = 2;
  options.compile.stage = stage;
  options.compile.bucketBytes = bucketBytes;
  options.compile.holdBytes = holdBytes;
  options.compile.recompute = policy;
  options.memoryBudget = memoryBudget;
  auto module = parseModel(model);
  auto report = module ? planModule(sharedCompiler(), **module, options) : module.takeError();
  if (!report) {
    ADD_FAILURE() << llvm::toString(report.takeError());
    return {};
  }
  return *report;
}

} // namespace zero::test

#endif // ZERO_TEST_INTEGRATION_RECOMPUTEMODELS_H
