//===- Evaluator.cpp - the value of a body's op at an index ----------------------===//

#include "Evaluator.h"
#include "BodyViews.h"

#include "zero/Passes/Views.h"
#include "zero/Runtime/Random.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {

void Evaluator::pushScope() {
  scopes.emplace_back();
  math.pushScope();
}
void Evaluator::popScope() {
  scopes.pop_back();
  math.popScope();
}

SmallVector<Value> Evaluator::loop(const Index &from, const Index &to, int64_t step,
                                   ValueRange initial, LoopBody body) {
  if (from.isConstant() && to.isConstant() && from.constant >= to.constant)
    return SmallVector<Value>(initial);
  auto loop =
      scf::ForOp::create(b, math.scalar(from), math.scalar(to), math.constant(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  pushScope();
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  popScope();
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

Value Evaluator::at(Value value, ArrayRef<Index> indices, Value mask) {
  if (auto found = defined.find(value); found != defined.end())
    return found->second;
  if (allUniform(indices))
    mask = nullptr;
  std::vector<uint64_t> key{reinterpret_cast<uint64_t>(value.getAsOpaquePointer()),
                            reinterpret_cast<uint64_t>(mask.getAsOpaquePointer())};
  for (const Index &index : indices)
    index.appendKey(key);
  for (Memory &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second.front();
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value))
    result = load(pointers.lookup(value), elementTypeOf(value),
                  math.linear(indices, shapes.stridesOf(argument)), mask);
  else
    result = compute(value.getDefiningOp(), value, indices, mask);
  scopes.back()[key] = {result};
  return result;
}

Value Evaluator::compute(Operation *op, Value value, ArrayRef<Index> indices, Value mask) {
  if (isElementwise(op))
    return elementwise(op, indices, mask);
  if (Place place = renamed(op, value, indices, mask); place.value)
    return at(place.value, place.indices, mask);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](nn::ConstantOp) { return constant(op, indices, mask); })
      .Case([&](nn::IotaOp) { return iota(op, indices); })
      .Case([&](nn::DropoutOp) { return dropped(op, indices, mask); })
      .Case<nn::PatchesOp, nn::PatchesGradOp, nn::MaxPoolOp, nn::MaxPoolGradOp, nn::AvgPoolOp,
            nn::AvgPoolGradOp>([&](auto) { return windowed(op, indices, mask); })
      .Case<nn::ConcatOp, nn::PadOp>([&](auto) { return pieced(op, indices, mask); })
      .Case([&](nn::RotaryOp) { return rotated(op, indices, mask); })
      .Default([&](Operation *) {
        return isRowOp(op) ? rowOp(op, indices, mask) : reduced(op, indices, mask);
      });
}

Value Evaluator::elementwise(Operation *op, ArrayRef<Index> indices, Value mask) {
  SmallVector<Value> operands;
  bool anyLanes = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(at(operand, broadcasted(operand, op->getResult(0), indices), mask));
    anyLanes |= isa<VectorType>(operands.back().getType());
  }
  if (anyLanes)
    for (Value &operand : operands)
      operand = toLanes(operand);
  return cast<nn::ElementLoweringInterface>(op).emitElement(b, b.getLoc(), operands);
}

Value Evaluator::constant(Operation *op, ArrayRef<Index> indices, Value mask) {
  auto constant = cast<nn::ConstantOp>(op);
  Value result = constant.getResult();
  Type type = computeTypeOf(result);
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
    if (type != elementTypeOf(result))
      return number(splat.getSplatValue<APFloat>().convertToDouble(), type);
    return arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
  }
  return load(pointers.lookup(result), type, math.linear(indices, rowMajorStrides(shapeOf(result))),
              mask);
}

Value Evaluator::iota(Operation *op, ArrayRef<Index> indices) {
  const Index &index = indices[cast<nn::IotaOp>(op).getDim()];
  Type element = computeTypeOf(op->getResult(0));
  Value value = index.isUniform() ? math.scalar(index) : math.vector(index);
  Type type = index.isUniform() ? element : lanesOf(element);
  if (isa<FloatType>(element))
    return arith::SIToFPOp::create(b, type, value);
  return element.getIntOrFloatBitWidth() < 64 ? arith::TruncIOp::create(b, type, value).getResult()
                                              : value;
}

/// The words that a mask is keyed by are loaded once a row, where `prepare` asks for them.
MaskKey Evaluator::maskKey(Operation *op) {
  auto dropout = cast<nn::DropoutOp>(op);
  auto word = [&](int64_t i) { return at(dropout.getRandom(), Index(i), nullptr); };
  Value site;
  if (dropout.getSiteValue())
    site = at(dropout.getSiteValue(), Index(0), nullptr);
  else
    site = arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(dropout.getSite().value_or(0))));
  return {word(0), word(1), word(2), site, word(3)};
}

/// The mask's place is the element's in the op's own result, wherever the op stands in its group.
Value Evaluator::dropped(Operation *op, ArrayRef<Index> indices, Value mask) {
  auto dropout = cast<nn::DropoutOp>(op);
  SmallVector<int64_t> shape = shapes.of(dropout.getResult());
  int64_t perSample = elementCount(shape) / static_cast<int64_t>(*dropout.getSamples());
  Index sample, element;
  if (perSample > 0 && !shape.empty() && perSample % shape.back() == 0 &&
      allUniform(indices.drop_back())) {
    // Whole rows of one sample: their number needs no division a lane.
    int64_t rows = perSample / shape.back();
    Index row = math.linear(indices.drop_back(), rowMajorStrides(ArrayRef(shape).drop_back()));
    sample = math.div(row, rows);
    element = math.add(math.mul(math.rem(row, rows), shape.back()), indices.back());
  } else if (perSample > 0) {
    Index linear = math.linear(indices, rowMajorStrides(shape));
    sample = math.div(linear, perSample);
    element = math.rem(linear, perSample);
  }
  Value words = dropoutWords(b, math, maskKey(op), sample, element);

  double rate = dropout.getRate().convertToDouble();
  Value value = at(dropout.getInput(), indices, mask);
  if (isa<VectorType>(words.getType()))
    value = toLanes(value);
  else if (isa<VectorType>(value.getType()))
    words = toLanes(words);
  TypedAttr bound = b.getI32IntegerAttr(static_cast<int32_t>(zrt::dropoutThreshold(rate)));
  if (auto lanes = dyn_cast<VectorType>(words.getType()))
    bound = DenseElementsAttr::get(lanes, bound);
  Value isDropped = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, words,
                                          arith::ConstantOp::create(b, bound));
  Value kept = arith::MulFOp::create(
      b, value, number(static_cast<float>(1.0 / (1.0 - rate)), value.getType()));
  return arith::SelectOp::create(b, isDropped, number(0.0, value.getType()), kept);
}

Indices Evaluator::broadcasted(Value operand, Value result, ArrayRef<Index> indices) const {
  SmallVector<int64_t> from = shapes.of(operand), to = shapes.of(result);
  size_t lead = to.size() - from.size();
  Indices narrowed(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == to[lead + i])
      narrowed[i] = indices[lead + i];
  return narrowed;
}

Index Evaluator::toIndex(Value loaded) {
  bool isVector = isa<VectorType>(loaded.getType());
  Type type = isVector ? lanesOf(b.getI64Type()) : b.getI64Type();
  if (loaded.getType() != type)
    loaded = arith::ExtSIOp::create(b, type, loaded);
  if (!isVector)
    return Index(loaded);
  Index index;
  index.lanes = loaded;
  return index;
}

Indices Evaluator::reshaped(ArrayRef<int64_t> from, ArrayRef<Index> indices, ArrayRef<int64_t> to) {
  Indices result(to.size());
  size_t front = 0, fromEnd = from.size(), toEnd = to.size();
  while (fromEnd > 0 && toEnd > 0 && from[fromEnd - 1] == to[toEnd - 1]) {
    --fromEnd, --toEnd;
    result[toEnd] = indices[fromEnd];
  }
  while (front < fromEnd && front < toEnd && from[front] == to[front]) {
    result[front] = indices[front];
    ++front;
  }
  ArrayRef<int64_t> source = from.slice(front, fromEnd - front),
                    target = to.slice(front, toEnd - front);
  Index linear = math.linear(indices.slice(front, fromEnd - front), rowMajorStrides(source));
  for (auto [i, index] : llvm::enumerate(math.delinear(linear, target)))
    result[front + i] = index;
  return result;
}

