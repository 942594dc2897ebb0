//===- StepTable.h - from level A or X to the runtime's program ------------------===//
#ifndef ZERO_COMPILER_STEPTABLE_H
#define ZERO_COMPILER_STEPTABLE_H

#include "zero/Runtime/Program.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace zero {

/// Translates segments, buckets, state and kernels into the step table: one row an op, in block
/// order. `generated` receives the names of the llvm functions in the order in which the table
/// numbers them. Nothing, with a diagnostic, where a value has no place (the module is not at level
/// arena or llvm).
std::optional<zrt::Program> makeProgram(mlir::ModuleOp module, std::vector<std::string> &generated);

} // namespace zero

#endif // ZERO_COMPILER_STEPTABLE_H
