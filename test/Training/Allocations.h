//===- Allocations.h - count what is allocated ---------------------------===//
//
// The test program's operator new counts, so that "allocates nothing" is tested
// and not believed (M1).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_TRAINING_ALLOCATIONS_H
#define ZERO_TEST_TRAINING_ALLOCATIONS_H

#include <cstdint>

namespace zero::training {

/// Calls of operator new so far, in all threads.
int64_t allocationCount();

} // namespace zero::training

#endif // ZERO_TEST_TRAINING_ALLOCATIONS_H
