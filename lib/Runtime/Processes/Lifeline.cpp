//===- Lifeline.cpp - who is alive, and why the job ends ------------------===//

#include "Lifeline.h"

#include <cerrno>
#include <sys/socket.h>

namespace zrt {

namespace {

constexpr double kSecondsToSend = 2.0, kSecondsForVerdict = 1.0;
/// From a failure to `stuck`: within the 10 s in which a job has to end.
constexpr auto kGrace = std::chrono::seconds(5);
constexpr size_t kMostText = 4096;

struct Head {
  uint32_t kind = 0, bytes = 0;
  int64_t reporter = 0;
};

} // namespace

Lifeline::Lifeline(Meeting met, int64_t rank, Callbacks callbacks)
    : meeting(std::move(met)), self(rank), callbacks(std::move(callbacks)),
      left(meeting.links.size(), false) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    wake = Socket(ends[0]);
    waker = Socket(ends[1]);
  }
  for (size_t link = 0; link < left.size(); ++link) {
    left[link] = !meeting.links[link];
    if (!left[link])
      keepAlive(meeting.links[link]);
  }
  polled.reserve(left.size() + 1);
  polledLinks.reserve(left.size() + 1);
  thread = std::thread([this] { listen(); });
}

Lifeline::~Lifeline() {
  {
    std::lock_guard lock(mutex);
    closing = true;
  }
  changed.notify_all();
  if (!failed)
    for (size_t link = 0; link < meeting.links.size(); ++link)
      send(link, Kind::Farewell, {});
  waker.close();
  thread.join();
}

std::string Lifeline::error() const {
  std::lock_guard lock(mutex);
  return first ? first->message : std::string();
}

void Lifeline::abort(const std::string &message) {
  Failure failure{self, message.substr(0, kMostText), false};
  if (!record(failure))
    return;
  if (isHost())
    spread(failure);
  else
    send(0, Kind::Failure, failure);
}

bool Lifeline::reports() {
  std::unique_lock lock(mutex);
  if (!first || first->reporter != self || first->told)
    return false;
  changed.wait_for(lock, std::chrono::duration<double>(kSecondsForVerdict),
                   [&] { return verdict.has_value(); });
  return !verdict || verdict->reporter == self || verdict->message != first->message;
}

void Lifeline::awaitEnd(double seconds) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return bool(failed); });
}

/// False where another failure came first. Rank 0's first is the verdict.
bool Lifeline::record(Failure failure) {
  std::lock_guard lock(mutex);
  if (first)
    return false;
  first = std::move(failure);
  if (isHost() || meeting.links.empty())
    verdict = first;
  failed = true;
  changed.notify_all();
  return true;
}

void Lifeline::send(size_t link, Kind kind, const Failure &failure) {
  if (link >= meeting.links.size() || !meeting.links[link])
    return;
  Head head{uint32_t(kind), uint32_t(failure.message.size()), failure.reporter};
  std::lock_guard lock(sending);
  Deadline deadline = inSeconds(kSecondsToSend);
  if (sendAll(meeting.links[link], &head, sizeof head, deadline))
    (void)sendAll(meeting.links[link], failure.message.data(), failure.message.size(), deadline);
}

void Lifeline::spread(const Failure &failure) {
  for (size_t link = 0; link < meeting.links.size(); ++link)
    send(link, Kind::Failure, failure);
}

/// The listening thread: until the destructor closes `waker`, or `stuck` ends the process.
void Lifeline::listen() {
  std::optional<Deadline> patience;
  for (;;) {
    polled.assign(1, {wake.get(), POLLIN, 0});
    polledLinks.assign(1, 0);
    for (size_t link = 0; link < left.size(); ++link)
      if (!left[link]) {
        polled.push_back({meeting.links[link].get(), POLLIN, 0});
        polledLinks.push_back(link);
      }
    constexpr int kTurn = 500; // ms
    poll(polled.data(), nfds_t(polled.size()), kTurn);
    if (polled[0].revents)
      return;
    for (size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents)
        hear(polledLinks[i]);
    if (failed && !patience)
      patience = Clock::now() + kGrace;
    if (patience && Clock::now() > *patience && callbacks.stuck) {
      callbacks.stuck();
      patience = Deadline::max();
    }
  }
}

void Lifeline::hear(size_t link) {
  Head head;
  Deadline deadline = inSeconds(kSecondsToSend);
  errno = 0; // the end of a connection is no error
  if (!receiveAll(meeting.links[link], &head, sizeof head, deadline))
    return lost(link);
  if (Kind(head.kind) == Kind::Farewell)
    return leave(link);
  Failure failure{head.reporter, std::string(std::min<size_t>(head.bytes, kMostText), ' '), false};
  if (!receiveAll(meeting.links[link], failure.message.data(), failure.message.size(), deadline))
    return lost(link);
  if (record(failure)) {
    if (isHost())
      spread(failure);
  }
  std::lock_guard lock(mutex);
  if (!isHost()) {
    verdict = failure;
    changed.notify_all();
  }
}

/// Rank 0 speaks for whom it lost, rank 1 for rank 0.
void Lifeline::lost(size_t link) {
  int cause = errno;
  leave(link);
  int64_t who = isHost() ? int64_t(link) : 0, reporter = who == 0 ? 1 : 0;
  {
    std::lock_guard lock(mutex);
    if (closing)
      return;
  }
  bool unreachable = cause == ETIMEDOUT || cause == EHOSTUNREACH || cause == ENETUNREACH;
  Failure failure{reporter,
                  "lost " + nameOf(who) + ": " +
                      (unreachable ? "its machine is out of reach" : "its process ended"),
                  true};
  if (!record(failure))
    return;
  if (isHost())
    spread(failure);
  if (reporter == self && callbacks.tell)
    callbacks.tell(failure.message);
}

void Lifeline::leave(size_t link) { left[link] = true; }

} // namespace zrt
