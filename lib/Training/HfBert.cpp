//===- HfBert.cpp - the configuration of a BERT ----------------------------===//

#include "HfReader.h"

namespace zero::training {

BertConfig readBert(HfReader &reader, const HfConfigOptions &options) {
  BertConfig config;
  reader.count(config.vocabSize, "vocab_size");
  reader.count(config.positions, "max_position_embeddings");
  reader.count(config.tokenTypes, "type_vocab_size");
  reader.count(config.width, "hidden_size");
  reader.count(config.layers, "num_hidden_layers");
  reader.count(config.heads, "num_attention_heads");
  reader.count(config.innerWidth, "intermediate_size");
  reader.activation(config.activation, "hidden_act");
  reader.real(config.layerNormEpsilon, "layer_norm_eps", /*zeroAllowed=*/false);
  reader.real(config.initializerRange, "initializer_range", /*zeroAllowed=*/true);
  reader.dropout(config.hiddenDropout, "hidden_dropout_prob", 0.1, options.noDropout);
  reader.dropout(config.attentionDropout, "attention_probs_dropout_prob", 0.1, options.noDropout);
  reader.token(config.padding, "pad_token_id", config.vocabSize);
  bool tied = true;
  reader.flag(tied, "tie_word_embeddings");
  if (!tied)
    reader.fail("tie_word_embeddings",
                "expects 'tie_word_embeddings' to be true: a decoder of its own is not supported");
  const llvm::json::Value *kind = reader.get("position_embedding_type");
  if (kind && kind->getAsString() != "absolute")
    reader.fail("position_embedding_type",
                "expects 'position_embedding_type' to be absolute: no other is supported, got " +
                    HfReader::print(*kind));
  reader.refuse("is_decoder"); // attention would be causal
  reader.refuseCommonSwitches();
  // Of heads that a masked language model does not have.
  reader.ignore({"classifier_dropout", "directionality", "pooler_fc_size",
                 "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head",
                 "pooler_type"});
  if (config.width % config.heads != 0)
    reader.fail("num_attention_heads",
                "expects 'num_attention_heads' to divide 'hidden_size', got " +
                    llvm::Twine(config.heads) + " and " + llvm::Twine(config.width));
  reader.unknownKeys("BERT");
  return config;
}

} // namespace zero::training
