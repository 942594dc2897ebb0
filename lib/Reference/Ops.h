//===- Ops.h - what the reference functions share ------------------------===//
//
// Nearly every op that moves elements is one question: at which linear positions of a
// row-major array does a box of elements lie? `positions` answers it, for broadcasting
// (stride 0), transposes (permuted strides), slices (an offset) and contractions alike.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_REFERENCE_OPS_H
#define ZERO_LIB_REFERENCE_OPS_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Reference/Registry.h"

namespace zero::reference {

/// Row-major strides, in elements.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);

/// offset + Σ index[d]·strides[d] for each index of `shape`, in row-major order.
std::vector<int64_t> positions(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                               int64_t offset = 0);

/// numpy's result shape of two operands that broadcast.
Shape broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// For each element of `to`, the position of the element of `from` that is broadcast there.
std::vector<int64_t> broadcastPositions(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// The array of `shape` whose element k is from[source[k]].
Array take(const Array &from, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> source);

/// into[target[k]] = from[k].
void put(const Array &from, Array &into, llvm::ArrayRef<int64_t> target);

/// Fails, naming the first, where an index is neither in [0, bound) nor equal to `ignore`.
mlir::LogicalResult checkIndices(mlir::Operation *op, const Array &indices, int64_t bound,
                                 std::optional<int64_t> ignore = std::nullopt);

/// What dropout multiplies element `element` of sample `sample` of the batch by: 0, or
/// 1 / (1 − rate), rounded to f32.
double dropoutFactor(const Array &random, double rate, int64_t site, int64_t sample,
                     int64_t element);

// Elementary functions that several files need.
double normalCdf(double x);
double sigmoid(double x);

void registerElementwise(Registry &registry);
void registerBroadcasting(Registry &registry);
void registerShape(Registry &registry);
void registerReduce(Registry &registry);
void registerContract(Registry &registry);
void registerConvolution(Registry &registry);
void registerIndex(Registry &registry);
void registerNorm(Registry &registry);
void registerDropout(Registry &registry);
void registerRotary(Registry &registry);
void registerAttention(Registry &registry);
void registerLoss(Registry &registry);

} // namespace zero::reference

#endif // ZERO_LIB_REFERENCE_OPS_H
