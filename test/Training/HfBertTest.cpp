#include "TestFiles.h"
#include "zero/Training/HfConfig.h"

namespace zero::training {
namespace {

const std::string kNoDropout = R"("hidden_dropout_prob":0,"attention_probs_dropout_prob":0)";

std::string with(const std::string &keys) {
  return "{\"model_type\":\"bert\"," + kNoDropout + (keys.empty() ? "" : ",") + keys + "}";
}
BertConfig parsed(const std::string &keys) {
  return std::get<BertConfig>(unwrap(parseModelConfig(with(keys), "c.json")));
}
/// The message on a bad value of the first key, which begins at column
/// 1 + strlen(`{"model_type":"bert",`) + strlen(kNoDropout) + 1 = 1 + 21 + 56 + 1 = 79.
std::string refused(const std::string &keys) {
  std::string whole = errorOf(parseModelConfig(with(keys), "c.json"));
  llvm::StringRef message = whole;
  EXPECT_TRUE(message.consume_front("c.json:1:79: error: ")) << whole;
  return message.str();
}

TEST(HfBert, DefaultsAreThoseOfTheBase) {
  BertConfig config = parsed("");
  EXPECT_EQ(config.vocabSize, 30522);
  EXPECT_EQ(config.positions, 512);
  EXPECT_EQ(config.tokenTypes, 2);
  EXPECT_EQ(config.width, 768);
  EXPECT_EQ(config.layers, 12);
  EXPECT_EQ(config.heads, 12);
  EXPECT_EQ(config.innerWidth, 3072);
  EXPECT_EQ(config.activation, Activation::GeluErf);
  EXPECT_EQ(config.layerNormEpsilon, 1e-12);
  EXPECT_EQ(config.initializerRange, 0.02);
  EXPECT_EQ(config.padding, 0);
}

TEST(HfBert, GoldenFile) {
  BertConfig config = std::get<BertConfig>(
      unwrap(readModelConfig(ZERO_TEST_DATA_DIR "/Integration/golden/bert/config.json")));
  EXPECT_EQ(config.vocabSize, 128);
  EXPECT_EQ(config.width, 48);
  EXPECT_EQ(config.heads, 3);
  EXPECT_EQ(config.innerWidth, 96);
  EXPECT_EQ(config.positions, 32);
}

TEST(HfBert, AllKeys) {
  BertConfig config =
      parsed(R"("vocab_size":101,"max_position_embeddings":16,"type_vocab_size":1,)"
             R"("hidden_size":35,"num_hidden_layers":3,"num_attention_heads":7,)"
             R"("intermediate_size":33,"hidden_act":"relu","layer_norm_eps":1e-5,)"
             R"("initializer_range":0.1,"pad_token_id":null,"tie_word_embeddings":true)");
  EXPECT_EQ(config.tokenTypes, 1);
  EXPECT_EQ(config.headWidth(), 5);
  EXPECT_EQ(config.innerWidth, 33);
  EXPECT_EQ(config.activation, Activation::Relu);
  EXPECT_FALSE(config.padding.has_value());
}

TEST(HfBert, HarmlessKeys) {
  parsed(R"("architectures":["BertForMaskedLM"],"position_embedding_type":"absolute",)"
         R"("classifier_dropout":0.1,"pooler_type":"first_token_transform","is_decoder":false,)"
         R"("gradient_checkpointing":false,"chunk_size_feed_forward":0,"directionality":"bidi")");
}

TEST(HfBert, SwitchesThatAreNotSupportedAreNamed) {
  EXPECT_EQ(refused(R"("position_embedding_type":"relative_key")"),
            "expects 'position_embedding_type' to be absolute: no other is supported, got "
            "\"relative_key\"");
  EXPECT_EQ(refused(R"("is_decoder":true)"),
            "expects 'is_decoder' to be false: it is not supported");
  EXPECT_EQ(refused(R"("tie_word_embeddings":false)"),
            "expects 'tie_word_embeddings' to be true: a decoder of its own is not supported");
  EXPECT_EQ(refused(R"("hidden_act":"mish")"),
            "expects 'hidden_act' to be one of gelu_new, gelu, relu, silu, got \"mish\"");
  EXPECT_EQ(refused(R"("embedding_size":128)"),
            "expects keys of a BERT configuration, got 'embedding_size', which may change the "
            "model and is not known here");
  EXPECT_EQ(refused(R"("num_attention_heads":5)"),
            "expects 'num_attention_heads' to divide 'hidden_size', got 5 and 768");
}

TEST(HfBert, Dropout) {
  auto parse = [](const char *text, bool noDropout) {
    return std::get<BertConfig>(unwrap(parseModelConfig(text, "c.json", {noDropout})));
  };
  BertConfig config = parse(R"({"model_type":"bert","attention_probs_dropout_prob":0.2})", false);
  EXPECT_EQ(config.hiddenDropout, 0.1); // Hugging Face's default
  EXPECT_EQ(config.attentionDropout, 0.2);
  config = parse(R"({"model_type":"bert"})", true);
  EXPECT_EQ(config.hiddenDropout, 0.0);
  EXPECT_EQ(config.attentionDropout, 0.0);
}

} // namespace
} // namespace zero::training
