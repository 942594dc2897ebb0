//===- ArenaPicture.h - the arena over a step, drawn from level A -----------===//
//
// Every buffer of every segment where the plan puts it, segments one after the
// other on one axis of ops; states and control cells, which last, at the bottom
// across all of it. Gives a picture for lib/Planning to draw.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINER_ARENAPICTURE_H
#define ZERO_TRAINER_ARENAPICTURE_H

#include "zero/Planning/Plot.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// Lines: arena, lower bound and, where there is one, `budgetBytes`. Fails with a diagnostic on a
/// module that is not at level A.
mlir::FailureOr<planning::plot::Picture> makePicture(mlir::ModuleOp module, std::string title,
                                                     std::optional<int64_t> budgetBytes);

} // namespace zero

#endif // ZERO_TRAINER_ARENAPICTURE_H
