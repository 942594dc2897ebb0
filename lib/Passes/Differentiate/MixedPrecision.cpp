//===- MixedPrecision.cpp - compute in bf16 or f16 -------------------------===//
//
// Parameters take the 16-bit type, save those that are to stay f32, and all other
// types follow by the ops' own inference. Batches stay as their files hold them.
//
// Where types meet in an op, the 16-bit type wins: f32 operands are converted,
// unless the op takes them beside 16-bit ones, as norms take their weights. Two
// things stay f32, since a single rounding in them would scale every gradient:
// scalars (losses and what they are made of), whose 16-bit operands are widened,
// and constants, which are converted where they meet 16-bit values. A convert
// rounds nothing inside a kernel (law N0).
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Level.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>

namespace zero {
#define GEN_PASS_DEF_MIXEDPRECISIONPASS
#include "zero/Passes/Passes.h.inc"

using namespace mlir;

namespace {

bool isShort(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// Whether `name` is `pattern`, in which `*` stands for any number of characters. A mismatch lets
/// the last `*` take one character more.
bool matches(StringRef pattern, StringRef name) {
  size_t p = 0, n = 0, star = StringRef::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

/// Infers the types behind parameters that have theirs already.
class Retyper {
public:
  Retyper(ModuleOp module, Type element) : module(module), element(element) {}

  LogicalResult run(func::FuncOp forward) {
    if (failed(retype(forward, forward.getArgumentTypes())))
      return failure();
    // Functions that nothing calls read parameters too.
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && !retyped.contains(function) &&
          failed(retype(function, function.getArgumentTypes())))
        return failure();
    return success();
  }

private:
  /// Gives the arguments these types and infers all others.
  LogicalResult retype(func::FuncOp function, ArrayRef<Type> arguments) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return function.emitError("expects a body of one block");
    retyped.insert(function);
    open.insert(function);
    for (auto [argument, argumentType] : llvm::zip(function.getArguments(), arguments))
      argument.setType(argumentType);
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator()))
      if (failed(retype(&op)))
        return failure();
    Operation *end = function.front().getTerminator();
    widenScalars(end);
    function.setFunctionType(
        FunctionType::get(module.getContext(), arguments, end->getOperandTypes()));
    open.erase(function);
    return success();
  }

  LogicalResult retype(Operation *op) {
    if (auto read = dyn_cast<nn::ReadOp>(op)) {
      auto param = SymbolTable::lookupNearestSymbolFrom<nn::ParamOp>(op, read.getParamAttr());
      if (param)
        read.getResult().setType(param.getTensorType());
      return success();
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      return retypeCall(call);
    if (llvm::none_of(op->getOperandTypes(), isShort))
      return success();
    bool isProduct = false;
    if (auto kernel = dyn_cast<nn::KernelOpInterface>(op))
      isProduct = kernel.getKernelFamily() == nn::KernelFamily::Gemm;
    bool scalars = op->getNumResults() > 0 && llvm::all_of(op->getResultTypes(), isScalar);
    if (scalars && !isProduct && !isa<nn::ConvertOp, nn::CrossEntropyOp>(op))
      widen(op);
    else if (llvm::any_of(op->getOperandTypes(), isF32) && !accepts(op))
      narrow(op);
    if (failed(inferAgain(op)))
      return failure();
    if (scalars && isProduct)
      widenResult(op);
    return success();
  }

  FailureOr<SmallVector<Type>> infer(Operation *op, std::optional<Location> location) {
    SmallVector<Type> types;
    auto inferring = dyn_cast<InferTypeOpInterface>(op);
    if (!inferring || failed(inferring.inferReturnTypes(
                          module.getContext(), location, op->getOperands(), op->getAttrDictionary(),
                          op->getPropertiesStorage(), op->getRegions(), types)))
      return failure();
    return types;
  }

  /// Whether the op takes its operands' types side by side. Traits have a say beside inference, and
  /// look at the results too.
  bool accepts(Operation *op) {
    FailureOr<SmallVector<Type>> types = infer(op, std::nullopt);
    if (failed(types))
      return false;
    SmallVector<Type> before(op->getResultTypes());
    setResultTypes(op, *types);
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    bool isValid = succeeded(op->getName().verifyInvariants(op));
    setResultTypes(op, before);
    return isValid;
  }

  static void setResultTypes(Operation *op, ArrayRef<Type> types) {
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
  }

  LogicalResult inferAgain(Operation *op) {
    if (!isa<InferTypeOpInterface>(op))
      return op->emitOpError("expects an op that infers its result types, to compute in ")
             << element;
    FailureOr<SmallVector<Type>> types = infer(op, op->getLoc());
    if (failed(types))
      return failure();
    setResultTypes(op, *types);
    return success();
  }

  /// A function is specialised to the types of each call: one that calls agree on stays one.
  LogicalResult retypeCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee)
      return call.emitOpError() << "expects a function named " << call.getCallee();
    if (open.contains(callee))
      return callee.emitError() << "expects calls that can be inlined, and @" << callee.getName()
                                << " calls itself";
    SmallVector<Type> types(call.getOperandTypes());
    Specialised &all = specialised[callee];
    auto made = llvm::find_if(all.made, [&](func::FuncOp function) {
      return llvm::equal(function.getArgumentTypes(), types);
    });
    func::FuncOp function;
    if (made != all.made.end()) {
      function = *made;
    } else if (all.made.empty()) {
      all.asWritten = callee.clone();
      function = callee;
    } else {
      function = all.asWritten->clone();
      SymbolTable(module).insert(function, std::next(Block::iterator(callee)));
    }
    if (made == all.made.end()) {
      if (failed(retype(function, types)))
        return failure();
      specialised[callee].made.push_back(function);
    }
    call.setCallee(function.getName());
    setResultTypes(call, function.getResultTypes());
    return success();
  }

  void narrow(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isF32(operand.get().getType()))
        operand.set(converted(op, operand.get(), element));
  }
  void widen(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isShort(operand.get().getType()))
        operand.set(converted(op, operand.get(), Float32Type::get(module.getContext())));
  }
  void widenScalars(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isShort(operand.get().getType()) && isScalar(operand.get().getType()))
        operand.set(converted(op, operand.get(), Float32Type::get(module.getContext())));
  }
  void widenResult(Operation *op) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value result = op->getResult(0);
    if (!isShort(result.getType()))
      return;
    auto wide = nn::ConvertOp::create(builder, op->getLoc(), result, builder.getF32Type());
    result.replaceAllUsesExcept(wide, wide);
  }

  /// One convert a value serves all ops behind it.
  Value converted(Operation *before, Value value, Type to) {
    Value &known = conversions[{value, to}];
    if (!known) {
      OpBuilder builder(before);
      known = nn::ConvertOp::create(builder, value.getLoc(), value, to);
    }
    return known;
  }

  /// A function that calls name, and what became of it.
  struct Specialised {
    OwningOpRef<func::FuncOp> asWritten;
    SmallVector<func::FuncOp> made; // each with types of its own
  };

  ModuleOp module;
  Type element;
  llvm::SmallPtrSet<Operation *, 8> retyped, open; // functions; `open` ones wait for a call
  std::map<Operation *, Specialised> specialised;
  llvm::DenseMap<std::pair<Value, Type>, Value> conversions;
};

