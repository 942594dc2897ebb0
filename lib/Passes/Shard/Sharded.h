//===- Sharded.h - a module at level Z, and the steps between its stages -----===//
//
// Stages are cumulative: each one shards a kind of state more than the stage
// before, and moves the collectives that follow from it. What stage a module is
// at is read off its states and reductions, so that text of any stage goes on.
//
// The placements below are functions of what stands in the buckets and of the
// launches alone; passes that change the former have them made anew.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PASSES_SHARD_SHARDED_H
#define ZERO_LIB_PASSES_SHARD_SHARDED_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Dialect/Zero/Config.h"
#include "zero/Dialect/Zero/Zero.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Planning/Buckets.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace zero {

inline constexpr llvm::StringLiteral kMicroStepSegment = "micro_step";
inline constexpr llvm::StringLiteral kUpdateSegment = "update";
inline constexpr llvm::StringLiteral kCountSegment = "count";
inline constexpr llvm::StringLiteral kEvalSegment = kEvalName; // where there is an @eval
// Segments and cells are symbols of one table, so that the cell of @count has another name.
inline constexpr llvm::StringLiteral kCountCell = "label_count";
inline constexpr llvm::StringLiteral kLossCell = "loss";
inline constexpr llvm::StringLiteral kNormCell = "norm";
inline constexpr llvm::StringLiteral kSeedCell = "seed";
inline constexpr llvm::StringLiteral kRandomCell = "random";
inline constexpr llvm::StringLiteral kEvalCountCell = "eval_count";
inline constexpr llvm::StringLiteral kEvalSeedCell = "eval_seed";
inline constexpr llvm::StringLiteral kEvalLossCell = "eval_loss";
inline constexpr llvm::StringLiteral kScalarsCell = "scalars";

inline constexpr int64_t kHoldAll = -1; // gathered buckets wait for a reader, whatever is live

/// A module at level Z.
struct Sharded {
  mlir::ModuleOp module;
  ir::Config config;
  int64_t stage = 0; // what the IR does: 1 for stage 2 where gradients are reduced once a step
  ir::SegmentOp microStep, update;
  ir::SegmentOp eval;                                            // or null
  llvm::SmallVector<ir::BucketOp> buckets;                       // in order of the text
  llvm::DenseMap<mlir::Attribute, ir::StateOp> states;           // by bucket
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> home; // parameter → bucket
  llvm::DenseMap<mlir::Attribute, nn::ParamOp> params;           // by symbol reference

  /// Reads a module, with an error where it is none of level Z.
  static mlir::FailureOr<Sharded> read(mlir::ModuleOp module);
  /// Reads buckets and states again.
  void readBuckets();

  /// Sets whether the held states of `kinds` are sharded, in all buckets.
  void setSharded(llvm::ArrayRef<ir::StateKind> kinds, bool sharded);
};

/// Level J with launches to stage 0.
mlir::LogicalResult replicate(mlir::ModuleOp module);
/// Stage 0 to 1, 1 to 2, 2 to 3.
mlir::LogicalResult shardOptimizer(Sharded &sharded);
mlir::LogicalResult shardGradients(Sharded &sharded);
mlir::LogicalResult shardParameters(Sharded &sharded);

/// Takes a module at level J with launches, or at level Z below the stage, to that stage, which is
/// written into zero.config.
mlir::LogicalResult reachStage(mlir::ModuleOp module, int64_t stage);

//===----------------------------------------------------------------------===//
// Placements in the segments
//===----------------------------------------------------------------------===//

/// A gradient of a parameter: all of a launch's result, reshaped at most.
struct Contribution {
  mlir::Value gradient;
  mlir::FlatSymbolRefAttr param;
};

/// Makes the launches of `micro_step`, and of `eval`, read their parameters through views of full
/// buckets: gathered once a region of use at stage 3, resident below. Gathered buckets wait for a
/// later reader where they and activations take at most `holdBytes` (any number where that is
/// negative). Replaces nn.read, and whatever stood there before.
mlir::LogicalResult placeParameters(Sharded &sharded, int64_t holdBytes = kHoldAll);

/// Takes the accumulations out of `micro_step`, in their order.
llvm::SmallVector<Contribution> takeContributions(Sharded &sharded);

/// Accumulates each gradient right behind the launch that forms it, and reduces (from stage 2 on)
/// or keeps a bucket's grads value behind its last one. Linear in the number of ops.
mlir::LogicalResult placeGradients(Sharded &sharded,
                                   llvm::MutableArrayRef<Contribution> contributions);

/// Stores the loss in a cell, behind the launch that forms it.
mlir::LogicalResult placeLoss(mlir::Value loss, llvm::StringRef cell);

/// Writes `update`: reductions that are due once a step, norm, updates, gathers in place.
void buildUpdate(Sharded &sharded);

/// Whether an op only renames elements of its first operand.
bool isViewLike(mlir::Operation *op);
/// Erases views that nothing reads.
void eraseDeadViews(mlir::Block &block);

//===----------------------------------------------------------------------===//
// Buckets
//===----------------------------------------------------------------------===//

/// A parameter that is to get a slot.
struct SlotRequest {
  mlir::FlatSymbolRefAttr param;
  mlir::RankedTensorType type;
  ir::BucketClass bucketClass = ir::BucketClass::Trainable;
  int64_t contributions = 0;
  mlir::ArrayAttr held; // what its bucket keeps
};

/// The planner's problem for parameters in order of first use; types of weights and gradients are
/// numbered by first use.
planning::buckets::Problem makeProblem(llvm::ArrayRef<SlotRequest> requests,
                                       const ir::Config &config);

/// Writes zero.bucket and zero.state for a plan of `requests`, at the builder.
void writeBuckets(mlir::OpBuilder &builder, mlir::ModuleOp module,
                  const planning::buckets::Plan &plan, llvm::ArrayRef<SlotRequest> requests,
                  const ir::Config &config);

} // namespace zero

#endif // ZERO_LIB_PASSES_SHARD_SHARDED_H
