//===- Lifeline.h - who is alive, and why the job ends --------------------===//
//
// A star of connections with rank 0 in its middle, and a thread that listens. The
// first failure that reaches rank 0 is the job's: rank 0 tells it to all. A link
// that ends without a farewell is the end of a process (F2).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROCESSES_LIFELINE_H
#define ZERO_RUNTIME_PROCESSES_LIFELINE_H

#include "Meeting.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>

namespace zrt {

class Lifeline {
public:
  struct Callbacks { // see JoinOptions
    std::function<void(const std::string &)> tell;
    std::function<void()> stuck;
  };

  Lifeline(Meeting meeting, int64_t rank, Callbacks callbacks);
  /// Says farewell, unless the job has failed.
  ~Lifeline();

  /// Set once a failure is known.
  const std::atomic<bool> &ended() const { return failed; }
  /// Why; empty while all is well.
  std::string error() const;
  /// Tells all ranks; the first message stays. From any thread.
  void abort(const std::string &message);
  /// See ProcessCommunicator.
  bool reports();
  /// Waits a moment for word of a failure that something else has hinted at.
  void awaitEnd(double seconds);
  std::string nameOf(int64_t rank) const { return zrt::nameOf(meeting, rank); }

private:
  struct Failure {
    int64_t reporter = 0; // who prints it
    std::string message;
    bool told = false; // by the callback
  };
  enum class Kind : uint32_t { Failure, Farewell };

  bool isHost() const { return self == 0; }
  void listen();
  void hear(size_t link);
  void lost(size_t link);
  bool record(Failure failure);
  void send(size_t link, Kind kind, const Failure &failure);
  void spread(const Failure &failure);
  void leave(size_t link);

  Meeting meeting;
  const int64_t self;
  const Callbacks callbacks;
  // The listening thread's; it allocates nothing while all is well.
  std::vector<bool> left; // by link
  std::vector<pollfd> polled;
  std::vector<size_t> polledLinks;
  Socket wake, waker;
  std::atomic<bool> failed{false};
  bool closing = false;

  mutable std::mutex mutex; // of the failures
  std::condition_variable changed;
  std::optional<Failure> first, verdict; // this rank's first, and rank 0's
  std::mutex sending;
  std::thread thread;
};

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_LIFELINE_H
