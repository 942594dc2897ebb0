//===- Windows.cpp - patches, pools and their gradients -----------------------------===//
//
// Rows and columns of an image are the same for all lanes, which run along channels,
// or, in patches, along the row of a window as it lies in the image. So what is
// outside the image is decided once a vector, but for the ends of a patch's row.
// Sums and searches run over windows and their elements in row-major order (N0).
//
//===----------------------------------------------------------------------===//

#include "BodyViews.h"
#include "Evaluator.h"

#include "zero/Passes/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace zero {
namespace {

nn::Windows windowsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, nn::Windows>(op)
      .Case<nn::PatchesOp, nn::PatchesGradOp, nn::MaxPoolOp, nn::MaxPoolGradOp, nn::AvgPoolOp,
            nn::AvgPoolGradOp>([](auto windowed) { return windowed.getWindows(); });
}

/// a and b, of which null means true.
Value both(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, x, y);
}

double elementsOf(const nn::Windows &windows) {
  return static_cast<double>(windows.size[0]) * static_cast<double>(windows.size[1]);
}

} // namespace

Value Evaluator::windowed(Operation *op, ArrayRef<Index> indices, Value mask) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](nn::PatchesOp patches) { return patch(patches, indices, mask); })
      .Case<nn::MaxPoolOp, nn::AvgPoolOp>([&](auto) { return pooled(op, indices, mask); })
      .Case([&](nn::MaxPoolGradOp grad) { return maxPoolGrad(grad, indices, mask); })
      .Default([&](Operation *) { return windowSum(op, indices, mask); });
}

/// `value` where `inside` holds (null: everywhere), else `other`.
Value Evaluator::whereInside(Value inside, Value value, Value other) {
  if (!inside)
    return value;
  if (isa<VectorType>(inside.getType()) && !isa<VectorType>(value.getType()))
    value = toLanes(value);
  if (isa<VectorType>(value.getType()))
    inside = toLanes(inside), other = toLanes(other);
  return arith::SelectOp::create(b, inside, value, other);
}

Value Evaluator::patch(nn::PatchesOp op, ArrayRef<Index> indices, Value mask) {
  nn::Windows windows = op.getWindows();
  ArrayRef<int64_t> image = shapeOf(op.getInput());
  int64_t height = image[1], channels = image[3], rowSize = image[2] * channels;
  bool padsRows = windows.padding[0] || windows.padding[1];
  bool padsColumns = windows.padding[2] || windows.padding[3];
  Index row =
      math.add(math.add(math.mul(indices[1], windows.strides[0]), indices[3]), -windows.padding[0]);
  // Elements of an image's row lie one behind the other.
  Index place = math.add(math.add(math.mul(indices[2], windows.strides[1] * channels), indices[4]),
                         -windows.padding[2] * channels);
  Value inRow, inside;
  if (padsRows) {
    inside = math.isInside(row, 0, height);
    row = math.clamp(row, height);
  }
  if (padsColumns) {
    inRow = math.isInside(place, 0, rowSize);
    if (place.isUniform())
      place = math.clamp(place, rowSize);
  }
  if (inRow && isa<VectorType>(inRow.getType()))
    mask = mask ? arith::AndIOp::create(b, mask, inRow).getResult() : inRow;

  Value value;
  auto argument = dyn_cast<BlockArgument>(op.getInput());
  SmallVector<int64_t> strides = argument ? shapes.stridesOf(argument) : SmallVector<int64_t>();
  bool isRow = argument && (channels == 1 || image[2] == 1 || strides[2] == channels * strides[3]);
  if (isRow) {
    int64_t step = channels == 1 ? strides[2] : strides[3];
    Index element = math.linear({indices[0], row, place}, {strides[0], strides[1], step});
    value = load(pointers.lookup(argument), elementTypeOf(argument), element,
                 place.isUniform() ? nullptr : mask);
  } else {
    value = at(op.getInput(),
               {indices[0], row, math.div(place, channels), math.rem(place, channels)}, mask);
  }
  if (inRow && isa<VectorType>(inRow.getType()) && inside)
    inside = toLanes(inside);
  return whereInside(both(b, inside, inRow), value, number(0.0, computeTypeOf(op.getResult())));
}

/// The element of an image at a place of a window, and whether it lies in the image.
std::pair<Value, Value> Evaluator::ofWindow(Value image, const nn::Windows &windows,
                                            ArrayRef<Index> window, const Index &i, const Index &j,
                                            Value mask) {
  Indices source(window);
  Value inside;
  const Index *offsets[] = {&i, &j};
  for (size_t axis : {0, 1}) {
    int64_t size = shapeOf(image)[axis + 1], before = windows.padding[2 * axis];
    Index &index = source[axis + 1];
    index = math.add(math.add(math.mul(index, windows.strides[axis]), *offsets[axis]), -before);
    if (before || windows.padding[2 * axis + 1]) {
      inside = both(b, inside, math.isInside(index, 0, size));
      index = math.clamp(index, size);
    }
  }
  return {at(image, source, mask), inside};
}

Value Evaluator::pooled(Operation *op, ArrayRef<Index> indices, Value mask) {
  Join join = isa<nn::MaxPoolOp>(op) ? Join::Max : Join::Sum;
  nn::Windows windows = windowsOf(op);
  Type type = computeTypeOf(op->getResult(0));
  if (!allUniform(indices))
    type = lanesOf(type);
  Value start = identity(join, type);
  Value total = loop(0, windows.size[0], 1, start, [&](Value i, ValueRange rows) {
    return loop(0, windows.size[1], 1, rows, [&](Value j, ValueRange sum) -> SmallVector<Value> {
      auto [value, inside] =
          ofWindow(op->getOperand(0), windows, indices, Index(i), Index(j), mask);
      if (isa<VectorType>(type))
        value = toLanes(value);
      return {joined(join, sum[0], whereInside(inside, value, start))};
    });
  })[0];
  if (join == Join::Max)
    return total;
  return arith::DivFOp::create(b, total, number(elementsOf(windows), type));
}

