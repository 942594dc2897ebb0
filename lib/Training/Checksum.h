//===- Checksum.h - 64-bit XXH3, and how it is written -------------------===//
#ifndef ZERO_TRAINING_CHECKSUM_H
#define ZERO_TRAINING_CHECKSUM_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <optional>
#include <string>

namespace zero::training {

inline uint64_t checksum(llvm::ArrayRef<uint8_t> bytes) { return llvm::xxh3_64bits(bytes); }
inline uint64_t checksum(llvm::StringRef text) { return llvm::xxh3_64bits(text); }

/// 16 lower-case hexadecimal digits.
inline std::string checksumText(uint64_t sum) {
  return llvm::utohexstr(sum, /*LowerCase=*/true, /*Width=*/16);
}

inline std::optional<uint64_t> parseChecksum(llvm::StringRef text) {
  uint64_t sum = 0;
  if (text.size() != 16 || !llvm::all_of(text, llvm::isHexDigit) || text.getAsInteger(16, sum))
    return std::nullopt;
  return sum;
}

} // namespace zero::training

#endif // ZERO_TRAINING_CHECKSUM_H
