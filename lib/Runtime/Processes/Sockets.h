//===- Sockets.h - TCP with deadlines -------------------------------------===//
//
// The few calls that meeting, lifeline and mesh are made of. All sockets are
// non-blocking; every wait has a deadline.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROCESSES_SOCKETS_H
#define ZERO_RUNTIME_PROCESSES_SOCKETS_H

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace zrt {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

inline Deadline inSeconds(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Owns a file descriptor.
class Socket {
public:
  Socket() = default;
  explicit Socket(int fd) : fd(fd) {}
  Socket(Socket &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() { close(); }

  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }
  void close();

private:
  int fd = -1;
};

/// One end of a connection, as numbers.
struct Address {
  std::string host; // `10.0.0.7`, `::1`
  uint16_t port = 0;
};

bool isLoopback(const std::string &host); // numbers, or `localhost`
Address localAddress(const Socket &socket);
Address peerAddress(const Socket &socket);

/// Listens at `host`, or everywhere where that is empty; port 0: any free one.
Socket listenAt(const std::string &host, uint16_t port, std::string &error);

/// Resolves the name and tries each of its addresses once.
Socket connectTo(const std::string &host, uint16_t port, Deadline deadline, std::string &error);

/// Nothing where the deadline passes first.
Socket acceptFrom(const Socket &listener, Deadline deadline);

/// False at the end of the connection or the deadline.
bool sendAll(const Socket &socket, const void *data, size_t bytes, Deadline deadline);
bool receiveAll(const Socket &socket, void *data, size_t bytes, Deadline deadline);

/// Has the system notice a peer whose machine or network is gone, within some 10 s.
void keepAlive(const Socket &socket);

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_SOCKETS_H
