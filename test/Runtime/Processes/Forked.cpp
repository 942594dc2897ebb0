//===- Forked.cpp - a process a rank, for tests ---------------------------===//

#include "Forked.h"

#include "../../../lib/Runtime/Processes/Sockets.h"

#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zrt::test {

/// Beyond what any test takes; behind it everything is killed.
static constexpr double kPatience = 15.0;

std::vector<Ending> runForked(int64_t processes,
                              const std::function<std::string(int64_t index)> &fn) {
  struct Child {
    pid_t pid = -1;
    int pipe = -1;
    bool open = true;
  };
  std::vector<Child> children(static_cast<size_t>(processes));
  auto begin = Clock::now();
  for (int64_t index = 0; index < processes; ++index) {
    int ends[2];
    if (pipe(ends) != 0)
      return {};
    pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      std::string text = fn(index);
      (void)!write(ends[1], text.data(), text.size());
      _exit(text.empty() ? 0 : 1);
    }
    close(ends[1]);
    children[size_t(index)] = {pid, ends[0], true};
  }
  std::vector<Ending> endings(children.size());
  auto secondsNow = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  // A pipe ends with its process: until all have, or patience has.
  for (size_t open = children.size(); open > 0 && secondsNow() < kPatience;) {
    std::vector<pollfd> polled;
    for (const Child &child : children)
      polled.push_back({child.open ? child.pipe : -1, POLLIN, 0});
    poll(polled.data(), nfds_t(polled.size()), 100);
    for (size_t i = 0; i < children.size(); ++i) {
      if (!polled[i].revents)
        continue;
      char bytes[4096];
      ssize_t got = read(children[i].pipe, bytes, sizeof bytes);
      if (got > 0) {
        endings[i].text.append(bytes, size_t(got));
        continue;
      }
      children[i].open = false;
      endings[i].seconds = secondsNow();
      --open;
    }
  }
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i].open)
      kill(children[i].pid, SIGKILL);
    int status = 0;
    waitpid(children[i].pid, &status, 0);
    endings[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    endings[i].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    close(children[i].pipe);
  }
  return endings;
}

uint16_t freePort() {
  std::string error;
  return localAddress(listenAt("127.0.0.1", 0, error)).port;
}

LaunchEnvironment tcpRank(int64_t rank, int64_t ranks, uint16_t port) {
  LaunchEnvironment launch;
  launch.kind = LaunchEnvironment::Kind::Tcp;
  launch.rank = rank;
  launch.ranks = ranks;
  launch.host = "127.0.0.1";
  launch.port = port;
  return launch;
}

JoinOptions impatient() {
  JoinOptions options;
  options.joinTimeout = 10.0;
  options.rankTimeout = 10.0;
  options.scratchBytes = 1 << 16;
  return options;
}

std::vector<Ending>
runJoined(int64_t ranks, const JoinOptions &options,
          const std::function<std::string(ProcessCommunicator &communicator)> &fn) {
  uint16_t port = freePort();
  return runForked(ranks, [&](int64_t rank) {
    std::string error;
    auto communicator = joinProcesses(tcpRank(rank, ranks, port), options, error);
    return communicator ? fn(*communicator) : error.empty() ? "rank 0 has it" : error;
  });
}

} // namespace zrt::test
