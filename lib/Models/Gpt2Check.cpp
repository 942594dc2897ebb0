//===- Gpt2Check.cpp - sizes that a GPT-2 graph can have --------------------===//

#include "zero/Models/Gpt2.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace zero::models {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

/// `expects … to be at least 1` for the first that is not.
std::string checkPositive(llvm::ArrayRef<std::pair<const char *, int64_t>> sizes) {
  for (auto [what, value] : sizes)
    if (value < 1)
      return std::string("expects ") + what + " of at least 1, got " + number(value);
  return "";
}

/// Names a tensor whose bytes (f32) do not fit in 63 bits.
std::string checkBytes(const char *what, llvm::ArrayRef<int64_t> sizes) {
  int64_t bytes = 4;
  std::string text;
  bool overflow = false;
  for (int64_t size : sizes) {
    overflow |= llvm::MulOverflow(bytes, size, bytes);
    text += (text.empty() ? "" : " x ") + number(size);
  }
  if (!overflow)
    return "";
  return std::string("expects ") + what + " of less than 2^63 bytes, got " + text + " elements";
}

} // namespace

/// A layer is a call in the text, of some two kilobytes.
static constexpr int64_t kMaxLayers = 65536;

std::string checkGpt2(const training::Gpt2Config &config, const BatchShape &batch) {
  int64_t rows = batch.microBatch.value_or(1);
  std::string wrong = checkPositive({{"a vocabulary", config.vocabSize},
                                     {"positions", config.positions},
                                     {"a width", config.width},
                                     {"layers", config.layers},
                                     {"heads", config.heads},
                                     {"an inner width", config.innerWidth},
                                     {"a sequence length", batch.seqLen},
                                     {"a micro-batch", rows}});
  if (!wrong.empty())
    return wrong;
  if (config.layers > kMaxLayers)
    return "expects at most " + number(kMaxLayers) + " layers, got " + number(config.layers);
  if (config.width % config.heads != 0)
    return "expects heads to divide the width, got " + number(config.heads) + " heads and width " +
           number(config.width);
  if (batch.seqLen > config.positions)
    return "expects a sequence length of at most " + number(config.positions) +
           ", the positions of the model, got " + number(batch.seqLen);
  // The widest of each kind; the others are smaller by a factor.
  for (std::string found :
       {checkBytes("token embeddings", {config.vocabSize, config.width}),
        checkBytes("position embeddings", {config.positions, config.width}),
        checkBytes("attention weights", {config.width, 3, config.width}),
        checkBytes("MLP weights", {config.width, config.innerWidth}),
        checkBytes("attention activations", {rows, batch.seqLen, 3, config.width}),
        checkBytes("MLP activations", {rows, batch.seqLen, config.innerWidth}),
        checkBytes("logits", {rows, batch.seqLen, config.vocabSize})})
    if (!found.empty())
      return found;
  return "";
}

} // namespace zero::models
