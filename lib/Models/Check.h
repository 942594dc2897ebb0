//===- Check.h - sizes that a graph can have --------------------------------===//
#ifndef ZERO_LIB_MODELS_CHECK_H
#define ZERO_LIB_MODELS_CHECK_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace zero::models {

/// A layer is a call in the text, of some two kilobytes.
inline constexpr int64_t kMaxLayers = 65536;

/// `expects … of at least 1` for the first that is not, or empty.
std::string checkPositive(llvm::ArrayRef<std::pair<const char *, int64_t>> sizes);

std::string checkLayers(int64_t layers);

/// `heads` that don't divide the width.
std::string checkHeads(int64_t heads, int64_t width);

/// A sequence longer than the learned positions.
std::string checkSequence(int64_t seqLen, int64_t positions);

/// Names a tensor whose bytes (f32) do not fit in 63 bits.
std::string checkBytes(const char *what, llvm::ArrayRef<int64_t> sizes);

/// The first line that is not empty, or empty.
std::string firstOf(llvm::ArrayRef<std::string> lines);

} // namespace zero::models

#endif // ZERO_LIB_MODELS_CHECK_H
