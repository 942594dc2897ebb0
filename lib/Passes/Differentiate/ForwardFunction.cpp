//===- ForwardFunction.cpp - which function is the training graph ----------===//

#include "zero/Passes/ForwardFunction.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {

FailureOr<func::FuncOp> findForward(ModuleOp module) {
  llvm::StringSet<> called;
  module.walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  func::FuncOp forward;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (called.contains(function.getName()) || function.isExternal() || function.isPrivate())
      continue;
    if (forward) {
      InFlightDiagnostic diag = function.emitError()
                                << "expects one forward function that no other calls, got @"
                                << forward.getName() << " and @" << function.getName();
      diag.attachNote(forward.getLoc()) << "the other one is here";
      return failure();
    }
    forward = function;
  }
  if (!forward)
    return emitError(module.getLoc(), "expects a forward function that returns the loss, got none");
  if (forward.getNumResults() != 1)
    return forward.emitError() << "expects one result, the scalar loss, got "
                               << forward.getNumResults();
  auto loss = dyn_cast<RankedTensorType>(forward.getResultTypes().front());
  if (!loss || loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return forward.emitError() << "expects the loss to be a float tensor of rank 0, got "
                               << forward.getResultTypes().front();
  return forward;
}

std::string argumentName(func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr))
    return name.str();
  return "arg" + std::to_string(index);
}

} // namespace zero
