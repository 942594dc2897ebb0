//===- Convolution.cpp - convolution and pooling of images ----------------===//

#include "Ops.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace zero::reference {
namespace {

/// Windows over images of [batch, height, width, channels].
struct Grid {
  Grid(const nn::Windows &windows, const Shape &image)
      : windows(windows), batch(image[0]), height(image[1]), width(image[2]), channels(image[3]) {
    down =
        (height + windows.padding[0] + windows.padding[1] - windows.size[0]) / windows.strides[0] +
        1;
    across =
        (width + windows.padding[2] + windows.padding[3] - windows.size[1]) / windows.strides[1] +
        1;
  }

  /// Calls visit(window, i, j, pixel) for each element of each window, in row-major order:
  /// `window` numbers it, `pixel` is the image's element of channel 0 there, or -1 outside.
  template <typename Visit> void forEach(Visit visit) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t a = 0; a < down; ++a)
        for (int64_t b = 0; b < across; ++b)
          for (int64_t i = 0; i < windows.size[0]; ++i)
            for (int64_t j = 0; j < windows.size[1]; ++j)
              visit((n * down + a) * across + b, i, j,
                    pixel(n, a * windows.strides[0] + i - windows.padding[0],
                          b * windows.strides[1] + j - windows.padding[2]));
  }
  int64_t pixel(int64_t n, int64_t row, int64_t column) const {
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? ((n * height + row) * width + column) * channels : -1;
  }
  double elements() const { return static_cast<double>(windows.size[0] * windows.size[1]); }

  nn::Windows windows;
  int64_t batch, height, width, channels, down, across;
};

Array convolution(nn::ConvolutionOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1];
  ArrayRef<int64_t> window = ArrayRef(weight.shape).take_front(2);
  Grid grid({window, op.getStrides(), op.getPadding()}, input.shape);
  int64_t channels = grid.channels, features = weight.shape[3];
  Array y({grid.batch, grid.down, grid.across, features}, /*isFloat=*/true);
  grid.forEach([&](int64_t at, int64_t i, int64_t j, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < channels; ++c)
      for (int64_t f = 0; f < features; ++f)
        y.f[at * features + f] +=
            input.f[pixel + c] * weight.f[((i * window[1] + j) * channels + c) * features + f];
  });
  return y;
}

/// Element of channel 0 of a patch.
int64_t patchElement(const Grid &grid, int64_t at, int64_t i, int64_t j) {
  return ((at * grid.windows.size[0] + i) * grid.windows.size[1] + j) * grid.channels;
}

Array patches(nn::PatchesOp op, Operands x) {
  const Array &input = *x[0];
  Grid grid(op.getWindows(), input.shape);
  Array y(
      {grid.batch, grid.down, grid.across, op.getWindow()[0], op.getWindow()[1] * grid.channels},
      /*isFloat=*/true);
  grid.forEach([&](int64_t at, int64_t i, int64_t j, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c)
      y.f[patchElement(grid, at, i, j) + c] = input.f[pixel + c];
  });
  return y;
}

Array patchesGrad(nn::PatchesGradOp op, Operands x) {
  const Array &dy = *x[0];
  Array dx({dy.shape[0], op.getSize()[0], op.getSize()[1], dy.shape[4] / op.getWindow()[1]},
           /*isFloat=*/true);
  Grid grid(op.getWindows(), dx.shape);
  grid.forEach([&](int64_t at, int64_t i, int64_t j, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c)
      dx.f[pixel + c] += dy.f[patchElement(grid, at, i, j) + c];
  });
  return dx;
}

Array maxPool(nn::MaxPoolOp op, Operands x) {
  const Array &input = *x[0];
  Grid grid(op.getWindows(), input.shape);
  Array y({grid.batch, grid.down, grid.across, grid.channels}, /*isFloat=*/true);
  std::fill(y.f.begin(), y.f.end(), -std::numeric_limits<double>::infinity());
  grid.forEach([&](int64_t at, int64_t, int64_t, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c) {
      double &most = y.f[at * grid.channels + c];
      most = std::max(most, input.f[pixel + c]);
    }
  });
  return y;
}

Array maxPoolGrad(nn::MaxPoolGradOp op, Operands x) {
  const Array &input = *x[0], &output = *x[1], &dy = *x[2];
  Grid grid(op.getWindows(), input.shape);
  Array dx(input.shape, /*isFloat=*/true);
  std::vector<bool> taken(output.f.size(), false);
  grid.forEach([&](int64_t at, int64_t, int64_t, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c) {
      int64_t k = at * grid.channels + c;
      if (taken[k] || input.f[pixel + c] != output.f[k])
        continue;
      taken[k] = true;
      dx.f[pixel + c] += dy.f[k];
    }
  });
  return dx;
}

Array avgPool(nn::AvgPoolOp op, Operands x) {
  const Array &input = *x[0];
  Grid grid(op.getWindows(), input.shape);
  Array y({grid.batch, grid.down, grid.across, grid.channels}, /*isFloat=*/true);
  grid.forEach([&](int64_t at, int64_t, int64_t, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c)
      y.f[at * grid.channels + c] += input.f[pixel + c] / grid.elements();
  });
  return y;
}

Array avgPoolGrad(nn::AvgPoolGradOp op, Operands x) {
  const Array &dy = *x[0];
  Array dx({dy.shape[0], op.getSize()[0], op.getSize()[1], dy.shape[3]}, /*isFloat=*/true);
  Grid grid(op.getWindows(), dx.shape);
  grid.forEach([&](int64_t at, int64_t, int64_t, int64_t pixel) {
    for (int64_t c = 0; pixel >= 0 && c < grid.channels; ++c)
      dx.f[pixel + c] += dy.f[at * grid.channels + c] / grid.elements();
  });
  return dx;
}

} // namespace

void registerConvolution(Registry &registry) {
  registry.add<nn::ConvolutionOp>(convolution);
  registry.add<nn::PatchesOp>(patches);
  registry.add<nn::PatchesGradOp>(patchesGrad);
  registry.add<nn::MaxPoolOp>(maxPool);
  registry.add<nn::MaxPoolGradOp>(maxPoolGrad);
  registry.add<nn::AvgPoolOp>(avgPool);
  registry.add<nn::AvgPoolGradOp>(avgPoolGrad);
}

} // namespace zero::reference
