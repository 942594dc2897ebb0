//===- PlanBudget.h - recomputation that fits an arena into a budget --------===//
#ifndef ZERO_LIB_TRAINER_PLANBUDGET_H
#define ZERO_LIB_TRAINER_PLANBUDGET_H

#include "zero/Compiler/Compiler.h"
#include "zero/Trainer/Report.h"

namespace zero {

/// Brings a module from before level sharded to level A within `budgetBytes` of the arena after
/// packing. With recompute=budget, as little is computed again as the search finds; with another
/// policy, what that says. Errors: what a pass refuses; with recompute=budget, that no plan fits,
/// with what holds the peak of the smallest one (M3), where another policy gives the report of its
/// smallest. Deterministic.
llvm::Expected<Report> planBudget(Compiler &compiler, mlir::ModuleOp module, CompileOptions options,
                                  int64_t budgetBytes);

} // namespace zero

#endif // ZERO_LIB_TRAINER_PLANBUDGET_H
