//===- ElementModels.h - one element of each elementwise op -------------------===//
#ifndef ZERO_PASSES_ELEMENTMODELS_H
#define ZERO_PASSES_ELEMENTMODELS_H

namespace mlir {
class DialectRegistry;
}

namespace zero {

/// Implements ElementLoweringInterface for the nn dialect's elementwise ops. `zero-lower` needs it.
void registerElementModels(mlir::DialectRegistry &registry);

} // namespace zero

#endif // ZERO_PASSES_ELEMENTMODELS_H
