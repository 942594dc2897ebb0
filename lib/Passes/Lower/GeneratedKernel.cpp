//===- GeneratedKernel.cpp - the function of a generated kernel ----------------------===//

#include "GeneratedKernel.h"
#include "BodyViews.h"
#include "Rotation.h"
#include "StageLoops.h"

#include "zero/Passes/KernelDescriptors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero {
namespace {

class FunctionEmitter {
public:
  FunctionEmitter(OpBuilder &builder, ir::KernelOp kernel, ArrayRef<int64_t> added)
      : kernel(kernel), added(added), shapes(kernel), b(kernel.getLoc(), builder) {}

  FailureOr<LLVM::LLVMFuncOp> emit() {
    std::string why;
    std::optional<GeneratedPlan> plan = planGenerated(kernel, shapes, why);
    if (!plan)
      return kernel.emitOpError() << "has no generated code: " << why;
    if (failed(checkBody()))
      return failure();
    b.setInsertionPointToEnd(kernel->getParentOfType<ModuleOp>().getBody());
    makeGlobals();
    makeFunction();
    readAddresses(*plan);
    Evaluator evaluator(b, shapes, pointers);
    Block &entry = function.getBody().front();
    for (const Stage &stage : plan->stages) {
      SmallVector<std::pair<Value, Value>> accumulators = makeAccumulators(stage);
      StageLoops loops(b, evaluator, shapes, stage, {results, adds, accumulators});
      evaluator.pushScope();
      if (plan->stages.size() == 1)
        loops.emit(Index(entry.getArgument(1)), Index(entry.getArgument(2)));
      else
        loops.emit(0, stage.units);
      evaluator.popScope();
    }
    LLVM::ReturnOp::create(b, ValueRange());
    return function;
  }

private:
  LogicalResult checkBody() {
    for (Operation &op : kernel.getBody().front()) {
      if (isElementwise(&op) && !isa<nn::ElementLoweringInterface>(op))
        return op.emitOpError("expects an op with an element's value: implement "
                              "ElementLoweringInterface");
      if (auto constant = dyn_cast<nn::ConstantOp>(op);
          constant && !isa<DenseElementsAttr>(constant.getValue()))
        return op.emitOpError("expects a dense constant");
      auto gelu = dyn_cast<nn::GeluOp>(op);
      auto geluGrad = dyn_cast<nn::GeluGradOp>(op);
      bool usesErf = isa<nn::ErfOp>(op) || (gelu && gelu.getKind() == nn::GeluKind::Erf) ||
                     (geluGrad && geluGrad.getKind() == nn::GeluKind::Erf);
      if (usesErf && !computeTypeOf(op.getResult(0)).isF32())
        return op.emitOpError("expects f32, bf16 or f16 for the error function, got ")
               << op.getResult(0).getType();
    }
    for (int64_t result : added) {
      Type type = cast<RankedTensorType>(kernel.getResultTypes()[result]).getElementType();
      if (!isa<FloatType>(type))
        return kernel.emitOpError("expects floats where results are added up, got ") << type;
    }
    return success();
  }

  /// Constants with more than one value and the tables of rotations stand beside the function, one
  /// set a kernel, in the type in which they are computed with.
  void makeGlobals() {
    for (Operation &op : kernel.getBody().front()) {
      if (auto rotary = dyn_cast<nn::RotaryOp>(op))
        addGlobal(rotary.getResult(), [&] { return rotationTable(rotary); });
      auto constant = dyn_cast<nn::ConstantOp>(op);
      if (constant && !isa<SplatElementsAttr>(constant.getValue()))
        addGlobal(constant.getResult(), [&] { return valuesOf(constant); });
    }
  }

