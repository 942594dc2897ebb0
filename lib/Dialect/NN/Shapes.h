//===- Shapes.h - shape rules that the ops share ---------------------------===//
//
// Inference runs on types that nobody has verified yet, while building as well
// as while parsing. These helpers therefore take nothing for granted: they
// check what they read, never overflow, and report at the op's location.
//
// An open dimension (`?`) may only be dimension 0. Its size is unknown, so it
// agrees with an open dimension only, and it is never written into an attribute.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_DIALECT_NN_SHAPES_H
#define ZERO_LIB_DIALECT_NN_SHAPES_H

#include "zero/Dialect/NN/NN.h"

#include <limits>

namespace zero::nn {

using MaybeLocation = std::optional<mlir::Location>;
using Shape = llvm::SmallVector<int64_t>;
using TensorTypes = llvm::SmallVector<mlir::RankedTensorType>;

constexpr int64_t kOpen = mlir::ShapedType::kDynamic;

/// The product of the closed sizes, or nothing where it exceeds 2^63 - 1.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> sizes);

/// Checks that a tensor is open at most in dimension 0 and has at most 2^63 - 1 bytes.
mlir::LogicalResult checkTensor(MaybeLocation location, mlir::RankedTensorType type);

/// The operands' types, each checked by `checkTensor`.
llvm::FailureOr<TensorTypes> operandTypes(MaybeLocation location, mlir::ValueRange operands);

/// Appends a result type after checking it by `checkTensor`.
mlir::LogicalResult addResult(MaybeLocation location, llvm::ArrayRef<int64_t> shape,
                              mlir::Type element, llvm::SmallVectorImpl<mlir::Type> &inferred);

/// The common shape under numpy's rules; an open dimension meets an open one or a 1.
llvm::FailureOr<Shape> broadcastShapes(MaybeLocation location,
                                       llvm::ArrayRef<mlir::RankedTensorType> types);

mlir::LogicalResult checkEqualElements(MaybeLocation location,
                                       llvm::ArrayRef<mlir::RankedTensorType> types);

/// Checks 0 <= dim < rank.
mlir::LogicalResult checkDimension(MaybeLocation location, int64_t dim, int64_t rank);

/// Checks a condition; the message is `expects …, got …`.
template <typename... Parts>
mlir::LogicalResult expects(MaybeLocation location, bool holds, Parts &&...message) {
  if (holds)
    return mlir::success();
  return mlir::emitOptionalError(location, "expects ", std::forward<Parts>(message)...);
}

/// The type in which sums over 16-bit values are formed: f32 for those, else the type itself.
mlir::Type accumulationType(mlir::Type element);

/// `factor` times the number of elements, saturating at 2^63 - 1; 0 while the shape is open.
int64_t countFlops(mlir::Value value, int64_t factor);

/// a * b of non-negative numbers, saturating at 2^63 - 1.
int64_t saturatingProduct(int64_t a, int64_t b);

} // namespace zero::nn

/// The head of an op's type inference; the op's operands and attributes are `adaptor`'s.
#define NN_INFER(OP)                                                                               \
  mlir::LogicalResult zero::nn::OP::inferReturnTypes(                                              \
      mlir::MLIRContext *, std::optional<mlir::Location> location, OP::Adaptor adaptor,            \
      llvm::SmallVectorImpl<mlir::Type> &inferred)

/// An op's kernel family and FLOP count, each an expression in the op's members.
#define NN_KERNEL(OP, FAMILY, FLOPS)                                                               \
  zero::nn::KernelFamily zero::nn::OP::getKernelFamily() { return FAMILY; }                        \
  int64_t zero::nn::OP::getFlops() { return FLOPS; }

#endif // ZERO_LIB_DIALECT_NN_SHAPES_H
