//===- Forked.h - a process a rank, for tests -----------------------------===//
#ifndef ZERO_TEST_RUNTIME_PROCESSES_FORKED_H
#define ZERO_TEST_RUNTIME_PROCESSES_FORKED_H

#include "zero/Runtime/Processes.h"

namespace zrt::test {

/// How a process ended, and what it said.
struct Ending {
  int code = -1;        // -1: by a signal
  int signal = 0;       // SIGKILL also where the test's patience ended
  double seconds = 0.0; // from the start of all to its end
  std::string text;
};

/// Forks `processes` times and runs fn(index) in each; what it returns is the process's text, and
/// its exit code is 0 where that is empty.
std::vector<Ending> runForked(int64_t processes,
                              const std::function<std::string(int64_t index)> &fn);

/// A port of this machine that is free.
uint16_t freePort();

/// A job over TCP on this machine; short patience.
LaunchEnvironment tcpRank(int64_t rank, int64_t ranks, uint16_t port);
JoinOptions impatient();

/// Joins `ranks` processes and runs fn(communicator) in each; as runForked. Where joining fails,
/// the text is its error.
std::vector<Ending>
runJoined(int64_t ranks, const JoinOptions &options,
          const std::function<std::string(ProcessCommunicator &communicator)> &fn);

} // namespace zrt::test

#endif // ZERO_TEST_RUNTIME_PROCESSES_FORKED_H
