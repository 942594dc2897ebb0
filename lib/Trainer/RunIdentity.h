//===- RunIdentity.h - whether a checkpoint is of this run -------------------===//
#ifndef ZERO_TRAINER_RUNIDENTITY_H
#define ZERO_TRAINER_RUNIDENTITY_H

#include "zero/Trainer/Options.h"
#include "zero/Training/Checkpoint.h"

namespace zero {

/// Parameters, global batch and configuration of a run; steps, data and files are left to the
/// caller.
training::CheckpointManifest identify(const zrt::Program &program, const TrainOptions &options);

/// The first difference between two models: a parameter that is missing, of another shape, frozen
/// in one and trained in the other.
llvm::Error expectSameModel(llvm::StringRef path, const training::CheckpointManifest &there,
                            const training::CheckpointManifest &here);
/// The position in the data counts samples, so steps must be of as many.
llvm::Error expectSameBatch(llvm::StringRef path, const training::CheckpointManifest &there,
                            const zrt::Program &program);
llvm::Error expectSameOptimizer(llvm::StringRef path, const training::CheckpointManifest &there,
                                const training::CheckpointManifest &here);

/// `, with ranks 3 (was 4), stage 1 (was 3)`; empty where nothing was changed.
std::string changesText(const training::CheckpointManifest &there,
                        const training::CheckpointManifest &here);

} // namespace zero

#endif // ZERO_TRAINER_RUNIDENTITY_H
