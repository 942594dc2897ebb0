//===- Register.h - everything that parsing and running Zero's IR needs --------===//
#ifndef ZERO_PASSES_REGISTER_H
#define ZERO_PASSES_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace zero {

/// The dialects of all levels, and the external models of their interfaces.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Zero's passes, and upstream's canonicalize, cse, inline and symbol-dce.
void registerAllPasses();

} // namespace zero

#endif // ZERO_PASSES_REGISTER_H
