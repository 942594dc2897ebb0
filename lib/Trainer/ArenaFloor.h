//===- ArenaFloor.h - what no choice of recomputation goes below -----------===//
#ifndef ZERO_LIB_TRAINER_ARENAFLOOR_H
#define ZERO_LIB_TRAINER_ARENAFLOOR_H

#include "zero/Passes/Recompute.h"
#include "zero/Trainer/Report.h"

namespace zero {

/// Bytes that an arena cannot do without, and what takes them.
struct ArenaFloor {
  int64_t bytes = 0;       // states and control included
  std::string segment, op; // as `micro_step`, `launch fc`; empty where states alone are the floor
  std::vector<Report::Holder> holders; // beside the states, the largest first
};

/// Of a module at level A that keeps everything, made of `graph`: the fullest launch with its
/// operands, results, workspace and buckets, the batch as far as it is still read, and what
/// backward computed and still reads, since backward's launches never run again. Of other segments,
/// in which nothing runs again, everything that is live. Fails with a diagnostic on a module that
/// is not at level A. Linear in the ops.
mlir::FailureOr<ArenaFloor> floorOf(mlir::ModuleOp kept, const JointGraph &graph);

} // namespace zero

#endif // ZERO_LIB_TRAINER_ARENAFLOOR_H
