//===- CodeGen.h - from llvm functions to machine code ---------------------===//
#ifndef ZERO_COMPILER_CODEGEN_H
#define ZERO_COMPILER_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
}

namespace zero {

/// Compiles the module's llvm functions for this processor and adds two constants: `zrt_kernels`,
/// pointers to `functions` in order, and, unless `program` is empty, `zrt_program`. Returns the
/// object file, or nothing with what went wrong in `error`.
std::vector<char> compileObject(mlir::ModuleOp module, const std::vector<std::string> &functions,
                                const std::vector<uint8_t> &program, std::string &error);

/// Loads an object file into this process and looks `zrt_kernels` up.
std::shared_ptr<llvm::orc::LLJIT> loadObject(const std::vector<char> &object, void **&kernels,
                                             std::string &error);

} // namespace zero

#endif // ZERO_COMPILER_CODEGEN_H
