//===- MpiModule.cpp - bytes over MPI -------------------------------------===//
//
// The one file that includes mpi.h. Requests are tested in turns rather than waited
// for, so that a failure elsewhere, or a silent peer, ends the wait.
//
//===----------------------------------------------------------------------===//

#include "MpiTransport.h"

#include <chrono>
#include <mpi.h>
#include <sched.h>
#include <thread>

namespace zrt {

namespace {

std::string errorText(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

class MpiTransport final : public Transport {
public:
  MpiTransport() {
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    for (MPI_Comm one : {MPI_COMM_WORLD, world})
      MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    int rank = 0, size = 1;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    self = rank;
    count = size;
    requests.resize(2 * size_t(count), MPI_REQUEST_NULL);
    statuses.resize(requests.size());
  }

  int64_t rank() const override { return self; }
  int64_t ranks() const override { return count; }

  bool exchange(const std::vector<Part> &parts, const Patience &patience, Fault &fault) override {
    // Requests 2p and 2p + 1: from and to rank p.
    int code = MPI_SUCCESS;
    for (int64_t step = 1; step < count && code == MPI_SUCCESS; ++step) {
      int peer = int((self + step) % count);
      const Part &part = parts[size_t(peer)];
      if (part.receiveBytes > 0)
        code = MPI_Irecv(part.receive, int(part.receiveBytes), MPI_BYTE, peer, kTag, world,
                         &requests[2 * size_t(peer)]);
      if (part.sendBytes > 0 && code == MPI_SUCCESS)
        code = MPI_Isend(part.send, int(part.sendBytes), MPI_BYTE, peer, kTag, world,
                         &requests[2 * size_t(peer) + 1]);
    }
    return code == MPI_SUCCESS ? finish(parts, patience, fault) : failed(code, fault);
  }

  /// Finalize waits for all ranks. A job that failed has none to wait for; then the system, and the
  /// launcher, take back what MPI holds.
  void close(bool orderly) override {
    if (!orderly)
      return;
    MPI_Comm_free(&world);
    MPI_Finalize();
  }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kTag = 0;

  bool finish(const std::vector<Part> &parts, const Patience &patience, Fault &fault) {
    const Clock::time_point begin = Clock::now();
    Clock::time_point moved = begin;
    int64_t open = int64_t(requests.size());
    while (!patience.ended) {
      int done = 0;
      if (int code = MPI_Testall(int(requests.size()), requests.data(), &done, statuses.data());
          code != MPI_SUCCESS)
        return failed(code, fault);
      if (done)
        return rightLengths(parts, fault);
      std::chrono::duration<double> waited = Clock::now() - moved;
      if (waited.count() > patience.timeout) {
        if (int64_t now = openRequests(); now < open) {
          open = now;
          moved = Clock::now();
        } else {
          fault.text = silenceText(silent(), patience.timeout);
          return false;
        }
      }
      rest(Clock::now() - begin);
    }
    return false;
  }

  /// Others may need the core: the very ranks that are waited for.
  static void rest(Clock::duration waited) {
    if (waited < std::chrono::milliseconds(10))
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

  /// Leaves requests as they are, done or not.
  bool isOpen(size_t request) const {
    int done = 0;
    MPI_Request_get_status(requests[request], &done, MPI_STATUS_IGNORE);
    return !done;
  }

  int64_t openRequests() const {
    int64_t open = 0;
    for (size_t request = 0; request < requests.size(); ++request)
      open += isOpen(request);
    return open;
  }

  /// Those who have not sent; else those who don't receive.
  std::vector<int64_t> silent() const {
    std::vector<int64_t> ranks;
    for (size_t kind : {0, 1})
      for (size_t peer = 0; peer < size_t(count) && (kind == 0 || ranks.empty()); ++peer)
        if (isOpen(2 * peer + kind))
          ranks.push_back(int64_t(peer));
    return ranks;
  }

  bool rightLengths(const std::vector<Part> &parts, Fault &fault) {
    for (size_t peer = 0; peer < size_t(count); ++peer) {
      if (int64_t(peer) == self || parts[peer].receiveBytes == 0)
        continue;
      int bytes = 0;
      MPI_Get_count(&statuses[2 * peer], MPI_BYTE, &bytes);
      if (bytes != parts[peer].receiveBytes) {
        fault.text = "expects a message of rank " + std::to_string(peer) + " of " +
                     std::to_string(parts[peer].receiveBytes) + " bytes, got one of " +
                     std::to_string(bytes) + ": the ranks do not run the same program";
        return false;
      }
    }
    return true;
  }

  bool failed(int code, Fault &fault) {
    if (code == MPI_ERR_IN_STATUS)
      for (const MPI_Status &status : statuses)
        if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
          code = status.MPI_ERROR;
    fault = {"MPI fails: " + errorText(code), true};
    return false;
  }

  MPI_Comm world = MPI_COMM_NULL;
  int64_t self = 0, count = 1;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
};

} // namespace

} // namespace zrt

extern "C" zrt::Transport *zrtCreateMpiTransport(std::string &error) {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  int code = initialized ? MPI_Query_thread(&provided)
                         : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (code != MPI_SUCCESS) {
    error = "MPI cannot be initialised: " + zrt::errorText(code);
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    error = "expects an MPI that several threads may call in turn, got one for a single thread";
    return nullptr;
  }
  return new zrt::MpiTransport();
}
