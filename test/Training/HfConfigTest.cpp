#include "zero/Training/HfConfig.h"
#include "TestFiles.h"

namespace zero::training {
namespace {

const std::string kNoDropout = R"("resid_pdrop":0,"embd_pdrop":0.0,"attn_pdrop":0)";

/// A configuration of these keys, without dropout, on one line.
std::string with(const std::string &keys) {
  return "{\"model_type\":\"gpt2\"," + kNoDropout + (keys.empty() ? "" : ",") + keys + "}";
}
Gpt2Config parsed(const std::string &keys) {
  return std::get<Gpt2Config>(unwrap(parseModelConfig(with(keys), "c.json")));
}
std::string refused(const std::string &text) { return errorOf(parseModelConfig(text, "c.json")); }
/// For a bad value of the first key after `with`'s own, which begins at column
/// 1 + strlen(`{"model_type":"gpt2",`) + strlen(kNoDropout) + 1 = 1 + 21 + 47 + 1 = 70.
std::string refusedKey(const std::string &keys) {
  std::string whole = refused(with(keys));
  llvm::StringRef message = whole;
  EXPECT_TRUE(message.consume_front("c.json:1:70: error: ")) << whole;
  return message.str();
}

TEST(HfConfig, DefaultsAreTheSmallestGpt2) {
  Gpt2Config config = parsed("");
  EXPECT_EQ(config.vocabSize, 50257);
  EXPECT_EQ(config.positions, 1024);
  EXPECT_EQ(config.width, 768);
  EXPECT_EQ(config.layers, 12);
  EXPECT_EQ(config.heads, 12);
  EXPECT_EQ(config.innerWidth, 3072);
  EXPECT_EQ(config.activation, Activation::GeluTanh);
  EXPECT_EQ(config.layerNormEpsilon, 1e-5);
  EXPECT_EQ(config.initializerRange, 0.02);
  EXPECT_TRUE(config.tieWordEmbeddings);
  EXPECT_EQ(config.attentionScale(5), 0.125); // 1/sqrt(64)
}

TEST(HfConfig, GoldenFile) {
  Gpt2Config config = std::get<Gpt2Config>(
      unwrap(readModelConfig(ZERO_TEST_DATA_DIR "/Integration/golden/gpt2/config.json")));
  EXPECT_EQ(config.vocabSize, 128);
  EXPECT_EQ(config.positions, 32);
  EXPECT_EQ(config.width, 48);
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.heads, 3);
  EXPECT_EQ(config.innerWidth, 192); // n_inner is null
  EXPECT_EQ(config.attentionScale(0), 0.25);
}

TEST(HfConfig, AllKeys) {
  Gpt2Config config =
      parsed(R"("vocab_size":100,"n_positions":16,"n_embd":8,"n_layer":3,"n_head":2,"n_inner":20,)"
             R"("activation_function":"relu","layer_norm_epsilon":1e-6,"initializer_range":0,)"
             R"("tie_word_embeddings":false,"scale_attn_weights":false,)"
             R"("scale_attn_by_inverse_layer_idx":true)");
  EXPECT_EQ(config.vocabSize, 100);
  EXPECT_EQ(config.innerWidth, 20);
  EXPECT_EQ(config.activation, Activation::Relu);
  EXPECT_EQ(config.layerNormEpsilon, 1e-6);
  EXPECT_EQ(config.initializerRange, 0);
  EXPECT_FALSE(config.tieWordEmbeddings);
  EXPECT_EQ(config.attentionScale(0), 1.0);
  EXPECT_EQ(config.attentionScale(3), 0.25); // 1/(3 + 1)
}

TEST(HfConfig, Activations) {
  auto activation = [](const std::string &name) {
    return parsed("\"activation_function\":\"" + name + "\"").activation;
  };
  EXPECT_EQ(activation("gelu_new"), Activation::GeluTanh);
  EXPECT_EQ(activation("gelu"), Activation::GeluErf);
  EXPECT_EQ(activation("silu"), Activation::Silu);
  EXPECT_EQ(refusedKey(R"("activation_function":"tanh")"),
            "expects 'activation_function' to be one of gelu_new, gelu, relu, silu, got \"tanh\"");
}

TEST(HfConfig, OtherNamesOfSizes) {
  EXPECT_EQ(parsed(R"("hidden_size":24,"num_attention_heads":4,"num_hidden_layers":1)").headWidth(),
            6);
  EXPECT_EQ(parsed(R"("hidden_size":24,"n_embd":24)").width, 24);
  EXPECT_EQ(refusedKey(R"("hidden_size":24,"n_embd":48)"),
            "expects 'hidden_size' to agree with 'n_embd', its other name");
}

TEST(HfConfig, HarmlessKeys) {
  parsed(
      R"("architectures":["GPT2LMHeadModel"],"torch_dtype":"float32","transformers_version":"4.1","n_ctx":1024,)"
      R"("summary_first_dropout":0.1,"_name_or_path":"gpt2","task_specific_params":{"text-generation":{}},)"
      R"("use_cache":true,"bos_token_id":50256,"pruned_heads":{},"is_encoder_decoder":false)");
}

TEST(HfConfig, UnknownKeysAreNamed) {
  EXPECT_EQ(refusedKey(R"("rotary_dim":64,"another":1)"),
            "expects keys of a GPT-2 configuration, got 'rotary_dim', which may change the model "
            "and is not known here");
}

TEST(HfConfig, UnsupportedSwitches) {
  for (const char *key : {"reorder_and_upcast_attn", "add_cross_attention", "is_encoder_decoder"}) {
    std::string quotedKey = "'" + std::string(key) + "'";
    EXPECT_EQ(refusedKey("\"" + std::string(key) + "\":true"),
              "expects " + quotedKey + " to be false: it is not supported");
  }
  EXPECT_EQ(refusedKey(R"("pruned_heads":{"0":[1]})"),
            "expects 'pruned_heads' to be empty: it is not supported");
}

TEST(HfConfig, ModelType) {
  EXPECT_EQ(refused("{\n  \"model_type\": \"mamba\"\n}"),
            "c.json:2:3: error: expects a 'model_type' that is supported (gpt2, llama, bert), got "
            "'mamba'");
  EXPECT_EQ(
      refused("{}"),
      "c.json: error: expects a 'model_type' that is supported (gpt2, llama, bert), got none");
  EXPECT_EQ(
      refused(R"({"model_type":3})"),
      "c.json:1:2: error: expects a 'model_type' that is supported (gpt2, llama, bert), got 3");
}

TEST(HfConfig, Dropout) {
  auto rates = [](const std::string &keys, bool noDropout) {
    Gpt2Config config = std::get<Gpt2Config>(
        unwrap(parseModelConfig("{\"model_type\":\"gpt2\"" + keys + "}", "c.json", {noDropout})));
    return std::vector<double>{config.embeddingDropout, config.attentionDropout,
                               config.residualDropout};
  };
  // Hugging Face's default is 0.1.
  EXPECT_EQ(rates("", false), (std::vector<double>{0.1, 0.1, 0.1}));
  EXPECT_EQ(rates(R"(,"embd_pdrop":0.2,"attn_pdrop":0,"resid_pdrop":0.3)", false),
            (std::vector<double>{0.2, 0.0, 0.3}));
  EXPECT_EQ(rates(R"(,"embd_pdrop":0.2)", true), (std::vector<double>{0.0, 0.0, 0.0}));
  // A wrong rate is one also where it is left out.
  for (std::string wrong : {"1.5", "1", "-0.1", "\"a\"", "null"})
    EXPECT_EQ(errorOf(parseModelConfig(R"({"model_type":"gpt2","resid_pdrop":)" + wrong + "}",
                                       "c.json", {/*noDropout=*/true})),
              "c.json:1:22: error: expects 'resid_pdrop' to be at least 0 and less than 1, got " +
                  wrong);
}

TEST(HfConfig, BadValues) {
  for (const char *value : {"0", "-1", "1.5", "\"8\"", "2147483648", "true"})
    EXPECT_EQ(refusedKey(std::string("\"n_layer\":") + value),
              std::string("expects 'n_layer' to be an integer between 1 and 2147483647, got ") +
                  value);
  EXPECT_EQ(refusedKey(R"("layer_norm_epsilon":0)"),
            "expects 'layer_norm_epsilon' to be a positive number, got 0");
  EXPECT_EQ(refusedKey(R"("initializer_range":-1)"),
            "expects 'initializer_range' to be a non-negative number, got -1");
  EXPECT_EQ(refusedKey(R"("tie_word_embeddings":1)"),
            "expects 'tie_word_embeddings' to be true or false, got 1");
  EXPECT_EQ(refusedKey(R"("n_head":5)"), "expects 'n_head' to divide 'n_embd', got 5 and 768");
}

TEST(HfConfig, NotJson) {
  EXPECT_EQ(refused("{\n \"n_embd\": 3,\n}"),
            "c.json:3:1: error: expects JSON: Expected object key");
  EXPECT_EQ(refused("{}\n x"), "c.json:2:2: error: expects JSON: Text after end of document");
  EXPECT_EQ(refused("{\n"), "c.json:1:2: error: expects JSON: Expected object key");
  EXPECT_EQ(refused("[1]"), "c.json:1:1: error: expects a JSON object");
  EXPECT_EQ(refused("{\"n_head\":1,\n \"n_head\":2}"),
            "c.json:2:2: error: expects each key once, got 'n_head' twice");
  TestFolder folder;
  EXPECT_EQ(errorOf(readModelConfig(folder.path("none.json"))),
            folder.path("none.json") + ": error: cannot read the file: No such file or directory");
}

} // namespace
} // namespace zero::training
