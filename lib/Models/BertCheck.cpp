//===- BertCheck.cpp - sizes that a BERT graph can have ---------------------===//

#include "Check.h"
#include "zero/Models/Bert.h"

namespace zero::models {

std::string checkBert(const training::BertConfig &config, const BatchShape &batch) {
  int64_t rows = batch.microBatch.value_or(1);
  std::string wrong = checkPositive({{"a vocabulary", config.vocabSize},
                                     {"positions", config.positions},
                                     {"token types", config.tokenTypes},
                                     {"a width", config.width},
                                     {"layers", config.layers},
                                     {"heads", config.heads},
                                     {"an inner width", config.innerWidth},
                                     {"a sequence length", batch.seqLen},
                                     {"a micro-batch", rows}});
  if (!wrong.empty())
    return wrong;
  return firstOf({checkLayers(config.layers), checkHeads(config.heads, config.width),
                  checkSequence(batch.seqLen, config.positions),
                  checkBytes("token embeddings", {config.vocabSize, config.width}),
                  checkBytes("position embeddings", {config.positions, config.width}),
                  checkBytes("token type embeddings", {config.tokenTypes, config.width}),
                  checkBytes("attention weights", {config.width, config.width}),
                  checkBytes("MLP weights", {config.width, config.innerWidth}),
                  checkBytes("attention activations", {rows, batch.seqLen, config.width}),
                  checkBytes("MLP activations", {rows, batch.seqLen, config.innerWidth}),
                  checkBytes("logits", {rows, batch.seqLen, config.vocabSize})});
}

} // namespace zero::models
