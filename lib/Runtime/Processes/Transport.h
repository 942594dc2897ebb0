//===- Transport.h - bytes between the ranks of a job ---------------------===//
//
// All that a collective needs of MPI or TCP: every rank hands over what goes to each
// peer and where what comes is to be put.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROCESSES_TRANSPORT_H
#define ZERO_RUNTIME_PROCESSES_TRANSPORT_H

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace zrt {

/// What goes to a peer and comes from it. No bytes: no message.
struct Part {
  const void *send = nullptr;
  int64_t sendBytes = 0;
  void *receive = nullptr;
  int64_t receiveBytes = 0;
};

/// How long to wait.
struct Patience {
  const std::atomic<bool> &ended; // set from elsewhere: give up at once
  double timeout = 0.0;           // seconds without a byte
};

/// Why an exchange failed. Empty text: `ended` was set.
struct Fault {
  std::string text;
  /// A peer broke off: its own end, or somebody else's, comes before this.
  bool hasCause = false;
};

class Transport {
public:
  virtual ~Transport() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;

  /// Sends and receives everything in `parts`, one a rank; the own one is ignored. Parts of two
  /// ranks fit each other, and are at most 2^30 bytes. Allocates nothing on success; one call at a
  /// time.
  virtual bool exchange(const std::vector<Part> &parts, const Patience &patience, Fault &fault) = 0;

  /// The last call. `orderly`: all ranks make it.
  virtual void close(bool orderly) = 0;
};

/// `expects ranks 1 and 3 to take part in a collective, and waited 30 s in vain (--rank-timeout)`:
/// the same words for all who wait for the same.
inline std::string silenceText(const std::vector<int64_t> &silent, double timeout) {
  std::string text = silent.size() == 1 ? "expects rank " : "expects ranks ";
  for (size_t i = 0; i < silent.size(); ++i)
    text += (i == 0 ? "" : i + 1 == silent.size() ? " and " : ", ") + std::to_string(silent[i]);
  return text + " to take part in a collective, and waited " + std::to_string(int64_t(timeout)) +
         " s in vain (--rank-timeout)";
}

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_TRANSPORT_H
