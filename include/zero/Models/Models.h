//===- Models.h - a configuration of any family as a training graph ---------===//
#ifndef ZERO_MODELS_MODELS_H
#define ZERO_MODELS_MODELS_H

#include "zero/Models/Batch.h"
#include "zero/Training/HfConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::models {

/// The positions of the model: the length of a sequence where none is asked for.
int64_t positionsOf(const training::ModelConfig &config);

/// The module, verified; its check's line (`checkGpt2`, …) as an error where that has one. Loads
/// the dialects that it needs into `context`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> buildModel(mlir::MLIRContext &context,
                                                             const training::ModelConfig &config,
                                                             const BatchShape &batch);

} // namespace zero::models

#endif // ZERO_MODELS_MODELS_H
