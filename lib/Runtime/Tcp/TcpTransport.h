//===- TcpTransport.h - a TCP connection from each rank to each -----------===//
#ifndef ZERO_RUNTIME_TCP_TCPTRANSPORT_H
#define ZERO_RUNTIME_TCP_TCPTRANSPORT_H

#include "../Processes/Meeting.h"
#include "../Processes/Transport.h"

#include <memory>

namespace zrt {

/// Connects this rank with all others of the meeting, whose listener it uses and closes. Null with
/// a message, which names the rank that was not to be reached.
std::unique_ptr<Transport> createTcpTransport(Meeting &meeting, int64_t rank, Deadline deadline,
                                              std::string &error);

} // namespace zrt

#endif // ZERO_RUNTIME_TCP_TCPTRANSPORT_H
