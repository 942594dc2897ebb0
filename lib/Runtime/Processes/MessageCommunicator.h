//===- MessageCommunicator.h - collectives made of messages ---------------===//
#ifndef ZERO_RUNTIME_PROCESSES_MESSAGECOMMUNICATOR_H
#define ZERO_RUNTIME_PROCESSES_MESSAGECOMMUNICATOR_H

#include "Lifeline.h"
#include "Transport.h"
#include "zero/Runtime/Processes.h"

namespace zrt {

/// Takes what `joinProcesses` has set up.
std::shared_ptr<ProcessCommunicator> createMessageCommunicator(std::unique_ptr<Transport> transport,
                                                               std::unique_ptr<Lifeline> lifeline,
                                                               const JoinOptions &options);

} // namespace zrt

#endif // ZERO_RUNTIME_PROCESSES_MESSAGECOMMUNICATOR_H
