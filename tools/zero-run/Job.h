//===- Job.h - this process among those of its job ---------------------------===//
//
// Alone, and then there is nothing to it; or a rank of several. Of these one says what
// all have to say: rank 0. What only one rank knows, it says with its number, and ends
// the others.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUN_JOB_H
#define ZERO_RUN_JOB_H

#include "Flags.h"

#include "zero/Runtime/Processes.h"

namespace zero::run {

class Job {
public:
  /// Reads what a launcher says.
  llvm::Error detect();

  /// Whether each rank is a process.
  bool isSplit() const { return launch.kind != zrt::LaunchEnvironment::Kind::Threads; }
  bool isFirst() const { return launch.rank == 0; }
  /// How many ranks were launched; none without a launcher, or where only MPI knows yet.
  std::optional<int64_t> launched() const;
  const std::string &launcher() const { return launch.source; }

  /// Meets the other processes; says itself why that failed. Alone: nothing to do.
  bool join(int64_t rankTimeout);
  const std::shared_ptr<zrt::ProcessCommunicator> &communicator() const { return processes; }

  /// Prints the error where it is for this rank to say it, ends the other ranks where they don't
  /// have it, and returns `code`.
  int refuse(llvm::Error error, int code = kBadInput);
  /// Lines for standard error that all ranks have.
  void warn(llvm::ArrayRef<std::string> lines) const;

private:
  zrt::LaunchEnvironment launch;
  std::shared_ptr<zrt::ProcessCommunicator> processes;
};

} // namespace zero::run

#endif // ZERO_RUN_JOB_H
