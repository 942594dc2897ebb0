//===- Convolution.cpp - convolution and pooling of images --------------------===//
//
// All ops here walk windows over images [batch, height, width, channels]; what a
// list of windows must satisfy is checked in one place.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zero::nn;

/// (C1) two positive sizes, (C3) strides and paddings, (C4) at least one window in `image`, which
/// is height and width: how many windows there are, down and across.
static FailureOr<std::array<int64_t, 2>>
countWindows(MaybeLocation location, const Windows &windows, ArrayRef<int64_t> image) {
  auto positive = [](ArrayRef<int64_t> sizes) {
    return sizes.size() == 2 && llvm::all_of(sizes, [](int64_t size) { return size >= 1; });
  };
  if (failed(expects(location, positive(windows.size), "a window of two positive sizes, got [",
                     windows.size, "]")) || // (C1)
      failed(expects(location, positive(windows.strides), "two positive strides, got [",
                     windows.strides, "]"))) // (C3)
    return failure();
  ArrayRef<int64_t> padding = windows.padding;
  bool fits = padding.size() == 4;
  for (size_t i = 0; fits && i < 4; ++i)
    fits = padding[i] >= 0 && padding[i] < windows.size[i / 2];
  if (failed(expects(location, fits,
                     "top, bottom, left and right paddings that are not negative and smaller than "
                     "the window [",
                     windows.size, "], got [", padding, "]"))) // (C3)
    return failure();
  std::array<int64_t, 2> counts;
  for (size_t i = 0; i < 2; ++i) {
    int64_t padded;
    bool holds = image[i] >= 1 && !llvm::AddOverflow(image[i], padding[2 * i], padded) &&
                 !llvm::AddOverflow(padded, padding[2 * i + 1], padded) &&
                 padded >= windows.size[i];
    if (failed(expects(location, holds, "an image that holds a window of [", windows.size,
                       "] with padding [", padding, "], got [", image, "]"))) // (C4)
      return failure();
    counts[i] = (padded - windows.size[i]) / windows.strides[i] + 1;
  }
  return counts;
}

static LogicalResult checkImages(MaybeLocation location, RankedTensorType type) {
  return expects(location, type.getRank() == 4, "images [batch, height, width, channels], got ",
                 type); // (C1)
}

/// Shapes of an op of windows over images.
struct WindowShapes {
  Shape patches, pooled;
};

static FailureOr<WindowShapes> windowShapes(MaybeLocation location, const Windows &windows,
                                            RankedTensorType images) {
  if (failed(checkImages(location, images)))
    return failure();
  auto counts = countWindows(location, windows, images.getShape().slice(1, 2));
  if (failed(counts))
    return failure();
  int64_t batch = images.getDimSize(0), channels = images.getDimSize(3);
  int64_t rowSize = saturatingProduct(windows.size[1], channels);
  return WindowShapes{{batch, (*counts)[0], (*counts)[1], windows.size[0], rowSize},
                      {batch, (*counts)[0], (*counts)[1], channels}};
}

template <typename Adaptor> static Windows windowsOf(Adaptor &adaptor) {
  return {adaptor.getWindow(), adaptor.getStrides(), adaptor.getPadding()};
}

//===----------------------------------------------------------------------===//
// nn.convolution
//===----------------------------------------------------------------------===//

NN_INFER(ConvolutionOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkEqualElements(location, *types)))
    return failure();
  RankedTensorType input = (*types)[0], weight = (*types)[1];
  if (failed(checkImages(location, input)) ||
      failed(expects(location, weight.getRank() == 4 && weight.hasStaticShape(),
                     "a closed weight [height, width, channels, features], got ",
                     weight)) || // (C1)
      failed(expects(location, input.getDimSize(3) == weight.getDimSize(2), "a weight of ",
                     input.getDimSize(3), " channels, got ", weight))) // (C2)
    return failure();
  Windows windows{weight.getShape().take_front(2), adaptor.getStrides(), adaptor.getPadding()};
  FailureOr<WindowShapes> shapes = windowShapes(location, windows, input);
  if (failed(shapes))
    return failure();
  shapes->pooled.back() = weight.getDimSize(3);
  return addResult(location, shapes->pooled, input.getElementType(), inferred);
}
KernelFamily ConvolutionOp::getKernelFamily() { return KernelFamily::Gemm; }
int64_t ConvolutionOp::getFlops() {
  int64_t perElement = 2;
  for (int64_t size : getWeight().getType().getShape().drop_back())
    perElement = saturatingProduct(perElement, size);
  return countFlops(getResult(), perElement);
}