  DenseElementsAttr valuesOf(nn::ConstantOp constant) {
    auto values = cast<DenseElementsAttr>(constant.getValue());
    Type element = values.getElementType();
    if (element.isInteger(1))
      return cast<DenseIntElementsAttr>(values).mapValues(
          b.getI8Type(), [](const APInt &bit) { return bit.zext(8); });
    if (Type wide = computeType(element); wide != element)
      return cast<DenseFPElementsAttr>(values).mapValues(wide, [](const APFloat &number) {
        return APFloat(static_cast<float>(number.convertToDouble())).bitcastToAPInt();
      });
    return values;
  }

  void addGlobal(Value value, llvm::function_ref<DenseElementsAttr()> make) {
    auto module = kernel->getParentOfType<ModuleOp>();
    std::string name = generatedSymbol(kernel.getSymName()) + ".c" + std::to_string(globals.size());
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global) {
      DenseElementsAttr values = make();
      Type element = values.getElementType();
      int64_t count = values.getNumElements();
      Attribute flat = values.reshape(RankedTensorType::get(count, element));
      global = LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(element, count),
                                      /*isConstant=*/true, LLVM::Linkage::Internal, name, flat, 64);
    }
    globals.push_back({value, global});
  }

  void makeFunction() {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            {pointer, b.getI64Type(), b.getI64Type()});
    function = LLVM::LLVMFuncOp::create(b, generatedSymbol(kernel.getSymName(), added), type);
    Attribute width = b.getStrArrayAttr({"prefer-vector-width", "512"});
    function.setPassthroughAttr(b.getArrayAttr({width}));
    b.setInsertionPointToStart(function.addEntryBlock(b));
  }

  Value operandAddress(int64_t number) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value slot = LLVM::GEPOp::create(b, pointer, pointer, function.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    return LLVM::LoadOp::create(b, pointer, slot);
  }

  void readAddresses(const GeneratedPlan &plan) {
    int64_t number = 0;
    for (BlockArgument argument : kernel.getBody().getArguments())
      pointers[argument] = operandAddress(number++);
    for (unsigned i = 0; i < kernel.getResultTypes().size(); ++i) {
      results.push_back(operandAddress(number++));
      adds.push_back(llvm::is_contained(added, i));
    }
    if (plan.workspaceBytes > 0)
      workspace = operandAddress(number);
    for (auto [value, global] : globals)
      pointers[value] = LLVM::AddressOfOp::create(b, global);
  }

  SmallVector<std::pair<Value, Value>> makeAccumulators(const Stage &stage) {
    SmallVector<std::pair<Value, Value>> accumulators;
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    int64_t offset = 0;
    for (const PlannedOutput &output : stage.outputs) {
      if (output.form != OutputForm::Column)
        continue;
      Type element = computeTypeOf(output.reduction->getResult(0));
      int64_t length = llvm::alignTo(stage.inWorkspace ? stage.columns : stage.block, kLanes);
      auto row = [&]() -> Value {
        if (stage.inWorkspace) {
          Value address = LLVM::GEPOp::create(b, pointer, b.getI8Type(), workspace,
                                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
          offset += length * storedBytes(element);
          return address;
        }
        Value count = arith::ConstantIntOp::create(b, length, 64);
        return LLVM::AllocaOp::create(b, pointer, element, count, 64);
      };
      Value inner = row(), total = row();
      accumulators.push_back({inner, total});
    }
    return accumulators;
  }

  ir::KernelOp kernel;
  ArrayRef<int64_t> added;
  BodyShapes shapes;
  ImplicitLocOpBuilder b;
  LLVM::LLVMFuncOp function;
  llvm::DenseMap<Value, Value> pointers;
  SmallVector<Value> results;
  SmallVector<bool> adds;
  Value workspace;
  SmallVector<std::pair<Value, LLVM::GlobalOp>> globals;
};

} // namespace

FailureOr<LLVM::LLVMFuncOp> emitGenerated(OpBuilder &builder, ir::KernelOp kernel,
                                          ArrayRef<int64_t> added) {
  OpBuilder::InsertionGuard guard(builder);
  return FunctionEmitter(builder, kernel, added).emit();
}

} // namespace zero