Evaluator::Place Evaluator::renamed(Operation *op, Value value, ArrayRef<Index> indices,
                                    Value mask) {
  return llvm::TypeSwitch<Operation *, Place>(op)
      .Case([&](nn::ReshapeOp reshape) {
        Value input = reshape.getInput();
        return Place{input, reshaped(shapes.of(value), indices, shapes.of(input))};
      })
      .Case([&](nn::BroadcastOp broadcast) {
        return Place{broadcast.getInput(), broadcasted(broadcast.getInput(), value, indices)};
      })
      .Case([&](nn::TransposeOp transpose) {
        Indices source(indices.size());
        for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
          source[dim] = indices[i];
        return Place{transpose.getInput(), source};
      })
      .Case([&](nn::SliceOp slice) {
        Indices source;
        for (auto [index, start] : llvm::zip(indices, slice.getStarts()))
          source.push_back(math.add(index, start));
        return Place{slice.getInput(), source};
      })
      .Case([&](nn::SplitOp split) {
        Indices source(indices);
        for (int64_t size : split.getSizes().take_front(cast<OpResult>(value).getResultNumber()))
          source[split.getDim()] = math.add(source[split.getDim()], size);
        return Place{split.getInput(), source};
      })
      .Case([&](nn::EmbeddingOp embedding) {
        Index row = toIndex(at(embedding.getIndices(), indices.drop_back(), mask));
        return Place{embedding.getTable(), {row, indices.back()}};
      })
      .Case([&](nn::GatherOp gather) {
        size_t dim = gather.getDim(), width = shapeOf(gather.getIndices()).size();
        Indices source(indices.take_front(dim));
        source.push_back(toIndex(at(gather.getIndices(), indices.slice(dim, width), mask)));
        source.append(indices.begin() + dim + width, indices.end());
        return Place{gather.getInput(), source};
      })
      .Default([](Operation *) { return Place(); });
}

/// The pieces of a concat or pad that may hold the element. Uniform indices are clamped into the
/// piece, so that reading it is safe where it doesn't count; others are for the mask to keep out.
SmallVector<Evaluator::Part> Evaluator::partsOf(Operation *op, ArrayRef<Index> indices) {
  SmallVector<Part> parts;
  auto addPart = [&](Value input, ArrayRef<int64_t> starts) {
    Part part{{input, Indices(indices)}, nullptr};
    for (auto [dim, start] : llvm::enumerate(starts)) {
      int64_t size = shapeOf(input)[dim];
      const Index &index = indices[dim];
      if (start == 0 && size == shapeOf(op->getResult(0))[dim])
        continue;
      if (size == 0 ||
          (index.isConstant() && (index.constant < start || index.constant >= start + size)))
        return;
      Value inside = math.isInside(index, start, start + size);
      Index moved = math.add(index, -start);
      part.place.indices[dim] = moved.isUniform() ? math.clamp(moved, size) : moved;
      if (!inside)
        continue;
      if (part.inside) {
        if (isa<VectorType>(part.inside.getType()) || isa<VectorType>(inside.getType()))
          part.inside = toLanes(part.inside), inside = toLanes(inside);
        inside = arith::AndIOp::create(b, part.inside, inside);
      }
      part.inside = inside;
    }
    parts.push_back(part);
  };
  if (auto pad = dyn_cast<nn::PadOp>(op)) {
    addPart(pad.getInput(), pad.getLow());
    return parts;
  }
  auto concat = cast<nn::ConcatOp>(op);
  SmallVector<int64_t> starts(indices.size(), 0);
  for (Value input : concat.getInputs()) {
    addPart(input, starts);
    starts[concat.getDim()] += shapeOf(input)[concat.getDim()];
  }
  return parts;
}

Value Evaluator::pieced(Operation *op, ArrayRef<Index> indices, Value mask) {
  Value result = arith::ConstantOp::create(b, b.getZeroAttr(computeTypeOf(op->getResult(0))));
  for (const Part &part : partsOf(op, indices)) {
    Value inner = mask;
    if (part.inside && isa<VectorType>(part.inside.getType()))
      inner = mask ? arith::AndIOp::create(b, mask, part.inside).getResult() : part.inside;
    Value element = at(part.place.value, part.place.indices, inner);
    if (!part.inside) {
      result = element;
      continue;
    }
    Value inside = part.inside;
    bool anyLanes = isa<VectorType>(inside.getType()) || isa<VectorType>(element.getType()) ||
                    isa<VectorType>(result.getType());
    if (anyLanes)
      inside = toLanes(inside), element = toLanes(element), result = toLanes(result);
    result = arith::SelectOp::create(b, inside, element, result);
  }
  return result;
}

