//===- HfGpt2.cpp - the configuration of a GPT-2 ---------------------------===//

#include "HfReader.h"

#include <cmath>

namespace zero::training {

double Gpt2Config::attentionScale(int64_t layer) const {
  double scale = scaleAttention ? 1.0 / std::sqrt(static_cast<double>(headWidth())) : 1.0;
  return scaleAttentionByInverseLayer ? scale / static_cast<double>(layer + 1) : scale;
}

Gpt2Config readGpt2(HfReader &reader, const HfConfigOptions &options) {
  Gpt2Config config;
  reader.count(config.vocabSize, "vocab_size");
  reader.count(config.positions, "n_positions", "max_position_embeddings");
  reader.count(config.width, "n_embd", "hidden_size");
  reader.count(config.layers, "n_layer", "num_hidden_layers");
  reader.count(config.heads, "n_head", "num_attention_heads");
  config.innerWidth = 4 * config.width;
  reader.count(config.innerWidth, "n_inner");
  reader.activation(config.activation, "activation_function");
  reader.real(config.layerNormEpsilon, "layer_norm_epsilon", /*zeroAllowed=*/false);
  reader.real(config.initializerRange, "initializer_range", /*zeroAllowed=*/true);
  reader.flag(config.tieWordEmbeddings, "tie_word_embeddings");
  reader.flag(config.scaleAttention, "scale_attn_weights");
  reader.flag(config.scaleAttentionByInverseLayer, "scale_attn_by_inverse_layer_idx");
  reader.refuse("reorder_and_upcast_attn");
  reader.refuseCommonSwitches();
  reader.ignore({"is_decoder", "n_ctx", "pad_token_id", "summary_activation",
                 "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                 "summary_use_proj"});
  reader.dropout(config.embeddingDropout, "embd_pdrop", 0.1, options.noDropout);
  reader.dropout(config.attentionDropout, "attn_pdrop", 0.1, options.noDropout);
  reader.dropout(config.residualDropout, "resid_pdrop", 0.1, options.noDropout);
  if (config.width % config.heads != 0)
    reader.fail("n_head", "expects 'n_head' to divide 'n_embd', got " + llvm::Twine(config.heads) +
                              " and " + llvm::Twine(config.width));
  reader.unknownKeys("GPT-2");
  return config;
}

} // namespace zero::training
