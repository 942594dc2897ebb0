//===- Grouping.h - which ops of the joint graph share a launch -----------===//
#ifndef ZERO_PASSES_LAUNCH_GROUPING_H
#define ZERO_PASSES_LAUNCH_GROUPING_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Zero.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace zero {

/// Ops that one kernel computes, in block order. The launch stands where the last of them stood.
struct Group {
  ir::KernelKind kind = ir::KernelKind::Generated;
  llvm::SmallVector<mlir::Operation *> ops;
  /// Generated groups: the shape all members run over.
  llvm::SmallVector<int64_t> shape;
  bool hasNorm = false;   // a normalisation or row reduction
  bool hasGather = false; // reads rows by index
  bool isOpen = true;     // elementwise ops may still join
};

/// Groups the ops of a block. The rules, fixed for all stages:
///  - a GEMM takes a following bias add, activation, residual add and convert to f32 as its
///  epilogue,
///    where the intermediate value has no other use;
///  - a convert from 16 bits to f32 joins the generated or scatter kernel that makes its operand;
///  - an elementwise op joins the group that made an operand over the same shape; a normalisation
///    joins elementwise ops before it; column sums of layer_norm's backward join its row part;
///  - an attention gradient takes the concat that joins its three results;
///  - cross-entropy, scatter and lone column sums are groups of their own;
///  - constants are copied into every group that reads them.
/// A group is convex: nothing between its first and last op reads its results from outside.
/// Fails with a diagnostic on an op that says no kernel family. Linear in ops and uses.
llvm::FailureOr<std::vector<Group>> formGroups(mlir::Block &block);

/// Whether the op is copied into its users' kernels: pure, without operands, or such a float
/// converted.
bool isRematerialised(mlir::Operation *op);

} // namespace zero

#endif // ZERO_PASSES_LAUNCH_GROUPING_H
