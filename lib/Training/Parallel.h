//===- Parallel.h - many files at a time ---------------------------------===//
#ifndef ZERO_TRAINING_PARALLEL_H
#define ZERO_TRAINING_PARALLEL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace zero::training {

/// Runs task(0) … task(count − 1) on up to 16 threads: enough to keep a disk busy. The error is
/// that of the lowest number.
llvm::Error inParallel(size_t count, llvm::function_ref<llvm::Error(size_t)> task);

} // namespace zero::training

#endif // ZERO_TRAINING_PARALLEL_H