/// Runs over the windows that an element of an image lies in, down and then across. The body gets
/// the window's place, the element's place in it, and whether there is such a window.
Value Evaluator::overWindows(Operation *op, ArrayRef<Index> indices, ArrayRef<int64_t> counts,
                             Value start, WindowBody body) {
  nn::Windows windows = windowsOf(op);
  struct Axis {
    Index window, offset;
    Value inside;
  };
  auto axisOf = [&](size_t axis, Value back) {
    int64_t stride = windows.strides[axis];
    Index padded = math.add(indices[axis + 1], windows.padding[2 * axis]);
    // The last window that begins at or before the element, and so many before it.
    Index window = math.add(math.div(padded, stride), math.mul(Index(back), -1));
    Index offset = math.add(padded, math.mul(window, -stride));
    Value inside = both(b, math.isInside(window, 0, counts[axis]),
                        math.isInside(offset, 0, windows.size[axis]));
    return Axis{math.clamp(window, counts[axis]), offset, inside};
  };
  auto most = [&](size_t axis) {
    return (windows.size[axis] + windows.strides[axis] - 1) / windows.strides[axis];
  };
  // From the window furthest back on, so that sums run in order.
  auto reversed = [&](size_t axis, Value step) {
    return math.scalar(math.add(math.mul(Index(step), -1), most(axis) - 1));
  };
  return loop(0, most(0), 1, start, [&](Value down, ValueRange rows) {
    Axis row = axisOf(0, reversed(0, down));
    return loop(0, most(1), 1, rows, [&](Value across, ValueRange sum) -> SmallVector<Value> {
      Axis column = axisOf(1, reversed(1, across));
      Indices window{indices[0], row.window, column.window, indices.back()};
      return {body(window, row.offset, column.offset, both(b, row.inside, column.inside), sum[0])};
    });
  })[0];
}

Value Evaluator::windowSum(Operation *op, ArrayRef<Index> indices, Value mask) {
  nn::Windows windows = windowsOf(op);
  Value dy = op->getOperand(0);
  bool isPatches = isa<nn::PatchesGradOp>(op);
  int64_t channels = shapeOf(op->getResult(0)).back();
  Type type = computeTypeOf(op->getResult(0));
  if (!allUniform(indices))
    type = lanesOf(type);
  Value zero = number(0.0, type);
  Value total =
      overWindows(op, indices, shapeOf(dy).slice(1, 2), zero,
                  [&](ArrayRef<Index> window, const Index &i, const Index &j, Value inside,
                      Value sum) -> Value {
                    Indices source(window);
                    if (isPatches) {
                      // Outside the window there is nothing to read.
                      source[3] = math.clamp(i, windows.size[0]);
                      source.push_back(math.add(math.mul(math.clamp(j, windows.size[1]), channels),
                                                indices.back()));
                    }
                    Value value = at(dy, source, mask);
                    if (isa<VectorType>(type))
                      value = toLanes(value);
                    return arith::AddFOp::create(b, sum, whereInside(inside, value, zero));
                  });
  if (isPatches)
    return total;
  return arith::DivFOp::create(b, total, number(elementsOf(windows), type));
}

/// The cotangents of the windows whose first maximum the element is.
Value Evaluator::maxPoolGrad(nn::MaxPoolGradOp op, ArrayRef<Index> indices, Value mask) {
  nn::Windows windows = op.getWindows();
  Type type = computeTypeOf(op.getResult()), flag = b.getI1Type();
  if (!allUniform(indices))
    type = lanesOf(type), flag = lanesOf(flag);
  auto widened = [&](Value value) { return isa<VectorType>(type) ? toLanes(value) : value; };
  auto equal = [&](Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, y).getResult();
  };
  Value zero = number(0.0, type);
  Value never = arith::ConstantOp::create(b, b.getZeroAttr(flag));
  Value own = widened(at(op.getInput(), indices, mask));
  return overWindows(
      op, indices, shapeOf(op.getDy()).slice(1, 2), zero,
      [&](ArrayRef<Index> window, const Index &i, const Index &j, Value inside,
          Value sum) -> Value {
        Value most = widened(at(op.getOutput(), window, mask));
        Value dy = widened(at(op.getDy(), window, mask));
        // Clamped, so that a window that is none reads nothing outside the image.
        Index place = math.clamp(math.add(math.mul(i, windows.size[1]), j),
                                 windows.size[0] * windows.size[1]);
        Value earlier =
            loop(0, place, 1, never, [&](Value k, ValueRange found) -> SmallVector<Value> {
              auto [value, within] =
                  ofWindow(op.getInput(), windows, window, math.div(Index(k), windows.size[1]),
                           math.rem(Index(k), windows.size[1]), mask);
              Value reaches = whereInside(within, equal(widened(value), most), never);
              return {arith::OrIOp::create(b, found[0], reaches)};
            })[0];
        Value isFirst = arith::AndIOp::create(
            b, equal(own, most),
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq, earlier, never));
        Value taken = arith::SelectOp::create(b, isFirst, dy, zero);
        return arith::AddFOp::create(b, sum, whereInside(inside, taken, zero));
      });
}

} // namespace zero
