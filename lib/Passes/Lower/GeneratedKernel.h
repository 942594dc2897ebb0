//===- GeneratedKernel.h - the function of a generated kernel -----------------------===//
#ifndef ZERO_PASSES_LOWER_GENERATEDKERNEL_H
#define ZERO_PASSES_LOWER_GENERATEDKERNEL_H

#include "zero/Dialect/Zero/Zero.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace zero {

/// Emits `void f(char **operands, int64_t begin, int64_t end)` at the builder's insertion point, in
/// the scf, arith, math, vector and llvm dialects: arguments, results, then the workspace if any.
/// `added` are the results that are added to what they hold. Fails with a diagnostic on the kernel.
llvm::FailureOr<mlir::LLVM::LLVMFuncOp> emitGenerated(mlir::OpBuilder &builder, ir::KernelOp kernel,
                                                      llvm::ArrayRef<int64_t> added);

/// Leaves only the llvm dialect in the function; elementary functions become polynomials.
llvm::LogicalResult convertToLLVM(mlir::LLVM::LLVMFuncOp function);

} // namespace zero

#endif // ZERO_PASSES_LOWER_GENERATEDKERNEL_H
