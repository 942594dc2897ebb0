//===- DeepSpeedKeys.h - the keys of a DeepSpeed configuration -----------===//
//
// Which keys there are, and what becomes of each. Tables by the object they stand in;
// objects that none of them describes are not looked into.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_TRAINING_DEEPSPEEDKEYS_H
#define ZERO_LIB_TRAINING_DEEPSPEEDKEYS_H

#include "Json.h"

namespace zero::training {

enum class KeyUse : uint8_t {
  Read,   // honoured, or refused, by its reader
  Free,   // no value of it changes what is computed
  Only,   // honoured where it has the value `neutral`
  Switch, // an object that matters where its `enabled` is true
  Never   // never honoured
};

struct DeepSpeedKey {
  llvm::StringLiteral name;
  KeyUse use = KeyUse::Read;
  llvm::StringLiteral neutral = ""; // as JSON
  llvm::StringLiteral reason = "";
};

llvm::ArrayRef<DeepSpeedKey> deepSpeedRootKeys();
llvm::ArrayRef<DeepSpeedKey> deepSpeedFp16Keys();
llvm::ArrayRef<DeepSpeedKey> deepSpeedBf16Keys();
llvm::ArrayRef<DeepSpeedKey> deepSpeedDataTypeKeys();
llvm::ArrayRef<DeepSpeedKey> deepSpeedZeroKeys();
/// Of an optimizer or a scheduler: its type and params.
llvm::ArrayRef<DeepSpeedKey> deepSpeedTypedKeys();
/// By name as Zero has it: adamw (and adam), sgd, lion.
llvm::ArrayRef<DeepSpeedKey> deepSpeedOptimizerKeys(llvm::StringRef optimizer);
/// By type: WarmupLR, WarmupDecayLR, WarmupCosineLR; empty for others.
llvm::ArrayRef<DeepSpeedKey> deepSpeedSchedulerKeys(llvm::StringRef type);

/// A file and the way into it.
struct DeepSpeedFile {
  llvm::StringRef text, path;
  const JsonDocument &document;

  /// Where `key` stands, as `fp16.enabled`; the file where it doesn't.
  Location at(llvm::StringRef key) const;
  /// `ds.json:3:5: error: message`.
  llvm::Error error(llvm::StringRef key, const llvm::Twine &message) const;
};

/// Holds the keys of the object `parent` (empty: the root) against a table: an error for one that
/// is not in it, with the nearest that is, and a line in `warnings` for each that is not honoured,
/// in the table's order.
llvm::Error checkKeys(const DeepSpeedFile &file, llvm::StringRef parent,
                      const llvm::json::Object &object, llvm::ArrayRef<DeepSpeedKey> table,
                      std::vector<std::string> &warnings);

/// `warning: ds.json: 'key' is not honoured: reason`.
std::string notHonoured(const DeepSpeedFile &file, llvm::StringRef key, const llvm::Twine &reason);

/// A value as messages print it; llvm::json would give 0.1 seventeen digits.
std::string jsonText(const llvm::json::Value &value);

} // namespace zero::training

#endif // ZERO_LIB_TRAINING_DEEPSPEEDKEYS_H
