//===- Shape.cpp - ops that move or make elements ---------------------------===//
//
// Ops of the View family only rename elements: a launch operand may be a strided
// view of another value. Whether a view is materialised is the passes' business.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zero::nn;

/// A constant of one repeated value stays one under any op that only moves elements.
static Attribute resizeSplat(Attribute input, Type type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(input);
  auto shaped = cast<ShapedType>(type);
  return splat && shaped.hasStaticShape() ? splat.resizeSplat(shaped) : Attribute();
}

//===----------------------------------------------------------------------===//
// nn.reshape
//===----------------------------------------------------------------------===//

NN_INFER(ReshapeOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  Shape shape(adaptor.getShape());

  auto inferredEntry = llvm::find(shape, -1);
  bool infers = inferredEntry != shape.end();
  bool wellFormed =
      llvm::count(shape, -1) <= 1 && llvm::all_of(shape, [](int64_t size) { return size >= -1; });
  if (failed(expects(location, wellFormed, "non-negative sizes and at most one -1, got [",
                     ArrayRef(shape), "]"))) // (C1)
    return failure();

  // With the inferred entry taken as 1, the elements of the shape must divide the input's.
  if (infers)
    *inferredEntry = 1;
  std::optional<int64_t> known = countElements(shape);
  int64_t count = *countElements(input.getShape());
  if (infers &&
      failed(expects(location, known && *known != 0,
                     "sizes between 1 and 2^63 - 1 beside -1, got [", adaptor.getShape(), "]")))
    return failure();
  if (!input.hasStaticShape()) {
    if (failed(expects(location, infers, "a -1 in the shape for an open input, got [",
                       adaptor.getShape(), "]")))
      return failure();
    *inferredEntry = kOpen;
    return addResult(location, shape, input.getElementType(), inferred);
  }
  bool agrees = known && (infers ? count % *known == 0 : count == *known);
  if (failed(expects(location, agrees, "a shape of ", count, " elements, as ", input, " has, got [",
                     adaptor.getShape(), "]"))) // (C2)
    return failure();
  if (infers)
    *inferredEntry = count / *known;
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(ReshapeOp, KernelFamily::View, 0)

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  // An open dimension 0 is the same in both, since the numbers of elements agree.
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return resizeSplat(adaptor.getInput(), getType());
}

//===----------------------------------------------------------------------===//
// nn.transpose
//===----------------------------------------------------------------------===//

NN_INFER(TransposeOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  Shape sorted(permutation);
  llvm::sort(sorted);
  if (failed(expects(location, llvm::equal(sorted, llvm::seq<int64_t>(0, input.getRank())),
                     "a permutation of the ", input.getRank(), " dimensions, got [", permutation,
                     "]"))) // (C1)
    return failure();
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(input.getDimSize(dim));
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(TransposeOp, KernelFamily::View, 0)

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    Shape composed;
    for (int64_t dim : permutation)
      composed.push_back(inner.getPermutation()[dim]);
    setPermutation(composed);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return resizeSplat(adaptor.getInput(), getType());
}

//===----------------------------------------------------------------------===//
// nn.broadcast
//===----------------------------------------------------------------------===//

NN_INFER(BroadcastOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  Shape shape(adaptor.getShape());
  int64_t lead = static_cast<int64_t>(shape.size()) - input.getRank();
  bool fits = lead >= 0;
  for (int64_t dim = 0, rank = shape.size(); fits && dim < rank; ++dim) {
    int64_t from = dim < lead ? 1 : input.getDimSize(dim - lead);
    // -1 takes the input's size; a new dimension has none.
    if (shape[dim] == -1 && dim >= lead)
      shape[dim] = from;
    else
      fits = shape[dim] >= 0 && (from == 1 || from == shape[dim]);
  }
  if (failed(expects(location, fits, "a shape to which ", input, " broadcasts, got [",
                     adaptor.getShape(), "]"))) // (C1)
    return failure();
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(BroadcastOp, KernelFamily::View, 0)

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return resizeSplat(adaptor.getInput(), getType());
}

//===----------------------------------------------------------------------===//
// nn.slice
//===----------------------------------------------------------------------===//