//===----------------------------------------------------------------------===//
// Patches and pools
//===----------------------------------------------------------------------===//

NN_INFER(PatchesOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  FailureOr<WindowShapes> shapes = windowShapes(location, windowsOf(adaptor), types->front());
  if (failed(shapes))
    return failure();
  return addResult(location, shapes->patches, types->front().getElementType(), inferred);
}
NN_KERNEL(PatchesOp, KernelFamily::Window, 0)

static LogicalResult inferPool(MaybeLocation location, Value input, const Windows &windows,
                               SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, input);
  if (failed(types))
    return failure();
  FailureOr<WindowShapes> shapes = windowShapes(location, windows, types->front());
  if (failed(shapes))
    return failure();
  return addResult(location, shapes->pooled, types->front().getElementType(), inferred);
}

/// Elements of a window.
static int64_t windowElements(ArrayRef<int64_t> window) {
  return saturatingProduct(window[0], window[1]);
}

NN_INFER(MaxPoolOp) {
  return inferPool(location, adaptor.getInput(), windowsOf(adaptor), inferred);
}
NN_KERNEL(MaxPoolOp, KernelFamily::Window, countFlops(getResult(), windowElements(getWindow())))

NN_INFER(AvgPoolOp) {
  return inferPool(location, adaptor.getInput(), windowsOf(adaptor), inferred);
}
NN_KERNEL(AvgPoolOp, KernelFamily::Window, countFlops(getResult(), windowElements(getWindow())))

NN_INFER(MaxPoolGradOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types))
    return failure();
  SmallVector<Type> pooled;
  if (failed(inferPool(location, adaptor.getInput(), windowsOf(adaptor), pooled)))
    return failure();
  if (failed(expects(location, (*types)[1] == pooled[0] && (*types)[2] == pooled[0],
                     "output and cotangent of type ", pooled[0], ", got ", (*types)[1], " and ",
                     (*types)[2]))) // (C5)
    return failure();
  inferred.push_back(types->front());
  return success();
}
// Each window is searched for its first maximum, then adds its cotangent.
NN_KERNEL(MaxPoolGradOp, KernelFamily::Window, countFlops(getDy(), windowElements(getWindow()) + 1))

/// The images that a sum over windows goes into. (C5) the cotangent's shape is `patches` or
/// `pooled` of them.
template <typename Adaptor>
static LogicalResult inferWindowSum(MaybeLocation location, Adaptor &adaptor,
                                    Shape WindowShapes::*of, SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getDy());
  if (failed(types))
    return failure();
  RankedTensorType dy = types->front();
  ArrayRef<int64_t> size = adaptor.getSize();
  bool isPatches = of == &WindowShapes::patches;
  if (failed(expects(location, size.size() == 2 && dy.getRank() == (isPatches ? 5 : 4),
                     "height and width, and the cotangent of ", isPatches ? "patches" : "a pool",
                     ", got [", size, "] and ", dy)))
    return failure();
  Windows windows = windowsOf(adaptor);
  int64_t channels = dy.getShape().back();
  if (isPatches && windows.size.size() == 2 && windows.size[1] >= 1)
    channels /= windows.size[1];
  auto images =
      RankedTensorType::get({dy.getDimSize(0), size[0], size[1], channels}, dy.getElementType());
  FailureOr<WindowShapes> shapes = windowShapes(location, windows, images);
  if (failed(shapes))
    return failure();
  auto wanted = RankedTensorType::get((*shapes).*of, dy.getElementType());
  if (failed(expects(location, dy == wanted, "a cotangent of type ", wanted, ", got ", dy))) // (C5)
    return failure();
  return addResult(location, images.getShape(), dy.getElementType(), inferred);
}

NN_INFER(PatchesGradOp) {
  return inferWindowSum(location, adaptor, &WindowShapes::patches, inferred);
}
NN_KERNEL(PatchesGradOp, KernelFamily::Window, countFlops(getDy(), 1))

NN_INFER(AvgPoolGradOp) {
  return inferWindowSum(location, adaptor, &WindowShapes::pooled, inferred);
}
NN_KERNEL(AvgPoolGradOp, KernelFamily::Window, countFlops(getDy(), windowElements(getWindow())))
