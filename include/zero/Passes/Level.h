//===- Level.h - which level of the IR a module is at --------------------------===//
#ifndef ZERO_PASSES_LEVEL_H
#define ZERO_PASSES_LEVEL_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace zero {

/// The levels of docs/levels.md, in order; Launches is level J once kernels are formed.
enum class Level { Graph, Joint, Launches, Sharded, Scheduled, Arena, Executable };

/// Read off the ops that are there: never off an attribute that could lie.
Level levelOf(mlir::ModuleOp module);

/// Fails with an error on the module unless it is at `level`.
llvm::LogicalResult expectLevel(mlir::ModuleOp module, Level level);

/// graph, joint, launches, sharded, scheduled, arena, llvm.
llvm::StringRef nameOf(Level level);
std::optional<Level> parseLevel(llvm::StringRef name);

} // namespace zero

#endif // ZERO_PASSES_LEVEL_H
