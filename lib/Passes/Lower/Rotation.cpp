//===- Rotation.cpp - rotary positions and their table ------------------------------===//
//
// The sines and cosines of a rotation are the same at every step, so they are a
// constant of the kernel: a row a position, first factor · cos of each frequency,
// then factor · sin. They are formed on the host, since MLIR's own sin and cos are
// off by 6e-6 at large angles. Pairs turn in f64 and are rounded once: errors that a
// query's pairs have in common with all keys that it meets would not average out.
//
//===----------------------------------------------------------------------===//

#include "Rotation.h"
#include "BodyViews.h"
#include "Evaluator.h"
#include "Mixed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace zero {

DenseElementsAttr rotationTable(nn::RotaryOp rotary) {
  int64_t time = std::max<int64_t>(shapeOf(rotary.getInput())[1], 1);
  ArrayRef<double> frequencies = rotary.getFrequencies();
  double factor = rotary.getFactor().convertToDouble(), turn = rotary.getInverse() ? -1.0 : 1.0;
  std::vector<double> numbers;
  for (int64_t t = 0; t < time; ++t) {
    for (double frequency : frequencies)
      numbers.push_back(factor * std::cos(static_cast<double>(t) * frequency));
    for (double frequency : frequencies)
      numbers.push_back(turn * factor * std::sin(static_cast<double>(t) * frequency));
  }
  auto type = RankedTensorType::get(static_cast<int64_t>(numbers.size()),
                                    Float64Type::get(rotary.getContext()));
  return DenseElementsAttr::get(type, ArrayRef(numbers));
}

/// Each half of depth reads itself and the other one, under a mask of its own, so that both stay
/// loads of vectors wherever the middle of depth falls.
Value Evaluator::rotated(Operation *op, ArrayRef<Index> indices, Value mask) {
  Value input = op->getOperand(0), table = pointers.lookup(op->getResult(0)), result;
  Type type = b.getF64Type();
  Mixed a(*this, b);
  int64_t depth = shapeOf(input).back(), half = depth / 2;
  const Index &column = indices.back();
  for (bool second : {false, true}) {
    int64_t begin = second ? half : 0;
    if (column.isConstant() && (column.constant < begin || column.constant >= begin + half))
      continue;
    Value inside = math.isInside(column, begin, begin + half), inner = mask;
    if (inside && isa<VectorType>(inside.getType()))
      inner = mask ? arith::AndIOp::create(b, mask, inside).getResult() : inside;
    Index pair = math.add(column, -begin);
    if (pair.isUniform())
      pair = math.clamp(pair, half);
    Indices own(indices), other(indices);
    own.back() = math.add(pair, begin);
    other.back() = math.add(pair, half - begin);
    Index entry = math.linear({indices[1], pair}, {depth, 1});
    Value along = a.mul(a.to(type, at(input, own, inner)), load(table, type, entry, inner));
    Value across =
        a.mul(a.to(type, at(input, other, inner)), load(table, type, math.add(entry, half), inner));
    Value turned = second ? a.add(along, across) : a.sub(along, across);
    if (!result) {
      result = turned;
      continue;
    }
    bool anyLanes = isa<VectorType>(inside.getType()) || isa<VectorType>(turned.getType()) ||
                    isa<VectorType>(result.getType());
    if (anyLanes)
      inside = toLanes(inside), turned = toLanes(turned), result = toLanes(result);
    result = arith::SelectOp::create(b, inside, turned, result);
  }
  return a.to(computeTypeOf(input), result);
}

} // namespace zero
