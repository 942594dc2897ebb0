//===- BuildSchedule.h - a segment as the checker sees it ------------------===//
#ifndef ZERO_PASSES_VERIFY_BUILDSCHEDULE_H
#define ZERO_PASSES_VERIFY_BUILDSCHEDULE_H

#include "zero/Dialect/Zero/Zero.h"
#include "zero/Planning/Schedule.h"

#include <vector>

namespace zero {

/// The abstract schedule of a segment at level S or A, and the op behind each row. Read off the IR
/// alone: it shares nothing with the passes that chose streams, waits and places. Fails with a
/// diagnostic on a value that lies nowhere.
struct SegmentSchedule {
  planning::schedule::Schedule schedule;
  std::vector<mlir::Operation *> ops;
};
llvm::FailureOr<SegmentSchedule> buildSchedule(ir::SegmentOp segment, mlir::ModuleOp module);

} // namespace zero

#endif // ZERO_PASSES_VERIFY_BUILDSCHEDULE_H
