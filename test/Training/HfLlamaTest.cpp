#include "TestFiles.h"
#include "zero/Training/HfConfig.h"

namespace zero::training {
namespace {

std::string with(const std::string &keys) {
  return "{\"model_type\":\"llama\"" + (keys.empty() ? "" : "," + keys) + "}";
}
LlamaConfig parsed(const std::string &keys) {
  return std::get<LlamaConfig>(unwrap(parseModelConfig(with(keys), "c.json")));
}
/// The message on a bad value of the first key, which begins at column
/// 1 + strlen(`{"model_type":"llama",`) = 23.
std::string refused(const std::string &keys) {
  std::string whole = errorOf(parseModelConfig(with(keys), "c.json"));
  llvm::StringRef message = whole;
  EXPECT_TRUE(message.consume_front("c.json:1:23: error: ")) << whole;
  return message.str();
}

TEST(HfLlama, DefaultsAreThoseOf7B) {
  LlamaConfig config = parsed("");
  EXPECT_EQ(config.vocabSize, 32000);
  EXPECT_EQ(config.positions, 2048);
  EXPECT_EQ(config.width, 4096);
  EXPECT_EQ(config.layers, 32);
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.keyValueHeads, 32);
  EXPECT_EQ(config.headWidth, 128);
  EXPECT_EQ(config.innerWidth, 11008);
  EXPECT_EQ(config.rmsNormEpsilon, 1e-6);
  EXPECT_EQ(config.initializerRange, 0.02);
  EXPECT_FALSE(config.tieWordEmbeddings || config.attentionBias || config.mlpBias);
  EXPECT_EQ(config.rope.kind, RopeKind::Default);
  EXPECT_EQ(config.rope.base, 10000.0);
  EXPECT_FALSE(config.padding.has_value());
  EXPECT_EQ(config.attentionDropout, 0.0);
}

TEST(HfLlama, GoldenFile) {
  LlamaConfig config = std::get<LlamaConfig>(
      unwrap(readModelConfig(ZERO_TEST_DATA_DIR "/Integration/golden/llama/config.json")));
  EXPECT_EQ(config.width, 48);
  EXPECT_EQ(config.heads, 6);
  EXPECT_EQ(config.keyValueHeads, 2);
  EXPECT_EQ(config.headWidth, 8);
  EXPECT_EQ(config.innerWidth, 88);
  EXPECT_EQ(config.rope.kind, RopeKind::Default);
  EXPECT_FALSE(config.tieWordEmbeddings);
}

TEST(HfLlama, AllKeys) {
  LlamaConfig config =
      parsed(R"("vocab_size":101,"max_position_embeddings":16,"hidden_size":20,)"
             R"("num_hidden_layers":3,"num_attention_heads":6,"num_key_value_heads":1,)"
             R"("head_dim":4,"intermediate_size":33,"hidden_act":"swish","rms_norm_eps":1e-5,)"
             R"("initializer_range":0.1,"tie_word_embeddings":true,"attention_bias":true,)"
             R"("mlp_bias":true,"rope_theta":500000.0,"pad_token_id":-1,"attention_dropout":0.1)");
  EXPECT_EQ(config.heads, 6);
  EXPECT_EQ(config.keyValueHeads, 1);
  EXPECT_EQ(config.headWidth, 4); // 20 / 6 is no head width, but there is a head_dim
  EXPECT_EQ(config.innerWidth, 33);
  EXPECT_EQ(config.rmsNormEpsilon, 1e-5);
  EXPECT_TRUE(config.tieWordEmbeddings && config.attentionBias && config.mlpBias);
  EXPECT_EQ(config.rope.base, 500000.0);
  EXPECT_EQ(config.padding, 100); // from the end
  EXPECT_EQ(config.attentionDropout, 0.1);
}

TEST(HfLlama, HarmlessKeys) {
  parsed(R"("architectures":["LlamaForCausalLM"],"pretraining_tp":1,"use_cache":true,)"
         R"("torch_dtype":"bfloat16","eos_token_id":[1,2],"max_sequence_length":2048,)"
         R"("sliding_window":null,"use_sliding_window":false,"layer_types":["full_attention"],)"
         R"("partial_rotary_factor":1.0,"is_llama_config":true,"rope_interleaved":false,)"
         R"("transformers.js_config":{"dtype":"q4"},"unsloth_fixed":true)");
}

TEST(HfLlama, SwitchesThatAreNotSupportedAreNamed) {
  EXPECT_EQ(refused(R"("sliding_window":4096)"),
            "expects 'sliding_window' to be null: it is not supported");
  EXPECT_EQ(refused(R"("use_sliding_window":true)"),
            "expects 'use_sliding_window' to be false: it is not supported");
  EXPECT_EQ(refused(R"("layer_types":["full_attention","sliding_attention"])"),
            "expects 'layer_types' to be full_attention throughout: no other is supported, got "
            "[\"full_attention\",\"sliding_attention\"]");
  EXPECT_EQ(refused(R"("hidden_act":"gelu")"),
            "expects 'hidden_act' to be silu: no other is supported, got \"gelu\"");
  EXPECT_EQ(refused(R"("partial_rotary_factor":0.5)"),
            "expects 'partial_rotary_factor' to be 1: no other is supported");
  EXPECT_EQ(refused(R"("quantization_config":{"bits":4})"),
            "expects 'quantization_config' to be null: it is not supported");
  EXPECT_EQ(refused(R"("add_cross_attention":true)"),
            "expects 'add_cross_attention' to be false: it is not supported");
  EXPECT_EQ(refused(R"("logits_scaling":2.0)"),
            "expects keys of a LLaMA configuration, got 'logits_scaling', which may change the "
            "model and is not known here");
  EXPECT_EQ(refused(R"("attention_dropout":1.0)"),
            "expects 'attention_dropout' to be at least 0 and less than 1, got 1");
}

TEST(HfLlama, SizesThatDoNotFit) {
  EXPECT_EQ(refused(R"("num_attention_heads":3)"),
            "expects 'num_attention_heads' to divide 'hidden_size' where there is no 'head_dim', "
            "got 3 and 4096");
  EXPECT_EQ(refused(R"("num_key_value_heads":5)"),
            "expects 'num_key_value_heads' to divide 'num_attention_heads', got 5 and 32");
  EXPECT_EQ(refused(R"("head_dim":5)"),
            "expects 'head_dim' to be even, as rotary positions turn pairs, got 5");
  EXPECT_EQ(refused(R"("num_attention_heads":4096)"),
            "expects 'head_dim' to be even, as rotary positions turn pairs, got 1");
  EXPECT_EQ(refused(R"("pad_token_id":32000)"),
            "expects 'pad_token_id' to be a token of the 32000 of the vocabulary, got 32000");
}

// Rotary positions, in both spellings.

RopeConfig rope(const std::string &keys) { return parsed(keys).rope; }

TEST(HfRope, BothSpellingsOfTheBase) {
  EXPECT_EQ(rope(R"("rope_theta":3.0)").base, 3.0);
  EXPECT_EQ(rope(R"("rope_parameters":{"rope_theta":3.0,"rope_type":"default"})").base, 3.0);
  EXPECT_EQ(rope(R"("rope_theta":3.0,"rope_scaling":{"type":"linear","factor":2})").base, 3.0);
  EXPECT_EQ(rope(R"("rope_theta":3.0,"rope_parameters":{"rope_theta":3,"type":"default"})").base,
            3.0);
  EXPECT_EQ(refused(R"("rope_theta":4.0,"rope_parameters":{"rope_theta":3.0})"),
            "expects 'rope_theta' to agree with 'rope_parameters.rope_theta'");
}

TEST(HfRope, KindsInBothSpellings) {
  for (std::string key : {"rope_scaling", "rope_parameters"})
    for (std::string type : {"type", "rope_type"}) {
      auto scaled = [&](const std::string &kind, const std::string &more) {
        return rope("\"" + key + "\":{\"" + type + "\":\"" + kind + "\"" + more + "}");
      };
      EXPECT_EQ(scaled("default", "").kind, RopeKind::Default);
      EXPECT_EQ(scaled("linear", ",\"factor\":2.5").kind, RopeKind::Linear);
      EXPECT_EQ(scaled("linear", ",\"factor\":2.5").factor, 2.5);
      EXPECT_EQ(scaled("dynamic", ",\"factor\":4").kind, RopeKind::Dynamic);
      RopeConfig llama3 = scaled("llama3", R"(,"factor":8,"low_freq_factor":2,)"
                                           R"("high_freq_factor":5,)"
                                           R"("original_max_position_embeddings":8192)");
      EXPECT_EQ(llama3.kind, RopeKind::Llama3);
      EXPECT_EQ(llama3.lowFrequencyFactor, 2.0);
      EXPECT_EQ(llama3.highFrequencyFactor, 5.0);
      EXPECT_EQ(llama3.originalPositions, 8192);
      RopeConfig yarn = scaled("yarn", R"(,"factor":4,"beta_fast":16,"beta_slow":2,)"
                                       R"("attention_factor":1.5,"truncate":false,"mscale":1,)"
                                       R"("mscale_all_dim":0.5)");
      EXPECT_EQ(yarn.kind, RopeKind::Yarn);
      EXPECT_EQ(yarn.originalPositions, 2048); // the model's own, where none are given
      EXPECT_EQ(yarn.betaFast, 16.0);
      EXPECT_EQ(yarn.betaSlow, 2.0);
      EXPECT_EQ(yarn.attentionFactor, 1.5);
      EXPECT_FALSE(yarn.truncate);
    }
  EXPECT_EQ(rope(R"("rope_scaling":null)").kind, RopeKind::Default);
  // Outside of the object, where some files have it, and without a factor: 2048 / 512.
  RopeConfig yarn = rope(R"("original_max_position_embeddings":512,)"
                         R"("rope_scaling":{"type":"yarn","original_max_position_embeddings":64})");
  EXPECT_EQ(yarn.originalPositions, 512);
  EXPECT_EQ(yarn.factor, 4.0);
}

TEST(HfRope, KindsThatAreNotSupportedAreNamed) {
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"longrope","short_factor":[1]})"),
            "expects 'rope_scaling.type' to be one of default, linear, dynamic, llama3, yarn, got "
            "\"longrope\"");
  EXPECT_EQ(refused(R"("rope_parameters":{"rope_type":"proportional"})"),
            "expects 'rope_parameters.rope_type' to be one of default, linear, dynamic, llama3, "
            "yarn, got \"proportional\"");
  EXPECT_EQ(refused(R"("rope_parameters":{"rope_type":"default","partial_rotary_factor":0.5})"),
            "expects 'rope_parameters.partial_rotary_factor' to be 1: no other is supported");
  EXPECT_EQ(refused(R"("rope_parameters":{"full_attention":{"rope_type":"default"}})"),
            "expects keys of the rotary scaling 'default', got 'rope_parameters.full_attention'");
}

