//===- Processes.h - ranks that are processes of one job ------------------===//
//
// A launcher (mpirun, srun, torchrun) starts one process a rank, on one machine
// or several, and says in the environment which rank each one is. `detectLaunch`
// reads that, `joinProcesses` gives the rank's communicator: over MPI where an MPI
// launcher started it, else over TCP.
//
// Beside the data runs a lifeline: every rank keeps a TCP connection to rank 0, and
// a thread listens to it. Through it an abort reaches all ranks with its words, and
// the end of a process is noticed by name within a moment, whatever carries the
// data. A rank that stands still is noticed by those who wait for it, after
// `rankTimeout`.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROCESSES_H
#define ZERO_RUNTIME_PROCESSES_H

#include "zero/Runtime/Communicator.h"

#include <functional>
#include <optional>

namespace zrt {

/// What a launcher says of this process.
struct LaunchEnvironment {
  enum class Kind { Threads, Mpi, Tcp };
  Kind kind = Kind::Threads;
  /// The variable that gave the number of ranks (`WORLD_SIZE`); empty: no launcher.
  std::string source;
  int64_t rank = 0;
  int64_t ranks = 1; // 0: only MPI knows
  /// Where rank 0 listens, for Tcp.
  std::string host;
  uint16_t port = 0;
};

using GetVariable = std::function<const char *(const char *name)>;

/// In this order: Open MPI's variables, PMIx's, those of torchrun (RANK, WORLD_SIZE, MASTER_ADDR,
/// MASTER_PORT), Slurm's, PMI's (MPICH). One rank is threads of this process. None, with a message,
/// for variables that contradict one another or are no numbers.
std::optional<LaunchEnvironment> detectLaunch(const GetVariable &get, std::string &error);
std::optional<LaunchEnvironment> detectLaunch(std::string &error);

/// `node[03-05,9],login` → `node03`.
std::string firstHost(std::string_view slurmNodeList);

struct JoinOptions {
  double joinTimeout = 300.0;  // seconds until all ranks have met
  double rankTimeout = 1800.0; // seconds that a rank may let others wait in a collective
  int64_t scratchBytes = 8 << 20;
  int64_t messageBytes = 1 << 30; // the most that one message holds
  /// Told once, from a thread of the communicator, where the process of another rank ended and it
  /// is for this rank to say so.
  std::function<void(const std::string &message)> tell;
  /// Called from a thread of the communicator where, seconds after a failure, this process has
  /// still not destroyed it (it computes, say): the place to end the process.
  std::function<void()> stuck;
};

class ProcessCommunicator : public Communicator {
public:
  /// After `abort`: whether it is for this rank to print its own error. False where another rank
  /// has failed before, or fails alike and prints the same. May wait a second for rank 0's word.
  virtual bool reports() = 0;
};

/// Meets the other ranks; null with a message where that fails, or without one where rank 0 has it.
/// To be destroyed by the thread that made it: MPI ends with it.
std::shared_ptr<ProcessCommunicator> joinProcesses(const LaunchEnvironment &launch,
                                                   const JoinOptions &options, std::string &error);

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_H
