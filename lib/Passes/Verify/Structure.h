//===- Structure.h - what the text of a level promises -----------------------===//
#ifndef ZERO_PASSES_VERIFY_STRUCTURE_H
#define ZERO_PASSES_VERIFY_STRUCTURE_H

#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/Level.h"

namespace zero {

/// Whether kernels list no operand in `may_reuse` that their loops do not allow (S1).
mlir::LogicalResult verifyKernels(mlir::ModuleOp module);

/// Whether buckets and segments are those of zero.config, and each cell that is read, and the loss,
/// is written by one op before it is read (levels Z and up).
mlir::LogicalResult verifyModule(mlir::ModuleOp module);

/// Whether each op of a segment sits on its stream (level S), and each result and accumulation says
/// where its bytes go and how (level A).
mlir::LogicalResult verifySegment(ir::SegmentOp segment, mlir::ModuleOp module, Level level);

} // namespace zero

#endif // ZERO_PASSES_VERIFY_STRUCTURE_H
