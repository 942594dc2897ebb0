//===- VjpContract.cpp - products of matrix products ------------------------===//
//
// The gradient of an operand is again a contraction, of the cotangent with the
// other operand, and its operands' order is chosen so that the result has the
// operand's own order of dimensions where that is possible. Gradients are formed
// in the order: bias, weight (right operand), input (left operand).
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {

namespace {

/// One operand of a dot_general with the roles of its dimensions.
struct Side {
  Value value;
  ArrayRef<int64_t> batch, contract;

  int64_t rank() const { return cast<RankedTensorType>(value.getType()).getRank(); }

  Shape freeDims() const {
    Shape dims;
    for (int64_t dim = 0; dim < rank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
        dims.push_back(dim);
    return dims;
  }
};

} // namespace

/// The gradient of `own`. Dimensions of the cotangent `dy` are: batch, free ones of the left
/// operand, free ones of the right; `ownFirst` says that `own` is the left one. The cotangent
/// contracts with `other` over other's free dimensions; what is left are the batch, own's free
/// dimensions (from the cotangent) and own's contracted ones (from `other`).
static Value contractBack(Vjp &vjp, Value dy, const Side &own, const Side &other, bool ownFirst) {
  Shape ownFree = own.freeDims(), otherFree = other.freeDims();
  int64_t batches = own.batch.size();
  int64_t otherStart = batches + (ownFirst ? ownFree.size() : 0);
  auto dyContract = llvm::to_vector(llvm::seq<int64_t>(otherStart, otherStart + otherFree.size()));

  // Batch dimensions come first in the result, in the order of the lists: take own's order.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  llvm::sort(order, [&](int64_t a, int64_t b) { return own.batch[a] < own.batch[b]; });
  Shape dyBatch(order), otherBatch, fromDy(ownFree), fromOther, leading;
  for (int64_t index : order) {
    otherBatch.push_back(other.batch[index]);
    leading.push_back(own.batch[index]);
  }
  // The dimensions of own that other's contracted ones stand for, in other's order.
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [otherDim, ownDim] : llvm::zip_equal(other.contract, own.contract))
    pairs.emplace_back(otherDim, ownDim);
  llvm::sort(pairs);
  for (auto [otherDim, ownDim] : pairs)
    fromOther.push_back(ownDim);

  Shape cotangentFirst(leading), otherFirst(leading);
  llvm::append_range(cotangentFirst, fromDy);
  llvm::append_range(cotangentFirst, fromOther);
  llvm::append_range(otherFirst, fromOther);
  llvm::append_range(otherFirst, fromDy);
  if (!llvm::is_sorted(cotangentFirst) && llvm::is_sorted(otherFirst))
    return vjp.emit<DotGeneralOp>(other.value, dy, otherBatch, dyBatch, otherFree, dyContract);

  Value product =
      vjp.emit<DotGeneralOp>(dy, other.value, dyBatch, otherBatch, dyContract, otherFree);
  Shape permutation(cotangentFirst.size());
  for (auto [position, dim] : llvm::enumerate(cotangentFirst))
    permutation[dim] = position;
  return vjp.transpose(product, permutation);
}

static LogicalResult differentiate(DotGeneralOp op, Vjp &vjp) {
  Side lhs{op.getLhs(), op.getLhsBatch(), op.getLhsContract()};
  Side rhs{op.getRhs(), op.getRhsBatch(), op.getRhsContract()};
  if (vjp.wants(1))
    vjp.set(1, contractBack(vjp, vjp.cotangent(), rhs, lhs, /*ownFirst=*/false));
  if (vjp.wants(0))
    vjp.set(0, contractBack(vjp, vjp.cotangent(), lhs, rhs, /*ownFirst=*/true));
  return success();
}
NN_DEFINE_VJP(DotGeneralOp)

static LogicalResult differentiate(LinearOp op, Vjp &vjp) {
  Value x = op.getInput(), dy = vjp.cotangent();
  int64_t last = op.getInput().getType().getRank() - 1;
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
  ArrayRef<int64_t> none;
  if (op.getBias() && vjp.wants(2))
    vjp.set(2, vjp.sumRows(dy));
  if (vjp.wants(1))
    vjp.set(1, op.getTransposed() ? vjp.emit<DotGeneralOp>(dy, x, none, none, rows, rows)
                                  : vjp.emit<DotGeneralOp>(x, dy, none, none, rows, rows));
  if (vjp.wants(0)) {
    int64_t out = op.getTransposed() ? 0 : 1;
    vjp.set(0,
            vjp.emit<DotGeneralOp>(dy, op.getWeight(), none, none, ArrayRef(last), ArrayRef(out)));
  }
  return success();
}
NN_DEFINE_VJP(LinearOp)

} // namespace zero::nn
