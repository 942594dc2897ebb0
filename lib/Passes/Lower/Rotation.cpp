//===- Rotation.cpp - rotary positions and their table ------------------------------===//
//
// The sines and cosines of a rotation are the same at every step, so they are a
// constant of the kernel: a row a position, first factor · cos of each frequency,
// then factor · sin. MLIR's own sin and cos are off by 6e-6 at large angles; here
// angles are formed in f64, and each number is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Rotation.h"
#include "BodyViews.h"
#include "Evaluator.h"

#include "zero/Passes/Views.h"

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
  Type element = computeTypeOf(rotary.getInput());
  auto type = RankedTensorType::get(static_cast<int64_t>(numbers.size()), element);
  if (element.isF64())
    return DenseElementsAttr::get(type, ArrayRef(numbers));
  return DenseElementsAttr::get(type, ArrayRef(std::vector<float>(numbers.begin(), numbers.end())));
}

/// Each half of depth reads itself and the other one, under a mask of its own, so that both stay
/// loads of vectors wherever the middle of depth falls.
Value Evaluator::rotated(Operation *op, ArrayRef<Index> indices, Value mask) {
  Value input = op->getOperand(0), table = pointers.lookup(op->getResult(0)), result;
  Type type = computeTypeOf(input);
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
    SmallVector<Value> values{at(input, own, inner), load(table, type, entry, inner),
                              at(input, other, inner),
                              load(table, type, math.add(entry, half), inner)};
    if (llvm::any_of(values, [](Value value) { return isa<VectorType>(value.getType()); }))
      for (Value &value : values)
        value = toLanes(value);
    Value along = arith::MulFOp::create(b, values[0], values[1]);
    Value across = arith::MulFOp::create(b, values[2], values[3]);
    Value turned = second ? arith::AddFOp::create(b, along, across).getResult()
                          : arith::SubFOp::create(b, along, across).getResult();
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
  return result;
}

} // namespace zero
