#include "zero/Training/Weights.h"
#include "TestFiles.h"

namespace zero::training {
namespace {

class WeightsTest : public testing::Test {
protected:
  /// Writes tensors whose bytes are all `index`, but those named in `equal` are zero.
  std::unique_ptr<Safetensors> file(std::vector<TensorSpec> specs,
                                    std::vector<std::string> equal = {}) {
    path = folder.path("w.safetensors");
    expectSuccess(
        writeSafetensors(path, specs, [&](size_t index, llvm::MutableArrayRef<uint8_t> bytes) {
          bool zero = std::find(equal.begin(), equal.end(), specs[index].name) != equal.end();
          std::fill(bytes.begin(), bytes.end(), zero ? 0 : static_cast<uint8_t>(index + 1));
          return llvm::Error::success();
        }));
    return unwrap(openWeights(path));
  }
  static std::vector<std::string> names(const WeightMatch &match) {
    std::vector<std::string> result;
    for (const TensorInfo *tensor : match.tensors)
      result.push_back(tensor->name);
    return result;
  }

  TestFolder folder;
  std::string path;
  std::vector<ParameterSpec> gpt2 = {{"transformer.wte.weight", {5, 4}},
                                     {"transformer.h.0.ln_1.bias", {4}}};
};

TEST_F(WeightsTest, InTheOrderOfParameters) {
  auto weights = file({{"b", DType::F32, {2}}, {"a", DType::BF16, {3, 1}}});
  std::vector<ParameterSpec> parameters = {{"b", {2}}, {"a", {3, 1}}};
  WeightMatch match = unwrap(matchWeights(*weights, parameters));
  EXPECT_EQ(names(match), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(match.warnings.empty());
}

TEST_F(WeightsTest, PrefixMayBeAbsentInTheFile) {
  auto weights = file({{"wte.weight", DType::F32, {5, 4}}, {"h.0.ln_1.bias", DType::F32, {4}}});
  EXPECT_EQ(names(unwrap(matchWeights(*weights, gpt2))),
            (std::vector<std::string>{"wte.weight", "h.0.ln_1.bias"}));
}

TEST_F(WeightsTest, PrefixMayBeAbsentInTheModel) {
  auto weights = file({{"transformer.wte.weight", DType::F32, {5, 4}}});
  std::vector<ParameterSpec> parameters = {{"wte.weight", {5, 4}}};
  EXPECT_EQ(names(unwrap(matchWeights(*weights, parameters))),
            std::vector<std::string>{"transformer.wte.weight"});
}

TEST_F(WeightsTest, BuffersAndTiedCopiesAreIgnored) {
  auto weights = file({{"wte.weight", DType::F32, {5, 4}},
                       {"h.0.ln_1.bias", DType::F32, {4}},
                       {"h.0.attn.bias", DType::U8, {1, 1, 8, 8}},
                       {"h.11.attn.masked_bias", DType::F32, {}},
                       {"lm_head.weight", DType::F32, {5, 4}}},
                      {"wte.weight", "lm_head.weight"});
  EXPECT_TRUE(unwrap(matchWeights(*weights, gpt2)).warnings.empty());
}

TEST_F(WeightsTest, CopiesAndBuffersOfOtherFamilies) {
  auto llama = file({{"model.embed_tokens.weight", DType::F32, {5, 4}},
                     {"lm_head.weight", DType::F32, {5, 4}},
                     {"model.layers.0.self_attn.rotary_emb.inv_freq", DType::F32, {2}}},
                    {"model.embed_tokens.weight", "lm_head.weight"});
  std::vector<ParameterSpec> tied = {{"model.embed_tokens.weight", {5, 4}}};
  EXPECT_TRUE(unwrap(matchWeights(*llama, tied)).warnings.empty());

  auto bert = file({{"bert.embeddings.word_embeddings.weight", DType::F32, {5, 4}},
                    {"bert.embeddings.position_ids", DType::I64, {1, 8}},
                    {"cls.predictions.bias", DType::F32, {5}},
                    {"cls.predictions.decoder.weight", DType::F32, {5, 4}},
                    {"cls.predictions.decoder.bias", DType::F32, {5}}},
                   {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"});
  std::vector<ParameterSpec> parameters = {{"bert.embeddings.word_embeddings.weight", {5, 4}},
                                           {"cls.predictions.bias", {5}}};
  EXPECT_EQ(unwrap(matchWeights(*bert, parameters)).warnings,
            std::vector<std::string>{path + ": 'cls.predictions.decoder.bias' differs from "
                                            "'cls.predictions.bias', and the model ties them: the "
                                            "former is not read"});
}

TEST_F(WeightsTest, OlderNamesOfBert) {
  auto weights = file({{"cls.predictions.decoder.bias", DType::F32, {5}},
                       {"x.LayerNorm.gamma", DType::F32, {4}},
                       {"x.LayerNorm.beta", DType::F32, {4}}});
  std::vector<ParameterSpec> parameters = {
      {"cls.predictions.bias", {5}}, {"x.LayerNorm.weight", {4}}, {"x.LayerNorm.bias", {4}}};
  WeightMatch match = unwrap(matchWeights(*weights, parameters));
  EXPECT_EQ(names(match), (std::vector<std::string>{"cls.predictions.decoder.bias",
                                                    "x.LayerNorm.gamma", "x.LayerNorm.beta"}));
  EXPECT_TRUE(match.warnings.empty());
}

TEST_F(WeightsTest, AnotherHeadIsNoCopy) {
  auto weights = file({{"wte.weight", DType::F32, {5, 4}},
                       {"h.0.ln_1.bias", DType::F32, {4}},
                       {"lm_head.weight", DType::F32, {5, 4}}});
  EXPECT_EQ(unwrap(matchWeights(*weights, gpt2)).warnings,
            std::vector<std::string>{
                path + ": 'lm_head.weight' differs from 'wte.weight', and the model ties them: "
                       "the former is not read"});
}

TEST_F(WeightsTest, AnUntiedHeadIsAParameter) {
  auto weights = file({{"wte.weight", DType::F32, {5, 4}}, {"lm_head.weight", DType::F32, {5, 4}}});
  std::vector<ParameterSpec> parameters = {{"transformer.wte.weight", {5, 4}},
                                           {"lm_head.weight", {5, 4}}};
  WeightMatch match = unwrap(matchWeights(*weights, parameters));
  EXPECT_EQ(names(match), (std::vector<std::string>{"wte.weight", "lm_head.weight"}));
  EXPECT_TRUE(match.warnings.empty());
}

TEST_F(WeightsTest, OtherTensorsAreAWarning) {
  auto weights =
      file({{"a", DType::F32, {1}}, {"h.x.attn.bias", DType::F32, {1}}, {"z", DType::F32, {1}}});
  std::vector<ParameterSpec> parameters = {{"a", {1}}};
  EXPECT_EQ(unwrap(matchWeights(*weights, parameters)).warnings,
            std::vector<std::string>{
                path + ": 2 tensors are not in the model and not read: 'h.x.attn.bias', 'z'"});
}

// All faults at once, one a line.
TEST_F(WeightsTest, Errors) {
  auto weights = file({{"a", DType::F32, {4, 6}}, {"b", DType::I64, {2}}});
  std::vector<ParameterSpec> parameters = {{"a", {6, 4}}, {"b", {2}}, {"c", {1}}, {"d", {1}}};
  EXPECT_EQ(
      errorOf(matchWeights(*weights, parameters)),
      path + ": error: expects tensor 'a' to have shape [6, 4], got [4, 6]\n" + path +
          ": error: expects tensor 'b' to hold floating-point numbers, got I64\n" + path +
          ": error: expects a tensor for each of the model's 4 parameters, and lacks 2: 'c', 'd'");
}

TEST_F(WeightsTest, LongListsAreCut) {
  auto weights = file({});
  std::vector<ParameterSpec> parameters;
  for (char c = 'a'; c < 'k'; ++c)
    parameters.push_back({std::string(1, c), {1}});
  EXPECT_EQ(errorOf(matchWeights(*weights, parameters)),
            path + ": error: expects a tensor for each of the model's 10 parameters, and lacks 10: "
                   "'a', 'b', 'c', "
                   "'d', 'e', 'f', 'g', 'h' and 2 more");
}

} // namespace
} // namespace zero::training
