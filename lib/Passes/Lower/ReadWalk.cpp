//===- ReadWalk.cpp - what an element of a kernel's result reads --------------===//

#include "ReadWalk.h"
#include "BodyViews.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::SmallBitVector;

namespace zero {

bool isRowOp(Operation *op) {
  return isa<nn::LayerNormOp, nn::LayerNormGradInputOp, nn::RmsNormOp, nn::RmsNormGradInputOp,
             nn::SoftmaxOp, nn::SoftmaxGradOp>(op);
}

bool isNormGradWeight(Operation *op) {
  return isa<nn::LayerNormGradWeightOp, nn::RmsNormGradWeightOp>(op);
}

SmallVector<int64_t> reducedDims(Operation *op) {
  if (isNormGradWeight(op)) {
    int64_t rank = shapeOf(op->getOperand(0)).size();
    return llvm::to_vector(llvm::seq<int64_t>(0, std::max<int64_t>(rank - 1, 0)));
  }
  return llvm::TypeSwitch<Operation *, SmallVector<int64_t>>(op)
      .Case<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceMaxOp>(
          [](auto reduce) { return SmallVector<int64_t>(reduce.getDims()); })
      .Default([](Operation *) { return SmallVector<int64_t>(); });
}

bool readsWholeRow(Operation *op) {
  if (isRowOp(op))
    return true;
  SmallVector<int64_t> dims = reducedDims(op);
  return !dims.empty() &&
         dims.back() + 1 == static_cast<int64_t>(shapeOf(op->getOperand(0)).size());
}

SmallBitVector reshapedLanes(ArrayRef<int64_t> result, const SmallBitVector &lanes,
                             ArrayRef<int64_t> source) {
  SmallBitVector bits(source.size());
  size_t front = 0, resultEnd = result.size(), sourceEnd = source.size();
  while (resultEnd > 0 && sourceEnd > 0 && result[resultEnd - 1] == source[sourceEnd - 1]) {
    --resultEnd, --sourceEnd;
    bits[sourceEnd] = lanes[resultEnd];
  }
  while (front < resultEnd && front < sourceEnd && result[front] == source[front]) {
    bits[front] = lanes[front];
    ++front;
  }
  bool any = false;
  for (size_t i = front; i < resultEnd; ++i)
    any |= lanes[i];
  for (size_t i = front; i < sourceEnd; ++i)
    bits[i] = any && source[i] != 1;
  return bits;
}

int64_t ReadWalk::count(Value value) const { return elementCount(shapeOf(value)); }

/// The class under which a row reduction reads its operand when itself read as `cls`.
ReadClass ReadWalk::wholeRowOf(Value value, ReadClass cls) const {
  SmallVector<int64_t> shape = shapes.of(value);
  bool isRow = !shape.empty() && shape.back() == columns && count(value) == rows * columns;
  return isRow && cls != ReadClass::Other ? ReadClass::Row : ReadClass::Other;
}

void ReadWalk::visitBroadcast(Value operand, Value result, const SmallBitVector &lanes,
                              ReadClass cls) {
  SmallVector<int64_t> from = shapes.of(operand), to = shapes.of(result);
  size_t lead = to.size() - from.size();
  SmallBitVector bits(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    bits[i] = lanes[lead + i] && from[i] == to[lead + i];
  if (count(operand) != count(result)) {
    bool oneARow = lead == 0 && !from.empty() && from.back() == 1 && to.back() == columns &&
                   count(operand) == rows && count(result) == rows * columns;
    cls = oneARow && (cls == ReadClass::Element || cls == ReadClass::Row) ? ReadClass::RowScalar
                                                                          : ReadClass::Other;
  }
  visit(operand, bits, cls);
}

void ReadWalk::visitRowOp(Operation *op, const SmallBitVector &lanes, ReadClass cls) {
  SmallBitVector row = lanes;
  row.reset(lanes.size() - 1);
  hasLaneConflict |= row.any();
  readsRows = true;
  row.reset();
  row.set(lanes.size() - 1);
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    if (shapeOf(operand) == shape) {
      visit(operand, row, wholeRowOf(operand, cls));
      visit(operand, lanes, cls);
    } else { // a weight or bias along the row
      SmallBitVector along(1);
      along[0] = true;
      visit(operand, along, ReadClass::Other);
    }
  }
}

void ReadWalk::visitReduction(Operation *op, const SmallBitVector &lanes, ReadClass cls) {
  Value input = op->getOperand(0);
  SmallVector<int64_t> dims = reducedDims(op);
  int64_t rank = shapeOf(input).size();
  bool keep = static_cast<int64_t>(lanes.size()) == rank && !dims.empty();
  SmallBitVector bits(rank);
  for (int64_t i = 0, at = 0; i < rank; ++i) {
    bool reduced = llvm::is_contained(dims, i);
    bits[i] = !reduced && lanes[keep ? i : at];
    at += !reduced;
  }
  if (!readsWholeRow(op)) {
    for (Value operand : op->getOperands())
      visit(operand, bits, ReadClass::Other);
    return;
  }
  hasLaneConflict |= bits.any();
  readsRows = true;
  bits[rank - 1] = true;
  bool alongRow = dims.size() == 1 && cls == ReadClass::RowScalar;
  visit(input, bits, alongRow ? wholeRowOf(input, cls) : ReadClass::Other);
}

void ReadWalk::visitTerm(Operation *reduction, ReadClass cls) {
  for (Value operand : reduction->getOperands()) {
    SmallBitVector lanes(shapes.of(operand).size());
    lanes.set(lanes.size() - 1);
    visit(operand, lanes, cls);
  }
  if (isNormGradWeight(reduction)) {
    Value input = reduction->getOperand(0);
    readsRows = true;
    SmallBitVector lanes(shapes.of(input).size());
    lanes.set(lanes.size() - 1);
    visit(input, lanes, wholeRowOf(input, cls));
  }
}

void ReadWalk::visit(Value value, const SmallBitVector &lanes, ReadClass cls) {
  unsigned bits = 0;
  for (unsigned bit : lanes.set_bits())
    bits |= 1u << std::min(bit, 31u);
  if (stops.contains(value) || !visited.insert({value.getAsOpaquePointer(), bits, cls}).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    read.insert(argument.getArgNumber());
    if (cls != ReadClass::Element && cls != ReadClass::Row)
      readElsewhere.insert(argument.getArgNumber());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      visitBroadcast(operand, value, lanes, cls);
    return;
  }
  llvm::TypeSwitch<Operation *>(op)
      .Case<nn::ConstantOp, nn::IotaOp>([](auto) {})
      .Case<nn::PatchesOp, nn::PatchesGradOp, nn::MaxPoolOp, nn::MaxPoolGradOp, nn::AvgPoolOp,
            nn::AvgPoolGradOp>([&](Operation *windowed) {
        // Rows and columns of an image are those of all lanes, which run along the last dimension.
        SmallBitVector last(lanes.size());
        last[lanes.size() - 1] = lanes[lanes.size() - 1];
        hasLaneConflict |= last != lanes;
        for (Value operand : windowed->getOperands()) {
          SmallBitVector source(shapes.of(operand).size());
          source[source.size() - 1] = lanes[lanes.size() - 1];
          visit(operand, source, ReadClass::Other);
        }
      })
      .Case([&](nn::DropoutOp dropout) {
        if (!dropout.getRandom() && unsupported.empty())
          unsupported = "nn.dropout without a key";
        visit(dropout.getInput(), lanes, cls);
        for (Value key : dropout->getOperands().drop_front())
          visit(key, SmallBitVector(1), ReadClass::Other);
      })
      .Case([&](nn::BroadcastOp broadcast) {
        visitBroadcast(broadcast.getInput(), value, lanes, cls);
      })
      .Case([&](nn::ReshapeOp reshape) {
        visit(reshape.getInput(),
              reshapedLanes(shapes.of(value), lanes, shapes.of(reshape.getInput())), cls);
      })
      .Case([&](nn::TransposeOp transpose) {
        SmallBitVector source(lanes.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
          source[dim] = lanes[i];
        visit(transpose.getInput(), source, ReadClass::Other);
      })
      .Case<nn::SliceOp, nn::SplitOp, nn::PadOp, nn::ConcatOp>([&](Operation *moved) {
        for (Value operand : moved->getOperands())
          visit(operand, lanes, ReadClass::Other);
      })
      .Case([&](nn::EmbeddingOp embedding) {
        SmallBitVector outer = lanes, table(2);
        outer.resize(lanes.size() - 1);
        table[0] = outer.any();
        table[1] = lanes[lanes.size() - 1];
        visit(embedding.getIndices(), outer, ReadClass::Other);
        visit(embedding.getTable(), table, ReadClass::Other);
      })
      .Case([&](nn::GatherOp gather) {
        size_t dim = gather.getDim(), width = shapes.of(gather.getIndices()).size();
        SmallBitVector source(shapes.of(gather.getInput()).size()), at(width);
        for (size_t i = 0; i < width; ++i)
          at[i] = lanes[dim + i];
        for (size_t i = 0; i < source.size(); ++i)
          source[i] = i == dim ? at.any() : lanes[i < dim ? i : i + width - 1];
        visit(gather.getIndices(), at, ReadClass::Other);
        visit(gather.getInput(), source, ReadClass::Other);
      })
      .Case([&](nn::RotaryOp rotary) {
        visit(rotary.getInput(), lanes, cls);
        visit(rotary.getInput(), lanes, ReadClass::Other); // the other element of the pair
      })
      .Default([&](Operation *other) {
        if (isRowOp(other))
          visitRowOp(other, lanes, cls);
        else if (isNormGradWeight(other) ||
                 isa<nn::ReduceSumOp, nn::ReduceMeanOp, nn::ReduceMaxOp>(other))
          visitReduction(other, lanes, cls);
        else if (unsupported.empty())
          unsupported = other->getName().getStringRef().str();
      });
}

} // namespace zero
