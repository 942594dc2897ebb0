//===- Conformance.h - what every communicator must do --------------------===//
//
// Cases that one rank runs knowing nothing but its own communicator, so that they
// serve ranks that are threads as well as ranks that are processes: all ranks call
// the same cases in the same order. A case finishes its calls also where a value is
// wrong, and then says what, so that ranks stay together.
//
// Expected values are worked by hand beside each case, for each rank, collective
// and type; nothing is compared with another implementation.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_RUNTIME_CONFORMANCE_CONFORMANCE_H
#define ZERO_TEST_RUNTIME_CONFORMANCE_CONFORMANCE_H

#include "zero/Runtime/Communicator.h"

namespace zrt::test {

struct ConformanceCase {
  const char *name;
  int64_t ranks; // 0: any number
  /// Empty, or what this rank expected and got.
  std::string (*run)(Communicator &communicator);

  bool fits(int64_t count) const { return ranks == 0 || ranks == count; }
};

const std::vector<ConformanceCase> &conformanceCases();

/// All cases that fit the number of ranks, up to the first that fails here; names case and rank.
std::string runConformance(Communicator &communicator);

/// The last rank aborts before the third barrier; the others must get away, and know why. Leaves
/// the communicator ended, so it is no case of the list. Needs two ranks.
std::string runAbort(Communicator &communicator);

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_CONFORMANCE_CONFORMANCE_H
