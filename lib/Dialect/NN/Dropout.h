//===- Dropout.h - the checks that dropout and attention share --------------===//
#ifndef ZERO_LIB_DIALECT_NN_DROPOUT_H
#define ZERO_LIB_DIALECT_NN_DROPOUT_H

#include "Shapes.h"

namespace zero::nn {

/// Checks 0 ≤ rate < 1.
mlir::LogicalResult checkDropoutRate(MaybeLocation location, const llvm::APFloat &rate);

/// Checks that a site fits 32 bits.
mlir::LogicalResult checkDropoutSite(MaybeLocation location, std::optional<int64_t> site);

/// Elements of one sample that the generator can tell apart: a block's number has 32 bits.
constexpr int64_t kMaxSampleElements = int64_t(1) << 34;

} // namespace zero::nn

#endif // ZERO_LIB_DIALECT_NN_DROPOUT_H
