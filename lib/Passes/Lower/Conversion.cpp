//===- Conversion.cpp - from structured loops to the llvm dialect -------------------===//
//
// Elementary functions on f32 become polynomials on the same vectors, in loop
// bodies and tails alike; what remains is converted by upstream's patterns. No
// flag that lets LLVM change a bit is set on the way.
//
//===----------------------------------------------------------------------===//

#include "GeneratedKernel.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace zero {
namespace {

LogicalResult expandMath(LLVM::LLVMFuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::ExpOp::getOperationName() || name == math::LogOp::getOperationName();
  });
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(function, std::move(patterns), config);
}

LogicalResult lowerLoops(LLVM::LLVMFuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*function.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult lowerRest(LLVM::LLVMFuncOp function) {
  MLIRContext *context = function.getContext();
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, math::MathDialect,
                           vector::VectorDialect, ub::UBDialect>();
  return applyPartialConversion(function, target, std::move(patterns));
}

} // namespace

LogicalResult convertToLLVM(LLVM::LLVMFuncOp function) {
  if (failed(expandMath(function)) || failed(lowerLoops(function)) || failed(lowerRest(function)))
    return function.emitError("expects code that the llvm dialect holds");
  return success();
}

} // namespace zero
