//===- HfConfig.h - Hugging Face model configurations ----------------------===//
//
// Reads a `config.json` into a plain struct, one a family (`model_type`). Keys that
// change what the model computes are either understood or refused by name, with their
// place in the file; keys that are known to change nothing are passed over; a key that
// is not known at all is refused too, since it may be a switch. Absent keys have
// Hugging Face's defaults (transformers 5).
//
// One of those defaults deserves care: an absent `resid_pdrop` means 0.1, and many
// published files say 0.1. `noDropout` (`--no-dropout`) trains without.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_HFCONFIG_H
#define ZERO_TRAINING_HFCONFIG_H

#include "zero/Training/Errors.h"

#include <optional>
#include <variant>

namespace zero::training {

enum class Activation : uint8_t { GeluTanh, GeluErf, Relu, Silu };

/// GPT-2; the defaults are those of its smallest published size (124M).
struct Gpt2Config {
  int64_t vocabSize = 50257;
  int64_t positions = 1024; // the longest sequence
  int64_t width = 768;
  int64_t layers = 12;
  int64_t heads = 12;        // divides width
  int64_t innerWidth = 3072; // of the MLP; 4 × width where the file has none
  Activation activation = Activation::GeluTanh;
  double layerNormEpsilon = 1e-5;
  double initializerRange = 0.02; // standard deviation of initial weights
  bool tieWordEmbeddings = true;
  bool scaleAttention = true;                // by 1/sqrt(head width)
  bool scaleAttentionByInverseLayer = false; // also by 1/(layer + 1)
  /// Rates of dropout: of the embeddings' sum, of attention's probabilities, and of what each
  /// half of a block adds to the residual.
  double embeddingDropout = 0.0, attentionDropout = 0.0, residualDropout = 0.0;

  int64_t headWidth() const { return width / heads; }
  /// The factor on q·k in layer `layer` (from 0), both switches regarded.
  double attentionScale(int64_t layer) const;
};

/// How the angles of rotary positions grow; RotaryAngles.h has the formulas.
enum class RopeKind : uint8_t { Default, Linear, Dynamic, Llama3, Yarn };

struct RopeConfig {
  RopeKind kind = RopeKind::Default;
  double base = 10000.0;            // `rope_theta`
  double factor = 1.0;              // how much longer sequences are than those of pretraining
  int64_t originalPositions = 2048; // Llama3, Yarn: those of pretraining
  double lowFrequencyFactor = 1.0, highFrequencyFactor = 4.0; // Llama3
  // Yarn: rotations over the original positions between which frequencies are blended, whether
  // their dimensions are rounded, and what sines and cosines are multiplied by.
  double betaFast = 32.0, betaSlow = 1.0;
  bool truncate = true;
  std::optional<double> attentionFactor = std::nullopt;
  double mscale = 0.0, mscaleAllDim = 0.0; // in place of the former; 0: not given
};

/// LLaMA; the defaults are those of its size 7B.
struct LlamaConfig {
  int64_t vocabSize = 32000;
  int64_t positions = 2048;
  int64_t width = 4096;
  int64_t layers = 32;
  int64_t heads = 32;
  int64_t keyValueHeads = 32; // divides heads; heads where the file has none
  int64_t headWidth = 128;    // even; width / heads where the file has none
  int64_t innerWidth = 11008;
  double rmsNormEpsilon = 1e-6;
  double initializerRange = 0.02;
  bool tieWordEmbeddings = false;
  bool attentionBias = false; // q, k, v and o
  bool mlpBias = false;
  RopeConfig rope;
  /// The token whose embedding starts at 0 and gets no gradient from being looked up.
  std::optional<int64_t> padding = std::nullopt;
  double attentionDropout = 0.0; // the rate, of attention's probabilities
};

/// BERT for masked language modelling; the defaults are those of its base size.
struct BertConfig {
  int64_t vocabSize = 30522;
  int64_t positions = 512; // the longest sequence
  int64_t tokenTypes = 2;
  int64_t width = 768;
  int64_t layers = 12;
  int64_t heads = 12; // divides width
  int64_t innerWidth = 3072;
  Activation activation = Activation::GeluErf;
  double layerNormEpsilon = 1e-12;
  double initializerRange = 0.02;
  /// As in LlamaConfig; the decoder, which is tied, does give that row a gradient.
  std::optional<int64_t> padding = 0;
  /// Rates of dropout: of the embeddings and what each half of a block adds to the residual, and of
  /// attention's probabilities.
  double hiddenDropout = 0.0, attentionDropout = 0.0;

  int64_t headWidth() const { return width / heads; }
};

using ModelConfig = std::variant<Gpt2Config, LlamaConfig, BertConfig>;

struct HfConfigOptions {
  /// Leaves out the dropout that a file asks for.
  bool noDropout = false;
};

/// The `model_type`s that can be read.
llvm::ArrayRef<llvm::StringRef> supportedModelTypes();

/// Errors (InputError with line and column): unreadable, not JSON, not an object, a key twice, an
/// unsupported `model_type`, activation or kind of rotary scaling, a value of the wrong kind or out
/// of range, sizes that don't fit each other, an unsupported switch, an unknown key.
llvm::Expected<ModelConfig> readModelConfig(llvm::StringRef path,
                                            const HfConfigOptions &options = {});
/// The same from text; `file` is for messages.
llvm::Expected<ModelConfig> parseModelConfig(llvm::StringRef text, llvm::StringRef file,
                                             const HfConfigOptions &options = {});

} // namespace zero::training

#endif // ZERO_TRAINING_HFCONFIG_H
