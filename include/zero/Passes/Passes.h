//===- Passes.h - Zero's passes ---------------------------------------------------===//
#ifndef ZERO_PASSES_PASSES_H
#define ZERO_PASSES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
namespace LLVM {
class LLVMDialect;
}
namespace scf {
class SCFDialect;
}
namespace arith {
class ArithDialect;
}
namespace math {
class MathDialect;
}
namespace vector {
class VectorDialect;
}
namespace memref {
class MemRefDialect;
}
namespace func {
class FuncDialect;
}
namespace cf {
class ControlFlowDialect;
}
} // namespace mlir

namespace zero {
namespace nn {
class NNDialect;
}
namespace ir {
class ZeroDialect;
}

#define GEN_PASS_DECL
#include "zero/Passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zero/Passes/Passes.h.inc"

} // namespace zero

#endif // ZERO_PASSES_PASSES_H
