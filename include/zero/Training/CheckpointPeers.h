//===- CheckpointPeers.h - how processes agree on a checkpoint -----------===//
//
// A run is one process that holds all ranks, or as many processes as ranks. What
// they need of each other here is one call, which any communicator has.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_CHECKPOINTPEERS_H
#define ZERO_TRAINING_CHECKPOINTPEERS_H

#include "zero/Training/Errors.h"

#include <functional>

namespace zero::training {

struct CheckpointPeers {
  int64_t process = 0, processes = 1;
  /// `bytes` bytes of every process → all[process · bytes …]; an error once a process is lost.
  /// Unused where there is one process.
  std::function<llvm::Error(const void *mine, int64_t bytes, void *all)> exchange;

  bool isFirst() const { return process == 0; }

  /// Meets all processes, and gives all the same answer, so that all do the same next: success, or
  /// the error (and its class) of the lowest process that has one.
  llvm::Error agree(llvm::Error mine) const;

  /// The first process's value, everywhere.
  llvm::Expected<int64_t> fromFirst(int64_t value) const;
};

} // namespace zero::training

#endif // ZERO_TRAINING_CHECKPOINTPEERS_H