TEST(HfRope, KeysOfTheKind) {
  EXPECT_EQ(refused(R"("rope_scaling":{"factor":2.0})"),
            "expects keys of the rotary scaling 'default', got 'rope_scaling.factor'");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear"})"),
            "expects 'rope_scaling.factor' for the rotary scaling 'linear', got none");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"yarn"})"),
            "expects 'rope_scaling.factor' for the rotary scaling 'yarn', got none");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"llama3","factor":8,"low_freq_factor":1})"),
            "expects 'rope_scaling.high_freq_factor' for the rotary scaling 'llama3', got none");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear","factor":2,"beta_fast":2})"),
            "expects keys of the rotary scaling 'linear', got 'rope_scaling.beta_fast'");
}

TEST(HfRope, BadValues) {
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear","factor":0})"),
            "expects 'rope_scaling.factor' to be a positive number, got 0");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear","factor":"2"})"),
            "expects 'rope_scaling.factor' to be a positive number, got \"2\"");
  EXPECT_EQ(refused(R"("rope_scaling":[1])"), "expects 'rope_scaling' to be an object, got [1]");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":3})"),
            "expects 'rope_scaling.type' to be one of default, linear, dynamic, llama3, yarn, got "
            "3");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear","rope_type":"yarn","factor":2})"),
            "expects 'rope_scaling.type' to agree with 'rope_scaling.rope_type', its other name");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"linear","factor":2},"rope_parameters":{})"),
            "expects one of 'rope_parameters' and 'rope_scaling', got both, and they differ");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"llama3","factor":8,"low_freq_factor":4,)"
                    R"("high_freq_factor":4})"),
            "expects 'rope_scaling.high_freq_factor' to be greater than "
            "'rope_scaling.low_freq_factor'");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"yarn","factor":2,"truncate":1})"),
            "expects 'rope_scaling.truncate' to be true or false, got 1");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"yarn","original_max_position_embeddings":1.5})"),
            "expects 'rope_scaling.original_max_position_embeddings' to be an integer of at least "
            "1, got 1.5");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"yarn","factor":2},"rope_theta":1.0)"),
            "expects a 'rope_theta' greater than 1 for the rotary scaling 'yarn'");
  EXPECT_EQ(refused(R"("rope_scaling":{"type":"dynamic","factor":2},"head_dim":2)"),
            "expects a 'head_dim' greater than 2 for the rotary scaling 'dynamic', got 2");
  EXPECT_EQ(refused(R"("rope_theta":-1)"), "expects 'rope_theta' to be a positive number, got -1");
}

} // namespace
} // namespace zero::training
