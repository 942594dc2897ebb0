//===- MpiConformance.cpp - the conformance suite, started by mpirun ------===//

#include "Conformance.h"
#include "zero/Runtime/Processes.h"

#include <cstdio>

using namespace zrt;

static std::string run(const LaunchEnvironment &launch, const JoinOptions &options) {
  std::string error;
  auto communicator = joinProcesses(launch, options, error);
  return communicator ? test::runConformance(*communicator) : error;
}

int main() {
  std::string error;
  auto launch = detectLaunch(error);
  if (launch)
    launch->kind = LaunchEnvironment::Kind::Mpi; // a lone rank too
  JoinOptions options;
  options.joinTimeout = options.rankTimeout = 20.0;
  options.messageBytes = 4096; // several turns in the larger cases
  options.scratchBytes = 1 << 13;
  std::string fault = launch ? run(*launch, options) : error;
  if (!fault.empty())
    std::fprintf(stderr, "%s\n", fault.c_str());
  return fault.empty() ? 0 : 1;
}
