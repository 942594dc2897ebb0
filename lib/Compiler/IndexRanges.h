//===- IndexRanges.h - which integers a batch argument may hold ------------===//
#ifndef ZERO_COMPILER_INDEXRANGES_H
#define ZERO_COMPILER_INDEXRANGES_H

#include "zero/Passes/Lifetimes.h"

#include <optional>

namespace zero {

/// Values in [0, bound), or equal to `ignore`.
struct IndexRange {
  std::optional<int64_t> bound, ignore;
};

/// Follows an integer argument of a segment through views and into kernels to the ops that index
/// with it: embedding, gather, scatter_add, cross_entropy. The tightest bound holds.
IndexRange indexRangeOf(mlir::BlockArgument argument, const ModuleIndex &index);

} // namespace zero

#endif // ZERO_COMPILER_INDEXRANGES_H
