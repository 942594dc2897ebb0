//===- Lifetimes.h - which bytes of a segment must hold, and when ---------------===//
//
// Read off levels S and A by the arena's planner, the report, the step table and
// nobody else: what is alive is decided in one place. The checker (zero-verify)
// computes its own.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LIFETIMES_H
#define ZERO_PASSES_LIFETIMES_H

#include "zero/Dialect/Zero/Zero.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace zero {

/// Symbols of a level-Z-and-up module, looked up once.
struct ModuleIndex {
  explicit ModuleIndex(mlir::ModuleOp module);
  llvm::StringMap<ir::BucketOp> buckets;
  llvm::StringMap<ir::StateOp> states; // by bucket
  llvm::StringMap<ir::CellOp> cells;
  llvm::StringMap<ir::KernelOp> kernels;
  std::vector<ir::BucketOp> bucketOrder;

  int64_t fullBytes(llvm::StringRef bucket) const; // of the full bucket, padding included
  /// The same of its gradients, and of one element of them; they may have a type of their own.
  int64_t fullGradientBytes(llvm::StringRef bucket) const;
  int64_t gradientElementBytes(llvm::StringRef bucket) const;
  /// Whether a grads value of this bucket is a buffer of its own (its state is sharded).
  bool gradsAllocate(llvm::StringRef bucket) const;
  /// Elements and bytes of a slot; nothing where the bucket holds no such parameter.
  ir::SlotOp slot(llvm::StringRef bucket, llvm::StringRef param) const;

private:
  llvm::StringMap<ir::SlotOp> slots; // "bucket/param"
};

enum class BufferKind { Input, Gather, Gradient, Activation, Workspace };
llvm::StringRef nameOf(BufferKind kind);

/// Bytes that hold from time `lower` to before `upper`; times are op indices in the segment's
/// block.
struct LiveBuffer {
  BufferKind kind = BufferKind::Activation;
  std::string name; // the argument, bucket or kernel
  int64_t bytes = 0;
  int64_t lower = 0, upper = 0;
  mlir::Operation *owner = nullptr; // start, grads or launch; null for an input
  int64_t index = 0;                // argument or result number
  int64_t offset = -1;              // level A
};

class Lifetimes {
public:
  /// `threadsPerRank` decides workspaces. Fails with a diagnostic on a launch whose kernel has no
  /// code.
  static llvm::FailureOr<Lifetimes> compute(ir::SegmentOp segment, const ModuleIndex &index,
                                            int64_t threadsPerRank);

  std::vector<LiveBuffer> buffers;
  int64_t timeCount = 0;

  /// The buffer in which a value lies, or -1 (state, cells, slots, constants of the timeline).
  int64_t bufferOf(mlir::Value value) const;
  /// Time of an op of the segment's block.
  int64_t timeOf(mlir::Operation *op) const { return times.lookup(op); }
  /// The value a view chain starts at: through nn views, zero.view and nn.barrier.
  static mlir::Value rootOf(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, int64_t> bufferByValue;
  llvm::DenseMap<mlir::Operation *, int64_t> times;
};

/// Bytes of a static tensor; i1 takes one byte an element.
int64_t bytesOf(mlir::Type type);

} // namespace zero

#endif // ZERO_PASSES_LIFETIMES_H
