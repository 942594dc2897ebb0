//===- Sizes.h - numbers in flags ------------------------------------------===//
//
// Strict parsing: the whole text or nothing, and a message that names the flag,
// what it expects and what it got. `flag` is given as the user types it: `--ranks`.
// The messages have no file; they end a tool with exit code 2.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_SIZES_H
#define ZERO_TRAINING_SIZES_H

#include "zero/Training/Errors.h"

#include <limits>

namespace zero::training {

/// Bytes: `4096`, `64KiB`, `1MiB`, `1.5GiB`, `2TiB`; a fraction of a byte is dropped. Other units
/// (`KB`, `M`, …) are refused, since they mean 1000 to some and 1024 to others.
llvm::Expected<int64_t> parseSize(llvm::StringRef flag, llvm::StringRef text, int64_t minimum = 0,
                                  int64_t maximum = std::numeric_limits<int64_t>::max());

/// `expects --ranks between 1 and 4096, got 100000`.
llvm::Expected<int64_t> parseInteger(llvm::StringRef flag, llvm::StringRef text, int64_t minimum,
                                     int64_t maximum = std::numeric_limits<int64_t>::max());

/// The whole range of a seed.
llvm::Expected<uint64_t> parseUnsigned(llvm::StringRef flag, llvm::StringRef text);

/// A finite number in [minimum, maximum].
llvm::Expected<double> parseFloat(llvm::StringRef flag, llvm::StringRef text, double minimum,
                                  double maximum = std::numeric_limits<double>::infinity());

/// One of `choices`: `expects --schedule to be one of constant, linear, cosine, got 'step'`. The
/// index of the choice is returned.
llvm::Expected<size_t> parseChoice(llvm::StringRef flag, llvm::StringRef text,
                                   llvm::ArrayRef<llvm::StringRef> choices);

/// For reports: `512 B`, `1.50 GiB`.
std::string formatSize(int64_t bytes);

} // namespace zero::training

#endif // ZERO_TRAINING_SIZES_H
