//===- ForwardFunction.h - which function of a module is the training graph --===//
#ifndef ZERO_PASSES_FORWARDFUNCTION_H
#define ZERO_PASSES_FORWARDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// The forward function of a level-G module: the one public function that no other calls and that
/// has a body. It must return one float tensor of rank 0, the loss. Fails with a diagnostic that
/// says what is missing: no function, several, no loss, several results.
::mlir::FailureOr<::mlir::func::FuncOp> findForward(::mlir::ModuleOp module);

/// The name of a batch argument: its `nn.name`, or `argN`.
std::string argumentName(::mlir::func::FuncOp function, unsigned index);

inline constexpr llvm::StringLiteral kJointName = "joint";
inline constexpr llvm::StringLiteral kCountName = "count";
/// Forward alone, as `--eval-data` runs it; there where nn-autodiff is asked for it.
inline constexpr llvm::StringLiteral kEvalName = "eval";
inline constexpr llvm::StringLiteral kNameAttr = "nn.name";

} // namespace zero

#endif // ZERO_PASSES_FORWARDFUNCTION_H