class MixedPrecision : public impl::MixedPrecisionPassBase<MixedPrecision> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(expectLevel(getOperation(), Level::Graph)) || failed(readOptions()))
      return signalPassFailure();
    if (!element)
      return;
    FailureOr<func::FuncOp> forward = findForward(getOperation());
    if (failed(forward))
      return signalPassFailure();
    FailureOr<bool> isDone = checkWritten();
    if (failed(isDone))
      return signalPassFailure();
    if (*isDone)
      return;
    for (nn::ParamOp param : params())
      if (isF32(param.getTensorType()) && !kept.contains(param))
        param.setType(param.getTensorType().clone(element));
    if (failed(Retyper(getOperation(), element).run(*forward)))
      return signalPassFailure();
  }

private:
  SmallVector<nn::ParamOp> params() {
    return llvm::to_vector(getOperation().getOps<nn::ParamOp>());
  }

  /// The element type (null for f32), and the parameters that stay as they are.
  LogicalResult readOptions() {
    kept.clear();
    element = {};
    Builder builder(&getContext());
    if (type == "bf16")
      element = builder.getBF16Type();
    else if (type == "f16")
      element = builder.getF16Type();
    else if (type != "f32")
      return emitError(getOperation().getLoc())
             << "expects type to be one of f32, bf16, f16, got '" << type << "'";
    if (!element && !keepF32.empty())
      return emitError(getOperation().getLoc())
             << "expects keep-f32 only with type bf16 or f16, got '" << keepF32 << "'";
    SmallVector<StringRef> patterns;
    StringRef(keepF32).split(patterns, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef pattern : patterns) {
      bool found = false;
      for (nn::ParamOp param : params())
        if (matches(pattern.trim(), param.getSymName())) {
          kept.insert(param);
          found = true;
        }
      if (!found)
        return emitError(getOperation().getLoc())
               << "expects keep-f32 patterns that match a parameter, got '" << pattern.trim()
               << "'";
    }
    return success();
  }

  /// Whether the graph is written in the 16-bit type already: its own types then hold.
  FailureOr<bool> checkWritten() {
    bool any = false;
    for (nn::ParamOp param : params()) {
      if (!isShort(param.getTensorType()))
        continue;
      any = true;
      if (kept.contains(param))
        return param.emitError() << "expects a parameter of f32 to be kept in f32, got "
                                 << param.getTensorType();
      if (param.getTensorType().getElementType() != element)
        return param.emitError() << "expects a graph in f32 or " << element
                                 << ", got a parameter of " << param.getTensorType();
    }
    return any;
  }

  Type element;
  llvm::SmallPtrSet<Operation *, 8> kept;
};

} // namespace
} // namespace zero
