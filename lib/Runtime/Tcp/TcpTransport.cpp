//===- TcpTransport.cpp - a TCP connection from each rank to each ---------===//
//
// An exchange moves whatever a connection takes or gives, all peers at once, and
// polls when none does. Before the bytes of a message goes its length and a running
// number: a rank that runs another program is caught here, and not by its numbers.
//
//===----------------------------------------------------------------------===//

#include "TcpTransport.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace zrt {

namespace {

struct Call {
  uint64_t token = 0;
  int64_t rank = 0;
};

/// Before each message.
struct Head {
  uint64_t number = 0;
  int64_t bytes = 0;
};
constexpr int64_t kHead = sizeof(Head);

/// How far the messages to and from one peer have come, heads included.
struct Progress {
  Head out, in;
  int64_t sent = 0, toSend = 0;
  int64_t got = 0, toGet = 0;
  uint64_t messagesOut = 0, messagesIn = 0;

  bool done() const { return sent == toSend && got == toGet; }
};

class TcpTransport final : public Transport {
public:
  TcpTransport(std::vector<Socket> connected, int64_t rank)
      : links(std::move(connected)), progress(links.size()), polled(links.size()), self(rank) {
    for (size_t peer = 0; peer < links.size(); ++peer)
      polled[peer] = {links[peer].get(), 0, 0}; // poll skips this rank's -1
  }

  int64_t rank() const override { return self; }
  int64_t ranks() const override { return int64_t(links.size()); }
  void close(bool) override { links.clear(); }

  bool exchange(const std::vector<Part> &parts, const Patience &patience, Fault &fault) override {
    begin(parts);
    Deadline moved = Clock::now();
    while (!patience.ended) {
      bool moves = false;
      size_t open = 0;
      for (size_t peer = 0; peer < links.size(); ++peer) {
        if (progress[peer].done())
          continue;
        if (!send(peer, parts[peer], moves, fault) || !receive(peer, parts[peer], moves, fault))
          return false;
        open += !progress[peer].done();
      }
      if (open == 0)
        return true;
      if (moves) {
        moved = Clock::now();
        continue;
      }
      if (std::chrono::duration<double>(Clock::now() - moved).count() > patience.timeout) {
        fault.text = silenceText(silent(), patience.timeout);
        return false;
      }
      wait();
    }
    return false;
  }

private:
  void begin(const std::vector<Part> &parts) {
    for (size_t peer = 0; peer < links.size(); ++peer) {
      Progress &p = progress[peer];
      p.sent = p.toSend = p.got = p.toGet = 0;
      if (int64_t(peer) == self)
        continue;
      if (parts[peer].sendBytes > 0) {
        p.out = {++p.messagesOut, parts[peer].sendBytes};
        p.toSend = kHead + parts[peer].sendBytes;
      }
      if (parts[peer].receiveBytes > 0) {
        ++p.messagesIn;
        p.toGet = kHead + parts[peer].receiveBytes;
      }
    }
  }

  /// What lies `done` bytes into a message of a head and a body.
  static size_t rest(iovec (&pieces)[2], void *head, void *body, int64_t bodyBytes, int64_t done) {
    size_t count = 0;
    if (done < kHead)
      pieces[count++] = {static_cast<char *>(head) + done, size_t(kHead - done)};
    int64_t inBody = std::max<int64_t>(done - kHead, 0);
    pieces[count++] = {static_cast<char *>(body) + inBody, size_t(bodyBytes - inBody)};
    return count;
  }

  bool send(size_t peer, const Part &part, bool &moves, Fault &fault) {
    Progress &p = progress[peer];
    while (p.sent < p.toSend) {
      iovec pieces[2];
      msghdr message = {};
      message.msg_iov = pieces;
      message.msg_iovlen =
          rest(pieces, &p.out, const_cast<void *>(part.send), part.sendBytes, p.sent);
      ssize_t sent = sendmsg(links[peer].get(), &message, MSG_NOSIGNAL);
      if (sent < 0)
        return mayGoOn(peer, fault);
      p.sent += sent;
      moves = true;
    }
    return true;
  }

