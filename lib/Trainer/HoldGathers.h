//===- HoldGathers.h - gathered buckets held as far as a budget allows -----===//
#ifndef ZERO_LIB_TRAINER_HOLDGATHERS_H
#define ZERO_LIB_TRAINER_HOLDGATHERS_H

#include "zero/Compiler/Compiler.h"
#include "zero/Trainer/Report.h"

namespace zero {

/// A module at level A.
struct PackedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Report report;
};

/// Brings a copy of a module from before level sharded to level A.
llvm::Expected<PackedModule> packCopy(Compiler &compiler, mlir::ModuleOp module,
                                      CompileOptions options);

/// The same, with the loosest bound found on gathered buckets that are held (`holdBytes` of the
/// options) with which the arena takes at most `budgetBytes`: none at all, else by halving. What is
/// not held is gathered again. Where nothing fits, the smallest arena. At most eight packings, one
/// below stage 3.
llvm::Expected<PackedModule> packHolding(Compiler &compiler, mlir::ModuleOp module,
                                         CompileOptions options, int64_t budgetBytes);

} // namespace zero

#endif // ZERO_LIB_TRAINER_HOLDGATHERS_H
