//===- Register.cpp - everything that parsing and running Zero's IR needs ---===//

#include "zero/Passes/Register.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/ElementModels.h"
#include "zero/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

namespace zero {

void registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<nn::NNDialect, ir::ZeroDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
              mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
              mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::func::registerInlinerExtension(registry);
  registerElementModels(registry);
}

void registerAllPasses() {
  registerZeroPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
}

} // namespace zero
