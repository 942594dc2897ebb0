//===- Json.h - JSON with places and without surprises -------------------===//
//
// llvm::json takes the last of two equal keys, recurses as deep as the text says,
// and forgets where a value stood. For files that strangers write we want equal
// keys refused, depth bounded, and the places of keys for messages.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_JSON_H
#define ZERO_TRAINING_JSON_H

#include "zero/Training/Errors.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace zero::training {

struct JsonDocument {
  llvm::json::Value root = nullptr;
  /// The root object's keys, and the byte at which each begins.
  llvm::StringMap<size_t> keys;
  /// Where asked for, those of the objects inside too, as `fp16.enabled`; an array's objects share
  /// its path.
  llvm::StringMap<size_t> paths;
};

/// Errors are InputErrors at line and column.
llvm::Expected<JsonDocument> parseJson(llvm::StringRef text, llvm::StringRef file,
                                       bool withPaths = false);

Location locationAt(llvm::StringRef text, llvm::StringRef file, size_t byte);

} // namespace zero::training

#endif // ZERO_TRAINING_JSON_H
