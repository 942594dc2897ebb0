//===- RunCheckpoints.h - where a run begins again, and what it leaves -------===//
//
// Between a session and the folders of lib/Training: which of a program's states make
// up a checkpoint, and how one is read by a program of another stage, rank count,
// bucket size or type. The value of a weight is its master where there is one: so
// f32 weights become the masters of a bf16 run, and masters the weights of an f32 run.
//
// `open` and `save` are collective.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_RUNCHECKPOINTS_H
#define ZERO_TRAINER_RUNCHECKPOINTS_H

#include "zero/Trainer/Options.h"
#include "zero/Training/CheckpointFolder.h"

namespace zero {

/// Where a run stands between two steps.
struct RunPosition {
  int64_t step = 0;                                    // steps run, skipped ones included
  int64_t stepsTaken = 0;                              // those that moved weights
  std::optional<training::LossScale::State> lossScale; // of a run in f16
};

/// The type of weights, masters and moments in a file.
training::DType fileType(zrt::ElementType type);

class RunCheckpoints {
public:
  /// Takes the folder for this run, and finds what it goes on from; before anything is compiled.
  /// Null where no checkpoints are asked for. Errors: those of CheckpointFolder and Checkpoint; a
  /// folder with checkpoints, but not the one to go on from; another seed than a given one.
  static llvm::Expected<std::unique_ptr<RunCheckpoints>> open(const TrainOptions &options);

  /// What the run goes on from; null: it begins anew. `resume` lets go of it.
  const training::Checkpoint *found() const { return source.get(); }

  /// The checkpoint's folder, also behind `resume`; empty: the run begins anew.
  const std::string &sourcePath() const { return sourceFolder; }
  /// Of the checkpoint, else the one that was asked for.
  uint64_t seed() const { return options.seed; }

  /// Sets all weights, masters and moments that this process holds, and tells where the run stands.
  /// What differs from the run that wrote it is noted in `lines()`. Not collective. Errors: another
  /// model (its first difference), another global batch (both figures), another optimizer.
  llvm::Expected<RunPosition> resume(zrt::Session &session);

  /// Sets checkpoints of the folder that are newer than a step aside: its history ends where this
  /// run begins. Collective.
  llvm::Error rewind(int64_t step);

  /// Warnings and notes about what was found; whole lines.
  llvm::ArrayRef<std::string> lines() const { return heard; }

  /// Whether a step is one of those behind which a checkpoint is written.
  bool isDue(int64_t step) const {
    return folder && options.checkpoints.every > 0 && step % options.checkpoints.every == 0;
  }
  /// Writes a checkpoint, unless the newest is of this step or there is no folder for them.
  llvm::Error save(const zrt::Session &session, const RunPosition &position);
  /// The folder of the checkpoint that was written last, or empty.
  const std::string &lastWritten() const { return written; }

private:
  RunCheckpoints() = default;
  llvm::Error findSource();
  llvm::Error lookForNewest();
  llvm::Error checkSource();
  llvm::Error restore(zrt::Session &session, const zrt::Bucket &bucket, const zrt::Slot &slot,
                      bool withMoments);
  llvm::Error lookAtData();

  TrainOptions options;
  training::CheckpointPeers peers;
  std::unique_ptr<training::CheckpointFolder> folder;
  std::unique_ptr<training::Checkpoint> source;
  std::vector<std::string> heard;
  int64_t newestStep = -1; // in the folder; -1: none
  std::string sourceFolder, written;
  std::optional<training::CheckpointManifest::Data> data; // once it was looked at
};

} // namespace zero

#endif // ZERO_TRAINER_RUNCHECKPOINTS_H
