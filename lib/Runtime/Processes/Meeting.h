//===- Meeting.h - the ranks of a job find one another --------------------===//
//
// Rank 0 listens at a place that all know; the others come, say who they are, and
// learn who else is there. What does not fit together (two of one rank, another
// number of ranks) is told to all who came. The connections stay, as the lifeline.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROCESSES_MEETING_H
#define ZERO_RUNTIME_PROCESSES_MEETING_H

#include "Sockets.h"

#include <vector>

namespace zrt {

/// A process as the others see it.
struct Member {
  char host[64] = ""; // its machine's name
  int64_t process = 0;
  /// Where it listens for its peers.
  char address[64] = "";
  uint16_t port = 0;
};

struct Meeting {
  uint64_t token = 0; // who knows it belongs to the job
  std::vector<Member> members;
  /// Rank 0: its connection to each rank. Other ranks: at [0], that to rank 0.
  std::vector<Socket> links;
  Socket listener;
};

/// `rank 2 (process 4711 on node7)`.
std::string nameOf(const Meeting &meeting, int64_t rank);

/// A number that no other job draws.
uint64_t drawToken();

/// Rank 0's part, at a socket that listens. A guest has to bring the token, where it is not 0.
bool meetAsHost(Meeting &meeting, int64_t ranks, uint64_t token, Deadline deadline,
                std::string &error);

/// Another rank's. `hosts` are names or addresses of rank 0's machine, tried one after the other
/// until the deadline; `listen`: whether peers will call this rank. No message where rank 0 has it.
bool meetAsGuest(Meeting &meeting, const std::vector<std::string> &hosts, uint16_t port,
                 int64_t rank, int64_t ranks, uint64_t token, bool listen, Deadline deadline,
                 std::string &error);

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_MEETING_H
