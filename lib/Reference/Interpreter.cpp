//===- Interpreter.cpp - evaluate a graph in f64 ----------------------------===//
//
// Values are shared, not copied: a parameter that is read in every layer exists once.
//
//===----------------------------------------------------------------------===//

#include "zero/Reference/Interpreter.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ScopeExit.h"

#include <memory>

using namespace mlir;

namespace zero::reference {
namespace {

using Value = std::shared_ptr<const Array>;
using Values = SmallVector<Value>;

class Evaluation {
public:
  Evaluation(const Parameters &parameters, const Registry &registry)
      : parameters(parameters), registry(registry) {}

  FailureOr<Values> run(FunctionOpInterface function, Values arguments);

private:
  using Environment = llvm::DenseMap<mlir::Value, Value>;

  FailureOr<Values> evaluateOp(Operation *op, Values operands);
  FailureOr<Values> read(nn::ReadOp op);
  FailureOr<Values> callee(Operation *op, SymbolRefAttr name, Values operands);

  const Parameters &parameters;
  const Registry &registry;
  SymbolTableCollection symbols;
  llvm::SmallPtrSet<Operation *, 8> active; // functions being evaluated
};

LogicalResult checkArguments(FunctionOpInterface function, ArrayRef<Value> arguments) {
  if (arguments.size() != function.getNumArguments())
    return function.emitError() << "expects " << function.getNumArguments() << " arguments, got "
                                << arguments.size();
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
    if (!type || !argument->fits(type))
      return function.emitError() << "expects argument " << index << " to be "
                                  << function.getArgumentTypes()[index] << ", got "
                                  << (argument->isFloat ? "floats " : "integers ")
                                  << shapeText(argument->shape);
  }
  return success();
}

FailureOr<Values> Evaluation::run(FunctionOpInterface function, Values arguments) {
  if (function.isExternal() || !llvm::hasSingleElement(function.getFunctionBody()))
    return function.emitError() << "expects a body of one block";
  if (failed(checkArguments(function, arguments)))
    return failure();
  if (!active.insert(function).second)
    return function.emitError() << "expects a graph without recursion";
  llvm::scope_exit leave([&] { active.erase(function); });

  Block &body = function.getFunctionBody().front();
  Environment environment;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    environment[argument] = value;
  for (Operation &op : body) {
    Values operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(environment.lookup(operand));
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    FailureOr<Values> results = evaluateOp(&op, std::move(operands));
    if (failed(results))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      environment[result] = value;
  }
  return function.emitError() << "expects a terminator";
}

FailureOr<Values> Evaluation::evaluateOp(Operation *op, Values operands) {
  if (auto readOp = dyn_cast<nn::ReadOp>(op))
    return read(readOp);
  if (auto call = dyn_cast<func::CallOp>(op))
    return callee(op, call.getCalleeAttr(), std::move(operands));
  if (auto launch = dyn_cast<ir::LaunchOp>(op))
    return callee(op, launch.getKernelAttr(), std::move(operands));

  const Function *function = registry.find(op->getName().getStringRef());
  if (!function)
    return op->emitError() << "expects an op that the reference interpreter knows, got '"
                           << op->getName() << "'";
  SmallVector<const Array *> arrays;
  for (const Value &operand : operands)
    arrays.push_back(operand.get());
  FailureOr<Results> results = (*function)(op, arrays);
  if (failed(results))
    return failure();
  Values values;
  for (Array &result : *results)
    values.push_back(std::make_shared<Array>(std::move(result)));
  return values;
}

FailureOr<Values> Evaluation::read(nn::ReadOp op) {
  auto it = parameters.find(op.getParam());
  if (it == parameters.end())
    return op.emitError() << "expects a value for parameter '" << op.getParam() << "', got none";
  if (!it->second.fits(cast<RankedTensorType>(op.getType())))
    return op.emitError() << "expects a value of " << op.getType() << " for parameter '"
                          << op.getParam() << "', got " << shapeText(it->second.shape);
  // The caller keeps the parameters alive: a pointer that owns nothing.
  return Values{Value(Value(), &it->second)};
}

FailureOr<Values> Evaluation::callee(Operation *op, SymbolRefAttr name, Values operands) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, name);
  if (!function)
    return op->emitError() << "expects " << name << " to be a function, found none";
  return run(function, std::move(operands));
}

} // namespace

FailureOr<Results> evaluate(FunctionOpInterface function, ArrayRef<Array> arguments,
                            const Parameters &parameters, const Registry &registry) {
  Values values;
  for (const Array &argument : arguments)
    values.push_back(Value(Value(), &argument));
  FailureOr<Values> results = Evaluation(parameters, registry).run(function, std::move(values));
  if (failed(results))
    return failure();
  Results arrays;
  for (const Value &value : *results)
    arrays.push_back(*value);
  return arrays;
}

} // namespace zero::reference
