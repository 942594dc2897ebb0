//===- Conformance.cpp - what every communicator must do ------------------===//

#include "Checks.h"

namespace zrt::test {

const std::vector<ConformanceCase> &conformanceCases() {
  static const std::vector<ConformanceCase> all = [] {
    std::vector<ConformanceCase> list;
    for (auto *cases : {&kGatherCases, &kReduceCases, &kRoundingCases, &kControlCases})
      list.insert(list.end(), cases->begin(), cases->end());
    return list;
  }();
  return all;
}

std::string runConformance(Communicator &communicator) {
  for (const ConformanceCase &test : conformanceCases())
    if (test.fits(communicator.ranks()))
      if (std::string fault = test.run(communicator); !fault.empty())
        return std::string(test.name) + ": rank " + std::to_string(communicator.rank()) + ": " +
               fault;
  return {};
}

std::string runAbort(Communicator &communicator) {
  std::string cause =
      "rank " + std::to_string(communicator.ranks() - 1) + ": expects luck, got none";
  bool aborts = communicator.rank() == communicator.ranks() - 1;
  int passed = 0;
  while (passed < 10 && !(aborts && passed == 2) && communicator.barrier())
    ++passed;
  if (aborts)
    communicator.abort(cause);
  // A rank may still be leaving the second barrier.
  if (passed > 2)
    return "expects at most 2 barriers to be passed, got " + std::to_string(passed);
  if (communicator.barrier())
    return "expects no call to succeed after an abort";
  if (communicator.error() != cause)
    return "expects '" + cause + "', got '" + communicator.error() + "'";
  return {};
}

} // namespace zrt::test
