//===- SessionImpl.h - the local ranks of a session -----------------------===//
//
// Ranks that are threads are made once and parked between commands: the caller
// checks what it was given, posts a command, and waits until every rank is done.
// The one rank behind a communicator of its own runs on the caller's thread.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_CPU_SESSIONIMPL_H
#define ZERO_RUNTIME_CPU_SESSIONIMPL_H

#include "Walker.h"
#include "zero/Runtime/ThreadTeam.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace zrt {

struct Rank {
  Rank(const Program &program, const std::vector<GeneratedKernel> &generated,
       const SessionOptions &options, std::unique_ptr<RankArena> arenaOfRank,
       std::shared_ptr<Communicator> communicatorOfRank, bool spin, bool profiled)
      : arena(std::move(arenaOfRank)), communicator(std::move(communicatorOfRank)),
        team(createThreadTeam(program.threadsPerRank, spin)),
        walker({program, generated, options, *arena, *communicator, *team, profiled}) {}

  char *place(const StatePlace &place, int64_t element) const {
    return arena->data() + place.offset + element * elementBytes(place.type);
  }

  std::unique_ptr<RankArena> arena;
  std::shared_ptr<Communicator> communicator;
  std::unique_ptr<ThreadTeam> team;
  Walker walker;
  EvalResult evaluated;
  bool succeeded = true; // the last command
  std::thread thread;
};

struct Session::Impl {
  enum class Command { Step, Evaluate, Initialize, Stop };

  Program program;
  std::vector<GeneratedKernel> generated;
  SessionOptions options;
  std::vector<std::unique_ptr<Rank>> ranks; // the local ones
  std::string broken;                       // why no step can run any more

  std::mutex mutex;
  std::condition_variable posted, finished;
  Command command = Command::Step;
  const StepInput *input = nullptr;
  const BatchPointers *evalData = nullptr;
  uint64_t seed = 0, commands = 0;
  size_t busy = 0;

  ~Impl();

  /// Empty, or why this process cannot hold its ranks of the program.
  std::string makeRanks();
  void post(Command next);
  void runOnAllRanks(Command next);
  void serve(Rank &rank);
  void perform(Rank &rank, Command current);
  /// Runs it on all ranks; false with the message where one failed, now or before.
  bool runOrBreak(Command next, std::string &error);

  bool overThreads() const { return options.communicator == nullptr; }
  int64_t firstRank() const { return ranks[0]->communicator->rank(); }
  /// Null where the rank is not local.
  Rank *localRank(int64_t rank) const {
    int64_t index = rank - firstRank();
    return index >= 0 && index < int64_t(ranks.size()) ? ranks[size_t(index)].get() : nullptr;
  }
};

} // namespace zrt

#endif // ZERO_RUNTIME_CPU_SESSIONIMPL_H
