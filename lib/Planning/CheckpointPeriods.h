//===- CheckpointPeriods.h - equal blocks are solved once ------------------===//
//
// The training graph of a deep model is a row of equal blocks, and the same row the
// other way round in backward. Of such a graph most of the middle is taken out, what
// is left is planned within a budget that leaves each block as many bytes as before,
// and the plan is stretched over all blocks again. A stretched plan is a plan in any
// case; only whether it fits is to be seen.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTPERIODS_H
#define ZERO_LIB_PLANNING_CHECKPOINTPERIODS_H

#include "zero/Planning/Checkpoint.h"

#include <optional>

namespace zero::planning::checkpoint {

/// A row of `blocks` forward blocks of `forward` nodes from `forwardBegin`, whose counterparts in
/// backward are blocks of `backward` nodes: that of the last block stands at `backwardBegin`, that
/// of the first comes last.
struct Periods {
  int64_t blocks = 0;
  int64_t forwardBegin = 0, forward = 0;
  int64_t backwardBegin = 0, backward = 0;
};

/// The periods of `problem`, where most of it is periodic. O(nodes + inputs).
std::optional<Periods> periodsOf(const Problem &problem);

/// `problem` with `kept` of its blocks, and nothing where what is left does not fit together. The
/// budget is that of `problem`.
std::optional<Problem> shortened(const Problem &problem, const Periods &periods, int64_t kept);

/// A sequence for `problem` that does in each block what `computations`, of the shortened problem,
/// does in the block at the same part of the way.
std::vector<int32_t> stretched(const Problem &problem, const Periods &periods, int64_t kept,
                               const std::vector<int32_t> &computations);

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTPERIODS_H
