//===- LlamaCheck.cpp - sizes that a LLaMA graph can have -------------------===//

#include "Check.h"
#include "zero/Models/Llama.h"
#include "zero/Models/RotaryAngles.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace zero::models {

/// The graph's text holds a number for every other element of a head.
static constexpr int64_t kMaxHeadWidth = 65536;

static std::string checkHeadsOf(const training::LlamaConfig &config) {
  if (config.heads % config.keyValueHeads != 0)
    return "expects key/value heads to divide the heads, got " +
           std::to_string(config.keyValueHeads) + " and " + std::to_string(config.heads);
  if (config.headWidth % 2 != 0)
    return "expects heads of an even width, as rotary positions turn pairs, got " +
           std::to_string(config.headWidth);
  if (config.headWidth > kMaxHeadWidth)
    return "expects a head width of at most " + std::to_string(kMaxHeadWidth) + ", got " +
           std::to_string(config.headWidth);
  return "";
}

/// Bases and factors at the ends of what f64 holds.
static std::string checkAngles(const training::LlamaConfig &config, int64_t seqLen) {
  RotaryAngles angles = rotaryAngles(config.rope, config.headWidth, config.positions, seqLen);
  auto isNumber = [](double value) { return std::isfinite(value); };
  if (llvm::all_of(angles.frequencies, isNumber) && isNumber(angles.factor) && angles.factor > 0)
    return "";
  return "expects rotary positions whose angles are numbers, got other ones from the base, the "
         "factor and the head's width";
}

std::string checkLlama(const training::LlamaConfig &config, const BatchShape &batch) {
  int64_t rows = batch.microBatch.value_or(1);
  std::string wrong = checkPositive({{"a vocabulary", config.vocabSize},
                                     {"positions", config.positions},
                                     {"a width", config.width},
                                     {"layers", config.layers},
                                     {"heads", config.heads},
                                     {"key/value heads", config.keyValueHeads},
                                     {"a head width", config.headWidth},
                                     {"an inner width", config.innerWidth},
                                     {"a sequence length", batch.seqLen},
                                     {"a micro-batch", rows}});
  if (!wrong.empty())
    return wrong;
  int64_t heads = config.heads, depth = config.headWidth;
  wrong = firstOf({checkLayers(config.layers), checkHeadsOf(config),
                   checkBytes("token embeddings", {config.vocabSize, config.width}),
                   checkBytes("attention weights", {config.width, heads, depth}),
                   checkBytes("MLP weights", {config.width, config.innerWidth}),
                   checkBytes("activations", {rows, batch.seqLen, config.width}),
                   checkBytes("attention activations", {rows, batch.seqLen, heads, depth}),
                   checkBytes("MLP activations", {rows, batch.seqLen, config.innerWidth}),
                   checkBytes("logits", {rows, batch.seqLen, config.vocabSize})});
  return wrong.empty() ? checkAngles(config, batch.seqLen) : wrong;
}

} // namespace zero::models
