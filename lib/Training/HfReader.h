//===- HfReader.h - keys of a configuration, one by one --------------------===//
//
// The families read their keys through this class, which remembers the first fault, so
// that reading is a list. What nobody asked for is unknown.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_TRAINING_HFREADER_H
#define ZERO_LIB_TRAINING_HFREADER_H

#include "Json.h"
#include "zero/Training/HfConfig.h"

#include "llvm/ADT/StringSet.h"

namespace zero::training {

class HfReader {
public:
  /// `document` is an object.
  HfReader(llvm::StringRef text, llvm::StringRef file, const JsonDocument &document);

  /// The value of `key` or of its alias (Hugging Face takes both); null where absent or `null`.
  const llvm::json::Value *get(llvm::StringRef key, llvm::StringRef alias = "");
  /// Whether the file has the key, be it with the value `null`.
  bool has(llvm::StringRef key) const { return object.get(key) != nullptr; }

  // What the value of `key` has to be; where it is absent, `into` stays.
  void count(int64_t &into, llvm::StringRef key, llvm::StringRef alias = "");
  void real(double &into, llvm::StringRef key, bool zeroAllowed);
  void flag(bool &into, llvm::StringRef key);
  /// One of gelu_new, gelu, relu, silu, under any of their names.
  void activation(Activation &into, llvm::StringRef key);
  /// A token of the vocabulary, from the end where it is negative; `null` is none.
  void token(std::optional<int64_t> &into, llvm::StringRef key, int64_t vocabSize);
  /// A rate of dropout; an absent key stands for `otherwise`. `off` leaves `into` at 0.
  void dropout(double &into, llvm::StringRef key, double otherwise, bool off);

  // Switches that may only be off.
  void refuse(llvm::StringRef key);
  void refuseUnlessNull(llvm::StringRef key);
  void refuseUnlessEmpty(llvm::StringRef key);
  /// What no family has: cross attention, tied encoders, pruned heads.
  void refuseCommonSwitches();

  /// Passes over a key that changes nothing.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);
  /// Fails at the first key of the file that nobody asked for and that is not known to be harmless.
  void unknownKeys(llvm::StringRef family);

  /// Keeps the first fault only.
  void fail(llvm::StringRef key, const llvm::Twine &message);
  llvm::Error error();

  /// Numbers as people write them, where llvm::json has 17 digits.
  static std::string print(const llvm::json::Value &value);
  /// The same, or `none`.
  static std::string print(const llvm::json::Value *value) {
    return value ? print(*value) : "none";
  }

private:
  llvm::StringRef text, file;
  const JsonDocument &document;
  const llvm::json::Object &object;
  llvm::StringSet<> known;
  bool failed = false;
  Location where;
  std::string what;
};

// The families; each reads its keys and leaves faults in the reader.
Gpt2Config readGpt2(HfReader &reader, const HfConfigOptions &options);
LlamaConfig readLlama(HfReader &reader, const HfConfigOptions &options);
BertConfig readBert(HfReader &reader, const HfConfigOptions &options);

/// `rope_theta` with `rope_scaling`, or `rope_parameters`, for a model of so many positions.
RopeConfig readRope(HfReader &reader, int64_t positions, int64_t headWidth);

} // namespace zero::training

#endif // ZERO_LIB_TRAINING_HFREADER_H
