//===- HfLlama.cpp - the configuration of a LLaMA --------------------------===//

#include "HfReader.h"

namespace zero::training {

LlamaConfig readLlama(HfReader &reader, const HfConfigOptions &options) {
  LlamaConfig config;
  reader.count(config.vocabSize, "vocab_size");
  reader.count(config.positions, "max_position_embeddings");
  reader.count(config.width, "hidden_size");
  reader.count(config.layers, "num_hidden_layers");
  reader.count(config.heads, "num_attention_heads");
  config.keyValueHeads = config.heads;
  reader.count(config.keyValueHeads, "num_key_value_heads");
  reader.count(config.innerWidth, "intermediate_size");
  reader.real(config.rmsNormEpsilon, "rms_norm_eps", /*zeroAllowed=*/false);
  reader.real(config.initializerRange, "initializer_range", /*zeroAllowed=*/true);
  reader.flag(config.tieWordEmbeddings, "tie_word_embeddings");
  reader.flag(config.attentionBias, "attention_bias");
  reader.flag(config.mlpBias, "mlp_bias");
  reader.dropout(config.attentionDropout, "attention_dropout", 0.0, options.noDropout);
  reader.token(config.padding, "pad_token_id", config.vocabSize);

  const llvm::json::Value *headWidth = reader.get("head_dim");
  if (!headWidth && config.width % config.heads != 0)
    reader.fail("num_attention_heads",
                "expects 'num_attention_heads' to divide 'hidden_size' where there is no "
                "'head_dim', got " +
                    llvm::Twine(config.heads) + " and " + llvm::Twine(config.width));
  config.headWidth = config.width / config.heads;
  reader.count(config.headWidth, "head_dim");
  if (config.headWidth % 2 != 0)
    reader.fail(headWidth ? "head_dim" : "num_attention_heads",
                "expects 'head_dim' to be even, as rotary positions turn pairs, got " +
                    llvm::Twine(config.headWidth));
  if (config.heads % config.keyValueHeads != 0)
    reader.fail("num_key_value_heads",
                "expects 'num_key_value_heads' to divide 'num_attention_heads', got " +
                    llvm::Twine(config.keyValueHeads) + " and " + llvm::Twine(config.heads));
  config.rope = readRope(reader, config.positions, config.headWidth);

  const llvm::json::Value *activation = reader.get("hidden_act");
  std::optional<llvm::StringRef> name = activation ? activation->getAsString() : std::nullopt;
  if (activation && name != "silu" && name != "swish")
    reader.fail("hidden_act", "expects 'hidden_act' to be silu: no other is supported, got " +
                                  HfReader::print(*activation));
  reader.refuseCommonSwitches();
  for (llvm::StringRef key : {"use_sliding_window", "rope_interleaved", "use_qk_norm", "qk_norm"})
    reader.refuse(key);
  for (llvm::StringRef key : {"sliding_window", "quantization_config"})
    reader.refuseUnlessNull(key);
  if (const llvm::json::Value *kinds = reader.get("layer_types")) {
    auto isFull = [](const llvm::json::Value &kind) {
      return kind.getAsString() == "full_attention";
    };
    if (!kinds->getAsArray() || !llvm::all_of(*kinds->getAsArray(), isFull))
      reader.fail("layer_types", "expects 'layer_types' to be full_attention throughout: no other "
                                 "is supported, got " +
                                     HfReader::print(*kinds));
  }
  // `pretraining_tp` cuts products into slices with the same sum; nothing reads the others.
  reader.ignore({"is_decoder", "is_llama_config", "max_sequence_length", "pretraining_tp"});
  reader.unknownKeys("LLaMA");
  return config;
}

} // namespace zero::training
