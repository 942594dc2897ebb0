//===- Interpreter.h - evaluate a graph in f64 ------------------------------===//
//
// Walks a function op by op: the judge of every VJP and every lowering, and the engine
// of `zero-run --reference`. It evaluates the levels G (an open batch dimension takes
// its size from the arguments) and J, with or without launches. No layouts, no
// fusion, no rounding to f32: one readable loop nest an op (lib/Reference).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_REFERENCE_INTERPRETER_H
#define ZERO_REFERENCE_INTERPRETER_H

#include "zero/Reference/Registry.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace zero::reference {

/// Values of parameters by symbol name.
using Parameters = llvm::StringMap<Array>;

/// Evaluates a function (`func.func`, `zero.kernel`) on `arguments`, one a block argument. Returns
/// the operands of its terminator: what `func.return` and `zero.yield` hold, and for `nn.return`
/// the loss, then the gradients in their order. `func.call` and `zero.launch` evaluate their
/// callee.
///
/// Fails with a diagnostic: an argument or parameter that is missing or doesn't fit its type, an op
/// that the registry does not know, control flow, recursion, an index out of range.
mlir::FailureOr<Results> evaluate(mlir::FunctionOpInterface function,
                                  llvm::ArrayRef<Array> arguments, const Parameters &parameters,
                                  const Registry &registry = Registry::standard());

} // namespace zero::reference

#endif // ZERO_REFERENCE_INTERPRETER_H
