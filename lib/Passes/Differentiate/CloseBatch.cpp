//===- CloseBatch.cpp - give the open batch dimension a value -------------===//
//
// One model file serves any batch: dimension 0 of the forward function's
// arguments may be `?`. The pass replaces it and infers every shape again, op by
// op, through the ops' own type inference, so that no op needs to know of the
// batch. Called functions are specialised first to their callers by inlining in
// nn-autodiff; here their signatures are closed by the types of the call.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {
#define GEN_PASS_DEF_CLOSEBATCHPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

RankedTensorType closed(RankedTensorType type, int64_t batch) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = batch;
  return RankedTensorType::get(shape, type.getElementType());
}

bool isOpen(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

class CloseBatch : public impl::CloseBatchPassBase<CloseBatch> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> forward = findForward(getOperation());
    if (failed(forward))
      return signalPassFailure();
    bool open = false;
    for (BlockArgument arg : forward->getArguments()) {
      auto type = dyn_cast<RankedTensorType>(arg.getType());
      if (!type || llvm::is_contained(type.getShape().drop_front(type.getRank() ? 1 : 0),
                                      ShapedType::kDynamic)) {
        forward->emitError() << "expects argument " << arg.getArgNumber()
                             << " to be a ranked tensor that is open in dimension 0 at most, got "
                             << arg.getType();
        return signalPassFailure();
      }
      open |= isOpen(type);
    }
    if (!open) {
      if (microBatch > 0 && failed(checkClosed(*forward)))
        signalPassFailure();
      return;
    }
    if (microBatch < 1) {
      forward->emitError()
          << "expects a micro-batch for the open dimension 0 of the arguments: pass "
             "--micro-batch (nn-close-batch{micro-batch=B}), got "
          << microBatch.getValue();
      return signalPassFailure();
    }
    SmallVector<Type> argTypes;
    for (BlockArgument arg : forward->getArguments()) {
      auto type = cast<RankedTensorType>(arg.getType());
      argTypes.push_back(isOpen(type) ? closed(type, microBatch) : type);
    }
    if (failed(closeFunction(*forward, argTypes)))
      signalPassFailure();
  }

private:
  LogicalResult checkClosed(func::FuncOp forward) {
    for (BlockArgument arg : forward.getArguments()) {
      auto type = cast<RankedTensorType>(arg.getType());
      if (type.getRank() > 0 && type.getDimSize(0) != microBatch)
        return forward.emitError()
               << "expects a batch of " << type.getDimSize(0)
               << " rows per rank, as the graph is closed with, got " << microBatch.getValue();
    }
    return success();
  }

  LogicalResult closeFunction(func::FuncOp function, ArrayRef<Type> argTypes) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return function.emitError("expects a body of one block");
    if (!closing.insert(function).second)
      return function.emitError() << "expects calls that can be inlined, and @"
                                  << function.getName() << " calls itself";
    for (auto [arg, type] : llvm::zip(function.getArguments(), argTypes))
      arg.setType(type);
    for (Operation &op : function.front())
      if (failed(inferAgain(&op)))
        return failure();
    function.setFunctionType(FunctionType::get(
        &getContext(), argTypes, function.front().getTerminator()->getOperandTypes()));
    closing.erase(function);
    return success();
  }

  LogicalResult inferAgain(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return closeCall(call);
    if (!llvm::any_of(op->getResultTypes(), isOpen))
      return success();
    auto infer = dyn_cast<InferTypeOpInterface>(op);
    if (!infer)
      return op->emitOpError("expects an op that infers its result types, to close the batch");
    SmallVector<Type> types;
    if (failed(infer.inferReturnTypes(&getContext(), op->getLoc(), op->getOperands(),
                                      op->getAttrDictionary(), op->getPropertiesStorage(),
                                      op->getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
    return success();
  }

  LogicalResult closeCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return call.emitOpError() << "expects a function named " << call.getCallee();
    SmallVector<Type> types(call.getOperandTypes());
    if (llvm::equal(callee.getArgumentTypes(), types)) {
      // Closed by an earlier call of the same types.
    } else if (!llvm::any_of(callee.getArgumentTypes(), isOpen)) {
      return call.emitOpError() << "expects operands of the types of @" << call.getCallee()
                                << ", which another call closed differently";
    } else if (failed(closeFunction(callee, types))) {
      return failure();
    }
    for (auto [result, type] : llvm::zip(call.getResults(), callee.getResultTypes()))
      result.setType(type);
    return success();
  }

  SmallPtrSet<Operation *, 8> closing; // functions that wait for a call in their body
};

} // namespace
} // namespace zero
