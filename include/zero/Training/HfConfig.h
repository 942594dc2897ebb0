//===- HfConfig.h - Hugging Face model configurations ----------------------===//
//
// Reads a `config.json` into a plain struct. Keys that change what the model
// computes are either understood or refused by name, with their place in the file;
// keys that are known to change nothing are passed over; a key that is not known
// at all is refused too, since it may be a switch. Absent keys have Hugging Face's
// defaults.
//
// One of those defaults deserves care: an absent `resid_pdrop` means 0.1, and many
// published files say 0.1. There is no dropout here, so such a file is refused
// unless `allowDropout` is set (`--no-dropout`), which trains without.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_HFCONFIG_H
#define ZERO_TRAINING_HFCONFIG_H

#include "zero/Training/Errors.h"

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

  int64_t headWidth() const { return width / heads; }
  /// The factor on q·k in layer `layer` (from 0), both switches regarded.
  double attentionScale(int64_t layer) const;
};

struct HfConfigOptions {
  /// Takes a file that asks for dropout, and trains without.
  bool allowDropout = false;
};

/// The `model_type`s that can be read.
llvm::ArrayRef<llvm::StringRef> supportedModelTypes();

/// Errors (InputError with line and column): unreadable, not JSON, not an object, a key twice, an
/// unsupported `model_type` or activation, a value of the wrong kind or out of range, sizes that
/// don't fit each other, an unsupported switch, an unknown key, dropout.
llvm::Expected<Gpt2Config> readGpt2Config(llvm::StringRef path,
                                          const HfConfigOptions &options = {});
/// The same from text; `file` is for messages.
llvm::Expected<Gpt2Config> parseGpt2Config(llvm::StringRef text, llvm::StringRef file,
                                           const HfConfigOptions &options = {});

} // namespace zero::training

#endif // ZERO_TRAINING_HFCONFIG_H
