//===- Join.cpp - from a launcher's words to a communicator ---------------===//

#include "../Mpi/MpiTransport.h"
#include "../Tcp/TcpTransport.h"
#include "MessageCommunicator.h"

#include <cstring>
#include <exception>
#include <ifaddrs.h>
#include <netdb.h>
#include <unistd.h>

namespace zrt {

namespace {

/// Where rank 0 waits for the lifelines of ranks that MPI brought together.
struct Place {
  uint64_t token = 0;
  uint16_t port = 0;
  char host[64] = "";
  char addresses[8][64] = {};
};

/// This machine's addresses for others.
void writeAddresses(Place &place) {
  gethostname(place.host, sizeof place.host - 1);
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return;
  size_t written = 0;
  for (int family : {AF_INET, AF_INET6})
    for (ifaddrs *one = list; one && written < std::size(place.addresses); one = one->ifa_next) {
      char host[64] = "";
      if (!one->ifa_addr || one->ifa_addr->sa_family != family)
        continue;
      socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      if (getnameinfo(one->ifa_addr, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0 ||
          isLoopback(host) || std::strchr(host, '%')) // a link's own address
        continue;
      std::memcpy(place.addresses[written++], host, sizeof host);
    }
  freeifaddrs(list);
}

std::vector<std::string> hostsOf(const Place &place) {
  std::vector<std::string> hosts;
  char mine[sizeof place.host] = "";
  gethostname(mine, sizeof mine - 1);
  if (!std::strcmp(mine, place.host))
    hosts.push_back("127.0.0.1");
  for (const auto &address : place.addresses)
    if (address[0])
      hosts.push_back(address);
  hosts.push_back(place.host);
  return hosts;
}

std::shared_ptr<ProcessCommunicator> finish(std::unique_ptr<Transport> transport, Meeting meeting,
                                            const JoinOptions &options) {
  auto lifeline = std::make_unique<Lifeline>(std::move(meeting), transport->rank(),
                                             Lifeline::Callbacks{options.tell, options.stuck});
  return createMessageCommunicator(std::move(transport), std::move(lifeline), options);
}

std::shared_ptr<ProcessCommunicator> joinOverMpi(const LaunchEnvironment &launch,
                                                 const JoinOptions &options, std::string &error) {
  Deadline deadline = inSeconds(options.joinTimeout);
  std::unique_ptr<Transport> transport = createMpiTransport(error);
  if (!transport) {
    error = "started by an MPI launcher (" + launch.source + "): " + error;
    return nullptr;
  }
  if (launch.ranks != 0 && transport->ranks() != launch.ranks) {
    error = "expects the launcher's " + std::to_string(launch.ranks) + " ranks (" + launch.source +
            "), got " + std::to_string(transport->ranks()) +
            " from MPI: the launcher belongs to another MPI than libzero-mpi.so";
    return nullptr;
  }

  int64_t rank = transport->rank(), ranks = transport->ranks();
  Meeting meeting;
  Place place;
  if (rank == 0) {
    meeting.listener = listenAt("", 0, error);
    place.token = drawToken();
    place.port = meeting.listener ? localAddress(meeting.listener).port : 0;
    writeAddresses(place);
  }
  std::vector<Part> parts(static_cast<size_t>(ranks));
  for (int64_t peer = 0; peer < ranks; ++peer)
    parts[size_t(peer)] = rank == 0   ? Part{&place, sizeof place, nullptr, 0}
                          : peer == 0 ? Part{nullptr, 0, &place, sizeof place}
                                      : Part{};
  std::atomic<bool> ended{false};
  if (Fault fault; !transport->exchange(parts, {ended, options.joinTimeout}, fault)) {
    error = fault.text;
    return nullptr;
  }
  bool met = rank == 0 ? meetAsHost(meeting, ranks, place.token, deadline, error)
                       : meetAsGuest(meeting, hostsOf(place), place.port, rank, ranks, place.token,
                                     false, deadline, error);
  meeting.listener.close();
  return met ? finish(std::move(transport), std::move(meeting), options) : nullptr;
}

std::shared_ptr<ProcessCommunicator> joinOverTcp(const LaunchEnvironment &launch,
                                                 const JoinOptions &options, std::string &error) {
  Deadline deadline = inSeconds(options.joinTimeout);
  Meeting meeting;
  if (launch.rank == 0) {
    meeting.listener = listenAt(isLoopback(launch.host) ? launch.host : "", launch.port, error);
    if (!meeting.listener) {
      error = "rank 0 cannot listen at " + launch.host + ":" + std::to_string(launch.port) + ": " +
              error;
      return nullptr;
    }
    if (!meetAsHost(meeting, launch.ranks, 0, deadline, error))
      return nullptr;
  } else if (!meetAsGuest(meeting, {launch.host}, launch.port, launch.rank, launch.ranks, 0, true,
                          deadline, error)) {
    return nullptr;
  }
  // The last to meet has as much time to be called as the first.
  std::unique_ptr<Transport> transport =
      createTcpTransport(meeting, launch.rank, inSeconds(options.joinTimeout), error);
  return transport ? finish(std::move(transport), std::move(meeting), options) : nullptr;
}

} // namespace

std::shared_ptr<ProcessCommunicator>
joinProcesses(const LaunchEnvironment &launch, const JoinOptions &options, std::string &error) try {
  return launch.kind == LaunchEnvironment::Kind::Mpi ? joinOverMpi(launch, options, error)
                                                     : joinOverTcp(launch, options, error);
} catch (const std::exception &failure) {
  error = std::string("expects memory and threads to join the other ranks, got: ") + failure.what();
  return nullptr;
}

} // namespace zrt
