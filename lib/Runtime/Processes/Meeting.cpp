//===- Meeting.cpp - the ranks of a job find one another ------------------===//

#include "Meeting.h"

#include <cstring>
#include <random>
#include <thread>
#include <unistd.h>

namespace zrt {

namespace {

constexpr uint64_t kMagic = 0x314b4e41522d5aull; // "Z-RANK1"
/// For one who has called: to say a few bytes.
constexpr double kSecondsToSpeak = 5.0;
constexpr uint32_t kMostText = 4096;

struct Hello {
  uint64_t magic = kMagic, token = 0;
  int64_t rank = 0, ranks = 0;
  Member member;
};

/// Followed by the members, or by the text of what is wrong.
struct Answer {
  uint64_t magic = kMagic, token = 0;
  uint32_t textBytes = 0;
};

Member thisProcess() {
  Member member;
  gethostname(member.host, sizeof member.host - 1);
  member.process = getpid();
  return member;
}

std::string describe(const Member &member) {
  return "process " + std::to_string(member.process) + " on " + member.host;
}

void setAddress(Member &member, const std::string &host) {
  std::strncpy(member.address, host.c_str(), sizeof member.address - 1);
}

std::string missingRanks(const std::vector<Socket> &links) {
  std::string text;
  for (size_t rank = 1; rank < links.size(); ++rank)
    if (!links[rank])
      text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

std::string rankText(int64_t rank) { return "rank " + std::to_string(rank); }

/// What a caller says that does not fit; empty: welcome.
std::string faultOf(const Hello &hello, const Meeting &meeting, int64_t ranks) {
  if (hello.ranks != ranks)
    return "expects all processes to be started for as many ranks, got " +
           std::to_string(hello.ranks) + " for rank " + std::to_string(hello.rank) + " (" +
           describe(hello.member) + ") and " + std::to_string(ranks) + " for rank 0 (" +
           describe(meeting.members[0]) + ")";
  if (hello.rank < 1 || hello.rank >= ranks)
    return "expects ranks 1 to " + std::to_string(ranks - 1) + " to join rank 0, got rank " +
           std::to_string(hello.rank) + " (" + describe(hello.member) + ")";
  if (meeting.links[size_t(hello.rank)])
    return "expects one process of each rank, got two of rank " + std::to_string(hello.rank) +
           ": " + describe(meeting.members[size_t(hello.rank)]) + " and " + describe(hello.member);
  return {};
}

void answer(const Socket &link, const Meeting &meeting, const std::string &fault) {
  Deadline deadline = inSeconds(kSecondsToSpeak);
  Answer head;
  head.token = meeting.token;
  head.textBytes = uint32_t(std::min<size_t>(fault.size(), kMostText));
  if (!sendAll(link, &head, sizeof head, deadline))
    return; // the lifeline, or the guest's own deadline, will tell
  if (fault.empty())
    (void)sendAll(link, meeting.members.data(), meeting.members.size() * sizeof(Member), deadline);
  else
    (void)sendAll(link, fault.data(), head.textBytes, deadline);
}

/// Calls until somebody answers: rank 0 may be on its way.
Socket call(const std::vector<std::string> &hosts, uint16_t port, Deadline deadline,
            std::string &error) {
  constexpr double kSecondsEach = 3.0;
  constexpr auto kPause = std::chrono::milliseconds(50);
  for (;;) {
    for (const std::string &host : hosts)
      if (Socket link = connectTo(host, port, std::min(deadline, inSeconds(kSecondsEach)), error))
        return link;
    if (Clock::now() + kPause > deadline)
      return {};
    std::this_thread::sleep_for(kPause);
  }
}

} // namespace

std::string nameOf(const Meeting &meeting, int64_t rank) {
  return rankText(rank) + " (" + describe(meeting.members[size_t(rank)]) + ")";
}

uint64_t drawToken() {
  std::random_device device;
  return (uint64_t(device()) << 32 | device()) | 1;
}

bool meetAsHost(Meeting &meeting, int64_t ranks, uint64_t token, Deadline deadline,
                std::string &error) {
  meeting.token = token ? token : drawToken();
  meeting.members.resize(size_t(ranks));
  meeting.links.resize(size_t(ranks));
  meeting.members[0] = thisProcess();
  meeting.members[0].port = localAddress(meeting.listener).port;
  error.clear();
  for (int64_t come = 1; come < ranks && error.empty();) {
    Socket link = acceptFrom(meeting.listener, deadline);
    if (!link) {
      error = "expects " + std::to_string(ranks) + " ranks to meet at rank 0 (" +
              describe(meeting.members[0]) + "), and waited in vain for rank " +
              missingRanks(meeting.links);
      break;
    }
    Hello hello;
    if (!receiveAll(link, &hello, sizeof hello, inSeconds(kSecondsToSpeak)) ||
        hello.magic != kMagic || (token && hello.token != token))
      continue; // a stranger
    hello.member.host[sizeof hello.member.host - 1] = 0;
    error = faultOf(hello, meeting, ranks);
    if (!error.empty()) {
      answer(link, meeting, error);
      break;
    }
    setAddress(hello.member, peerAddress(link).host);
    meeting.members[size_t(hello.rank)] = hello.member;
    meeting.links[size_t(hello.rank)] = std::move(link);
    ++come;
  }
  for (const Socket &link : meeting.links)
    if (link)
      answer(link, meeting, error);
  return error.empty();
}

bool meetAsGuest(Meeting &meeting, const std::vector<std::string> &hosts, uint16_t port,
                 int64_t rank, int64_t ranks, uint64_t token, bool listen, Deadline deadline,
                 std::string &error) {
  std::string place = hosts.front() + ":" + std::to_string(port), reason;
  Socket link = call(hosts, port, deadline, reason);
  if (!link) {
    error = rankText(rank) + " expects rank 0 to listen at " + place + ", got nobody: " + reason;
    return false;
  }
  Hello hello;
  hello.token = token;
  hello.rank = rank;
  hello.ranks = ranks;
  hello.member = thisProcess();
  if (listen) {
    meeting.listener = listenAt(isLoopback(hosts.front()) ? localAddress(link).host : "", 0, error);
    if (!meeting.listener) {
      error = rankText(rank) + " expects a port to listen at, got: " + error;
      return false;
    }
    hello.member.port = localAddress(meeting.listener).port;
  }
  Answer head;
  // Rank 0 gives up first, and says who is missing.
  Deadline patience = deadline + std::chrono::seconds(10);
  bool answered = sendAll(link, &hello, sizeof hello, patience) &&
                  receiveAll(link, &head, sizeof head, patience) && head.magic == kMagic;
  std::string fault(answered ? std::min(head.textBytes, kMostText) : 0, ' ');
  meeting.members.resize(size_t(ranks));
  answered =
      answered && (fault.empty() ? receiveAll(link, meeting.members.data(),
                                              meeting.members.size() * sizeof(Member), patience)
                                 : receiveAll(link, fault.data(), fault.size(), patience));
  if (!answered || !fault.empty()) {
    error = answered ? std::string()
                     : rankText(rank) + " expects an answer of rank 0 at " + place + ", got none";
    return false;
  }
  // Where rank 0 was reached is where its machine is; who sits beside it called from there.
  std::string hostAddress = peerAddress(link).host;
  for (Member &member : meeting.members)
    if (!member.address[0] || (isLoopback(member.address) && !isLoopback(hostAddress)))
      setAddress(member, hostAddress);
  meeting.token = head.token;
  meeting.links.push_back(std::move(link));
  return true;
}

} // namespace zrt
