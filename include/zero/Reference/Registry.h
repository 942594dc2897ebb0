//===- Registry.h - which function evaluates an op ------------------------===//
//
// The dialects know nothing of the reference: an op is evaluated by the function that
// is registered under its name. Another dialect joins by adding its own functions to
// a copy of the standard registry.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_REFERENCE_REGISTRY_H
#define ZERO_REFERENCE_REGISTRY_H

#include "zero/Reference/Array.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace zero::reference {

using Operands = llvm::ArrayRef<const Array *>;
using Results = llvm::SmallVector<Array, 2>;

/// Computes all results of an op from its operands. The op has passed its verifier; what only the
/// values can show (an index out of range) fails with a diagnostic on the op.
using Function = std::function<mlir::FailureOr<Results>(mlir::Operation *, Operands)>;

class Registry {
public:
  /// All ops of `nn` but `nn.param`, `nn.read` and `nn.return`, which belong to the interpreter.
  static const Registry &standard();

  void add(llvm::StringRef opName, Function function) { functions[opName] = std::move(function); }

  /// Adds a function of a typed op that returns an `Array`, `Results`, or `FailureOr` of either.
  template <typename OpT, typename Evaluate> void add(Evaluate evaluate) {
    add(OpT::getOperationName(),
        [evaluate](mlir::Operation *op, Operands operands) -> mlir::FailureOr<Results> {
          return wrap(evaluate(mlir::cast<OpT>(op), operands));
        });
  }

  /// Null where the op has no function.
  const Function *find(llvm::StringRef opName) const {
    auto it = functions.find(opName);
    return it == functions.end() ? nullptr : &it->second;
  }

private:
  static mlir::FailureOr<Results> wrap(Array result) {
    Results results;
    results.push_back(std::move(result));
    return results;
  }
  static mlir::FailureOr<Results> wrap(Results results) { return results; }
  static mlir::FailureOr<Results> wrap(mlir::FailureOr<Results> results) { return results; }
  static mlir::FailureOr<Results> wrap(mlir::FailureOr<Array> result) {
    if (mlir::failed(result))
      return mlir::failure();
    return wrap(std::move(*result));
  }

  llvm::StringMap<Function> functions;
};

} // namespace zero::reference

#endif // ZERO_REFERENCE_REGISTRY_H