Indices Evaluator::termIndices(Operation *reduction, ArrayRef<Index> kept, const Index &row) {
  ArrayRef<int64_t> shape = shapeOf(reduction->getOperand(0));
  SmallVector<int64_t> dims = reducedDims(reduction), sizes;
  bool keeps = kept.size() == shape.size();
  for (int64_t dim : dims)
    if (dim + 1 < static_cast<int64_t>(shape.size()))
      sizes.push_back(shape[dim]);
  Indices rows = math.delinear(row, sizes), indices(shape.size());
  for (size_t i = 0, at = 0, fromRow = 0; i < shape.size(); ++i) {
    if (!llvm::is_contained(dims, i))
      indices[i] = kept[keeps ? i : at++];
    else if (i + 1 < shape.size())
      indices[i] = rows[fromRow++];
  }
  return indices;
}

/// A reduction over other dimensions than the last, or over several: the same order of sums as in
/// the loops over columns, so that a group's shape never shows in the bits.
Value Evaluator::reduced(Operation *op, ArrayRef<Index> indices, Value mask) {
  Join join = joinOf(op);
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  SmallVector<int64_t> dims = reducedDims(op);
  bool alongRow = readsWholeRow(op);
  int64_t rows = 1;
  for (int64_t dim : dims)
    if (dim + 1 < static_cast<int64_t>(shape.size()))
      rows *= shape[dim];
  auto valueOf = [&](const Index &row) -> Value {
    Indices input = termIndices(op, indices, row);
    return alongRow ? rowTotal(join, op->getOperand(0), ArrayRef<Index>(input).drop_back())
                    : term(op, input, mask);
  };
  if (dims.empty() || (dims.size() == 1 && alongRow))
    return finished(op, valueOf(0));
  Type type = computeTypeOf(op->getResult(0));
  if (!allUniform(indices))
    type = lanesOf(type);
  Value start = identity(join, type);
  auto inner = [&](const Index &from, const Index &to) -> Value {
    return loop(from, to, 1, start, [&](Value row, ValueRange total) -> SmallVector<Value> {
      Value value = valueOf(Index(row));
      if (isa<VectorType>(type))
        value = toLanes(value);
      return {joined(join, total[0], value)};
    })[0];
  };
  if (rows <= kSumBlock)
    return finished(op, joined(join, start, inner(0, rows)));
  Value total =
      loop(0, rows, kSumBlock, start, [&](Value first, ValueRange sum) -> SmallVector<Value> {
        Value end = arith::MinSIOp::create(b, math.scalar(math.add(Index(first), kSumBlock)),
                                           math.constant(rows));
        return {joined(join, sum[0], inner(Index(first), Index(end)))};
      })[0];
  return finished(op, total);
}

void Evaluator::prepare(Value value, ArrayRef<Index> indices) {
  if (allUniform(indices)) {
    at(value, indices, nullptr);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!op || defined.contains(value))
    return;
  std::vector<uint64_t> key{1, reinterpret_cast<uint64_t>(value.getAsOpaquePointer())};
  for (const Index &index : indices)
    index.appendKey(key);
  if (!scopes.back().try_emplace(key).second)
    return;
  if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      prepare(operand, broadcasted(operand, value, indices));
  } else if (auto dropout = dyn_cast<nn::DropoutOp>(op)) {
    maskKey(op);
    prepare(dropout.getInput(), indices);
  } else if (isa<nn::ConcatOp, nn::PadOp>(op)) {
    for (const Part &part : partsOf(op, indices))
      prepare(part.place.value, part.place.indices);
  } else if (isa<nn::EmbeddingOp>(op) && !allUniform(indices.drop_back())) {
    prepare(op->getOperand(0), indices.drop_back());
  } else if (isa<nn::GatherOp>(op)) {
    size_t dim = cast<nn::GatherOp>(op).getDim(), width = shapeOf(op->getOperand(1)).size();
    prepare(op->getOperand(1), indices.slice(dim, width));
  } else if (Place place = renamed(op, value, indices, nullptr); place.value) {
    prepare(place.value, place.indices);
  } else if (isa<nn::RotaryOp>(op)) {
    prepare(op->getOperand(0), indices);
  } else if (isRowOp(op)) {
    for (Value operand : op->getOperands())
      if (shapeOf(operand) == shapeOf(value))
        prepare(operand, indices);
    statistics(op, indices.drop_back());
  }
}

} // namespace zero
