//===- CheckpointFolder.h - the checkpoints of one run -------------------===//
//
//   D/.lock                    held by the run, for as long as it lives
//   D/.tmp-step-00000014/      being written
//   D/step-00000012/           whole: the name is given by one rename, last
//   D/.old-step-00000008/      being deleted: the name is taken away first
//   D/.damaged-step-00000010/  found damaged, kept for whoever wants to look
//   D/.newer-step-00000016/    newer than one that was asked for by its name
//
// Names with a dot are never read. So whenever a run dies, each `step-…` is whole,
// and the newest one is the old checkpoint or the new one (F2). The next run of the
// folder removes what the dead one left.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_CHECKPOINTFOLDER_H
#define ZERO_TRAINING_CHECKPOINTFOLDER_H

#include "zero/Training/Checkpoint.h"

namespace zero::training {

/// What one rank stores.
struct RankPieces {
  int64_t rank = 0;
  std::vector<SavedPiece> pieces;
};

class CheckpointFolder {
public:
  /// Creates the folder (and those above it) where it is missing, locks it, and removes left-overs.
  /// With several processes all call this, and the first holds the lock. Errors: the folder can't
  /// be made or written; another run holds it (its process and host are named).
  static llvm::Expected<std::unique_ptr<CheckpointFolder>> open(llvm::StringRef path,
                                                                CheckpointPeers peers = {});
  ~CheckpointFolder();

  llvm::StringRef path() const { return folder; }
  /// The steps that there are checkpoints of, ascending.
  llvm::Expected<std::vector<int64_t>> steps() const;
  std::string pathOf(int64_t step) const;

  /// Writes the checkpoint of `manifest.step` with a file for each of `ranks` ranks, of which
  /// `local` are this process's, each by a thread; then deletes the oldest beyond `keep` (0: none).
  /// All processes call this. `manifest.files` is filled in. After an error, such as a full disk or
  /// a checkpoint of the same step, the earlier ones stand as they did.
  llvm::Error write(CheckpointManifest manifest, llvm::ArrayRef<RankPieces> local, int64_t ranks,
                    int64_t keep);

  /// The newest whole checkpoint; null where there is none at all. Newer ones, which are damaged,
  /// are set aside; where all are, that is an error, and they stay. All processes call this.
  llvm::Expected<std::unique_ptr<Checkpoint>> openNewest(std::vector<std::string> &warnings);

  /// Takes its name from a checkpoint: `.damaged-step-00000010` for `damaged`. Says so in
  /// `warnings`. All processes call this.
  llvm::Error setAside(int64_t step, llvm::StringRef why, std::vector<std::string> &warnings);

private:
  CheckpointFolder(std::string path, CheckpointPeers peers)
      : folder(std::move(path)), peers(std::move(peers)) {}
  std::string at(const llvm::Twine &entry) const;
  llvm::Error lock();
  llvm::Error writeShards(CheckpointManifest &manifest, llvm::StringRef into,
                          llvm::ArrayRef<RankPieces> local, int64_t ranks) const;
  llvm::Error commit(const CheckpointManifest &manifest, llvm::StringRef from);
  llvm::Error keepNewest(int64_t keep);

  std::string folder;
  CheckpointPeers peers;
  int lockFd = -1;
};

} // namespace zero::training

#endif // ZERO_TRAINING_CHECKPOINTFOLDER_H