  /// The head alone first: what follows is read to where it belongs once it is known to fit.
  bool receive(size_t peer, const Part &part, bool &moves, Fault &fault) {
    Progress &p = progress[peer];
    while (p.got < p.toGet) {
      bool inHead = p.got < kHead;
      char *to = inHead ? reinterpret_cast<char *>(&p.in) + p.got
                        : static_cast<char *>(part.receive) + (p.got - kHead);
      ssize_t got = recv(links[peer].get(), to, size_t((inHead ? kHead : p.toGet) - p.got), 0);
      if (got == 0)
        errno = ECONNRESET;
      if (got <= 0)
        return mayGoOn(peer, fault);
      p.got += got;
      moves = true;
      if (inHead && p.got == kHead &&
          (p.in.number != p.messagesIn || p.in.bytes != part.receiveBytes)) {
        fault.text = "expects message " + std::to_string(p.messagesIn) + " of rank " +
                     std::to_string(peer) + " to have " + std::to_string(part.receiveBytes) +
                     " bytes, got message " + std::to_string(p.in.number) + " of " +
                     std::to_string(p.in.bytes) + ": the ranks do not run the same program";
        return false;
      }
    }
    return true;
  }

  bool mayGoOn(size_t peer, Fault &fault) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
      return true;
    fault = {"lost the connection to rank " + std::to_string(peer) + ": " + std::strerror(errno),
             true};
    return false;
  }

  /// Those who have not sent; else those who don't read.
  std::vector<int64_t> silent() const {
    std::vector<int64_t> ranks;
    for (bool sending : {true, false})
      for (size_t peer = 0; peer < progress.size() && (sending || ranks.empty()); ++peer)
        if (sending ? progress[peer].got < progress[peer].toGet : !progress[peer].done())
          ranks.push_back(int64_t(peer));
    return ranks;
  }

  void wait() {
    for (size_t peer = 0; peer < links.size(); ++peer) {
      const Progress &p = progress[peer];
      polled[peer].fd = p.done() ? -1 : links[peer].get();
      polled[peer].events =
          short((p.sent < p.toSend ? POLLOUT : 0) | (p.got < p.toGet ? POLLIN : 0));
    }
    constexpr int kTurn = 50; // ms, to look at `ended`
    poll(polled.data(), nfds_t(polled.size()), kTurn);
  }

  std::vector<Socket> links; // by rank; none to itself
  std::vector<Progress> progress;
  std::vector<pollfd> polled;
  const int64_t self;
};

} // namespace

/// Every rank calls those below it, which listen since before the meeting, and answers the others.
std::unique_ptr<Transport> createTcpTransport(Meeting &meeting, int64_t rank, Deadline deadline,
                                              std::string &error) {
  int64_t ranks = int64_t(meeting.members.size());
  std::vector<Socket> links(static_cast<size_t>(ranks));
  for (int64_t peer = 0; peer < rank; ++peer) {
    const Member &member = meeting.members[size_t(peer)];
    Call call{meeting.token, rank};
    std::string reason;
    Socket link = connectTo(member.address, member.port, deadline, reason);
    if (!link || !sendAll(link, &call, sizeof call, deadline)) {
      error = "rank " + std::to_string(rank) + " expects to reach " + nameOf(meeting, peer) +
              " at " + member.address + ":" + std::to_string(member.port) +
              ", got: " + (reason.empty() ? "no time left" : reason);
      return nullptr;
    }
    links[size_t(peer)] = std::move(link);
  }
  constexpr double kSecondsToSpeak = 5.0;
  for (int64_t missing = ranks - 1 - rank; missing > 0;) {
    Socket link = acceptFrom(meeting.listener, deadline);
    if (!link) {
      for (int64_t peer = rank + 1; peer < ranks; ++peer)
        if (!links[size_t(peer)])
          error += (error.empty() ? "" : ", ") + nameOf(meeting, peer);
      error = "rank " + std::to_string(rank) +
              " expects all ranks to call it, and waited in vain for " + error;
      return nullptr;
    }
    Call call;
    if (!receiveAll(link, &call, sizeof call, inSeconds(kSecondsToSpeak)) ||
        call.token != meeting.token || call.rank <= rank || call.rank >= ranks ||
        links[size_t(call.rank)])
      continue; // a stranger
    links[size_t(call.rank)] = std::move(link);
    --missing;
  }
  meeting.listener.close();
  return std::make_unique<TcpTransport>(std::move(links), rank);
}

} // namespace zrt
