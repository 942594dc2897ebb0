//===- CheckpointShard.h - the file of one rank --------------------------===//
#ifndef ZERO_TRAINING_CHECKPOINTSHARD_H
#define ZERO_TRAINING_CHECKPOINTSHARD_H

#include "zero/Training/Checkpoint.h"

namespace zero::training {

/// `rank-00003.safetensors`.
std::string shardName(int64_t rank);

/// Writes the pieces of one rank into a new file of `folder`, down to the disk. Neighbours in
/// memory and in their parameter become one tensor.
llvm::Expected<CheckpointFile> writeShard(llvm::StringRef folder, int64_t rank,
                                          llvm::ArrayRef<SavedPiece> pieces);

/// The key of a tensor's checksum in the file's metadata.
std::string checksumKey(llvm::StringRef tensor);

} // namespace zero::training

#endif // ZERO_TRAINING_CHECKPOINTSHARD_H
