//===- Profile.h - where the time of a step goes -----------------------------===//
#ifndef ZERO_RUN_PROFILE_H
#define ZERO_RUN_PROFILE_H

#include "zero/Runtime/Session.h"

#include "llvm/Support/raw_ostream.h"

namespace zero::run {

/// One line a kernel or collective, the slowest first: runs, milliseconds over all steps, share of
/// all rows' time, GF/s. Rank 0's times.
void printProfile(llvm::ArrayRef<zrt::RowProfile> rows, llvm::raw_ostream &os);

} // namespace zero::run

#endif // ZERO_RUN_PROFILE_H
