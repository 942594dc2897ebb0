//===- Sockets.cpp - TCP with deadlines -----------------------------------===//

#include "Sockets.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace zrt {

void Socket::close() {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

/// Whether one of `events` came before the deadline.
static bool waitFor(int fd, short events, Deadline deadline) {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left < 0)
      return false;
    pollfd polled = {fd, events, 0};
    int got = poll(&polled, 1, int(std::min<int64_t>(left, 1 << 30)));
    if (got > 0)
      return true;
    if (got == 0 || errno != EINTR)
      return false;
  }
}

static void setOption(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);
}

static Address toAddress(const sockaddr_storage &storage, socklen_t length) {
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "0";
  getnameinfo(reinterpret_cast<const sockaddr *>(&storage), length, host, sizeof host, port,
              sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  // A listener for both families sees IPv4 peers as mapped addresses.
  constexpr std::string_view kMapped = "::ffff:";
  std::string_view text = host;
  if (text.starts_with(kMapped) && text.find('.') != text.npos)
    text.remove_prefix(kMapped.size());
  return {std::string(text), uint16_t(std::stoi(port))};
}

bool isLoopback(const std::string &host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Address localAddress(const Socket &socket) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof storage;
  getsockname(socket.get(), reinterpret_cast<sockaddr *>(&storage), &length);
  return toAddress(storage, length);
}

Address peerAddress(const Socket &socket) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof storage;
  getpeername(socket.get(), reinterpret_cast<sockaddr *>(&storage), &length);
  return toAddress(storage, length);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

static AddressList resolve(const std::string &host, uint16_t port, std::string &error) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host.empty() ? AI_PASSIVE : 0;
  int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(),
                         &hints, &found);
  if (code != 0)
    error = "host '" + host + "': " + gai_strerror(code);
  return {code == 0 ? found : nullptr, &freeaddrinfo};
}

static Socket openSocket(const addrinfo &to) {
  return Socket(
      socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol));
}

Socket listenAt(const std::string &host, uint16_t port, std::string &error) {
  AddressList list = resolve(host, port, error);
  // IPv6 first, where everywhere is meant: such a socket takes both families.
  for (bool wide : {true, false})
    for (const addrinfo *to = list.get(); to; to = to->ai_next) {
      if (host.empty() && wide != (to->ai_family == AF_INET6))
        continue;
      Socket listener = openSocket(*to);
      if (!listener)
        continue;
      setOption(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);
      if (to->ai_family == AF_INET6)
        setOption(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, !host.empty());
      if (bind(listener.get(), to->ai_addr, to->ai_addrlen) == 0 &&
          listen(listener.get(), SOMAXCONN) == 0)
        return listener;
      error = std::strerror(errno);
      if (errno == EADDRINUSE)
        return {};
    }
  return {};
}

Socket connectTo(const std::string &host, uint16_t port, Deadline deadline, std::string &error) {
  AddressList list = resolve(host, port, error);
  for (const addrinfo *to = list.get(); to; to = to->ai_next) {
    Socket link = openSocket(*to);
    if (!link)
      continue;
    int code = connect(link.get(), to->ai_addr, to->ai_addrlen) == 0 ? 0 : errno;
    if (code == EINPROGRESS) {
      socklen_t length = sizeof code;
      code = ETIMEDOUT;
      if (waitFor(link.get(), POLLOUT, deadline))
        getsockopt(link.get(), SOL_SOCKET, SO_ERROR, &code, &length);
    }
    // A port from which connections go out can meet itself, where nobody listens.
    if (code == 0 && localAddress(link).port == port &&
        localAddress(link).host == peerAddress(link).host)
      code = ECONNREFUSED;
    if (code == 0) {
      setOption(link.get(), IPPROTO_TCP, TCP_NODELAY, 1);
      return link;
    }
    error = std::strerror(code);
  }
  return {};
}

Socket acceptFrom(const Socket &listener, Deadline deadline) {
  while (waitFor(listener.get(), POLLIN, deadline)) {
    Socket link(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!link)
      continue; // who called has hung up
    setOption(link.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    return link;
  }
  return {};
}

bool sendAll(const Socket &socket, const void *data, size_t bytes, Deadline deadline) {
  for (auto *next = static_cast<const char *>(data); bytes > 0;) {
    ssize_t sent = send(socket.get(), next, bytes, MSG_NOSIGNAL);
    if (sent > 0) {
      next += sent;
      bytes -= size_t(sent);
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!waitFor(socket.get(), POLLOUT, deadline))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

bool receiveAll(const Socket &socket, void *data, size_t bytes, Deadline deadline) {
  for (auto *next = static_cast<char *>(data); bytes > 0;) {
    ssize_t got = recv(socket.get(), next, bytes, 0);
    if (got > 0) {
      next += got;
      bytes -= size_t(got);
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (!waitFor(socket.get(), POLLIN, deadline))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

void keepAlive(const Socket &socket) {
  setOption(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPIDLE, 4);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPINTVL, 1);
  setOption(socket.get(), IPPROTO_TCP, TCP_KEEPCNT, 4);
  setOption(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, 8000); // ms, for what was sent
}

} // namespace zrt
