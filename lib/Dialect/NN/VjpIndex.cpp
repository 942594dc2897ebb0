//===- VjpIndex.cpp - products of reading by index --------------------------===//
//
// Reading rows by index has adding rows by index as its product. scatter_add
// knows tables of rank 2, so other inputs are brought into that form.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {

static LogicalResult differentiate(EmbeddingOp op, Vjp &vjp) {
  if (!vjp.wants(1))
    return success();
  Value ids = op.getIndices(), updates = vjp.cotangent();
  if (std::optional<uint64_t> padding = op.getPadding()) {
    Shape rows(op.getIndices().getType().getShape());
    rows.push_back(1);
    Value counts = vjp.compare(Predicate::NE, ids, vjp.integer(ids, *padding));
    Value mask = vjp.reshape(counts, rows), none = vjp.scalar(updates, 0.0);
    updates = vjp.select(mask, updates, none);
  }
  vjp.set(1, vjp.emit<ScatterAddOp>(ids, updates, op.getTable().getType().getDimSize(0)));
  return success();
}
NN_DEFINE_VJP(EmbeddingOp)

static LogicalResult differentiate(GatherOp op, Vjp &vjp) {
  if (!vjp.wants(0))
    return success();
  RankedTensorType input = op.getInput().getType(), indices = op.getIndices().getType();
  int64_t dim = op.getDim(), rank = input.getRank(), indexRank = indices.getRank();

  // The cotangent is [before, indices, behind]; rows are [before, behind], flattened.
  Shape toFront, tableShape = {input.getDimSize(dim)}, back;
  llvm::append_range(toFront, llvm::seq(dim, dim + indexRank));
  llvm::append_range(toFront, llvm::seq<int64_t>(0, dim));
  llvm::append_range(toFront, llvm::seq(dim + indexRank, rank - 1 + indexRank));
  int64_t row = 1;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim) {
      tableShape.push_back(input.getDimSize(i));
      row *= input.getDimSize(i);
    }
  Shape updatesShape(indices.getShape());
  updatesShape.push_back(row);
  Value updates = vjp.reshape(vjp.transpose(vjp.cotangent(), toFront), updatesShape);
  Value table = vjp.emit<ScatterAddOp>(op.getIndices(), updates, input.getDimSize(dim));

  // [dim, before, behind] back to the input's order.
  llvm::append_range(back, llvm::seq<int64_t>(1, dim + 1));
  back.push_back(0);
  llvm::append_range(back, llvm::seq(dim + 1, rank));
  vjp.set(0, vjp.transpose(vjp.reshape(table, tableShape), back));
  return success();
}
NN_DEFINE_VJP(GatherOp)

} // namespace zero::nn