NN_INFER(SliceOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  ArrayRef<int64_t> starts = adaptor.getStarts(), sizes = adaptor.getSizes();
  auto rank = static_cast<size_t>(input.getRank());
  if (failed(expects(location, starts.size() == rank && sizes.size() == rank,
                     "one start and one size for each of the ", rank, " dimensions, got [", starts,
                     "] and [", sizes, "]"))) // (C1)
    return failure();
  Shape shape(sizes);
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t extent = input.getDimSize(dim);
    // How far an open dimension reaches is known when it is closed.
    bool inside = starts[dim] >= 0 && sizes[dim] >= -1;
    if (extent != kOpen)
      inside = inside && starts[dim] <= extent && sizes[dim] <= extent - starts[dim];
    if (failed(expects(location, inside, "a box inside ", input, ", got starts [", starts,
                       "] and sizes [", sizes, "]"))) // (C2)
      return failure();
    if (sizes[dim] == -1)
      shape[dim] = extent == kOpen ? kOpen : extent - starts[dim];
  }
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(SliceOp, KernelFamily::View, 0)

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // On an open dimension only -1 says that the whole is taken.
  bool whole = getInput().getType() == getType() &&
               llvm::all_of(getStarts(), [](int64_t start) { return start == 0; });
  if (whole)
    return getInput();
  return resizeSplat(adaptor.getInput(), getType());
}

//===----------------------------------------------------------------------===//
// nn.concat, nn.split
//===----------------------------------------------------------------------===//

NN_INFER(ConcatOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInputs());
  if (failed(types) || failed(expects(location, !types->empty(), "at least one input, got none")) ||
      failed(checkEqualElements(location, *types))) // (C1)
    return failure();
  RankedTensorType first = types->front();
  auto dim = static_cast<int64_t>(adaptor.getDim());
  if (failed(checkDimension(location, dim, first.getRank()))) // (C2)
    return failure();
  Shape shape(first.getShape());
  for (RankedTensorType type : llvm::drop_begin(*types)) {
    bool agrees = type.getRank() == first.getRank();
    for (int64_t i = 0; agrees && i < first.getRank(); ++i)
      agrees = i == dim || type.getDimSize(i) == shape[i];
    if (failed(expects(location, agrees, "inputs that differ in dimension ", dim, " only, got ",
                       first, " and ", type))) // (C3)
      return failure();
    if (shape[dim] == kOpen || type.isDynamicDim(dim))
      shape[dim] = kOpen;
    else if (llvm::AddOverflow(shape[dim], type.getDimSize(dim), shape[dim]))
      return emitOptionalError(location, "expects a joined size of at most 2^63 - 1, got more");
  }
  return addResult(location, shape, first.getElementType(), inferred);
}
NN_KERNEL(ConcatOp, KernelFamily::Move, 0)

NN_INFER(SplitOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  auto dim = static_cast<int64_t>(adaptor.getDim());
  if (failed(checkDimension(location, dim, input.getRank())) || // (C1)
      failed(expects(location, !input.isDynamicDim(dim), "a closed dimension to cut, got ",
                     input))) // (C2)
    return failure();
  ArrayRef<int64_t> sizes = adaptor.getSizes();
  int64_t rest = input.getDimSize(dim);
  for (int64_t size : sizes) {
    bool fits = size >= 0 && size <= rest;
    rest = fits ? rest - size : -1;
    if (!fits)
      break;
  }
  if (failed(expects(location, !sizes.empty() && rest == 0, "sizes that sum to ",
                     input.getDimSize(dim), ", got [", sizes, "]"))) // (C3)
    return failure();
  Shape shape(input.getShape());
  for (int64_t size : sizes) {
    shape[dim] = size;
    if (failed(addResult(location, shape, input.getElementType(), inferred)))
      return failure();
  }
  return success();
}
NN_KERNEL(SplitOp, KernelFamily::View, 0)

//===----------------------------------------------------------------------===//
// nn.pad
//===----------------------------------------------------------------------===//

NN_INFER(PadOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  RankedTensorType input = types->front();
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  auto rank = static_cast<size_t>(input.getRank());
  bool fits = low.size() == rank && high.size() == rank;
  Shape shape(input.getShape());
  for (size_t dim = 0; fits && dim < rank; ++dim) {
    fits = low[dim] >= 0 && high[dim] >= 0;
    if (fits && shape[dim] != kOpen)
      fits = !llvm::AddOverflow(shape[dim], low[dim], shape[dim]) &&
             !llvm::AddOverflow(shape[dim], high[dim], shape[dim]);
  }
  if (failed(expects(location, fits, "a non-negative low and high for each of the ", rank,
                     " dimensions, got [", low, "] and [", high, "]"))) // (C1)
    return failure();
  return addResult(location, shape, input.getElementType(), inferred);
}
NN_KERNEL(PadOp, KernelFamily::Move, 0)

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  return llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) ? getInput()
                                                                           : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// nn.iota, nn.constant
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape()) // (C1)
    return emitOpError("expects a static shape, got ") << type;
  if (type.getElementType().isInteger(1)) // (C2)
    return emitOpError("expects numbers, got ") << type;
  if (failed(checkTensor(getLoc(), type)))
    return failure();
  return checkDimension(getLoc(), static_cast<int64_t>(getDim()), type.getRank()); // (C3)
}
NN_KERNEL(IotaOp, KernelFamily::Move, 0)

NN_KERNEL(ConstantOp, KernelFamily::Move, 0)

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }
