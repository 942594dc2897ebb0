//===- Norm.cpp - normalisation along the last dimension -----------------===//

#include "Ops.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

/// A row's mean and 1/√(variance + eps).
struct Moments {
  Moments(const double *row, int64_t width, double eps) {
    for (int64_t k = 0; k < width; ++k)
      mean += row[k] / static_cast<double>(width);
    double variance = 0.0;
    for (int64_t k = 0; k < width; ++k)
      variance += (row[k] - mean) * (row[k] - mean) / static_cast<double>(width);
    scale = 1.0 / std::sqrt(variance + eps);
  }
  double normalise(double x) const { return (x - mean) * scale; }

  double mean = 0.0, scale = 0.0;
};

double epsOf(APFloat eps) { return eps.convertToDouble(); }

Array layerNorm(nn::LayerNormOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1], &bias = *x[2];
  int64_t width = input.lastDimension();
  Array y(input.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    Moments moments(&input.f[row], width, epsOf(op.getEps()));
    for (int64_t k = 0; k < width; ++k)
      y.f[row + k] = moments.normalise(input.f[row + k]) * weight.f[k] + bias.f[k];
  }
  return y;
}

// With n = normalised x and d = dy·weight: dx = scale · (d - mean(d) - n·mean(d·n)).
Array layerNormGradInput(nn::LayerNormGradInputOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1], &dy = *x[2];
  int64_t width = input.lastDimension();
  Array dx(input.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    Moments moments(&input.f[row], width, epsOf(op.getEps()));
    double meanD = 0.0, meanDN = 0.0;
    for (int64_t k = 0; k < width; ++k) {
      double d = dy.f[row + k] * weight.f[k];
      meanD += d / static_cast<double>(width);
      meanDN += d * moments.normalise(input.f[row + k]) / static_cast<double>(width);
    }
    for (int64_t k = 0; k < width; ++k)
      dx.f[row + k] = moments.scale * (dy.f[row + k] * weight.f[k] - meanD -
                                       moments.normalise(input.f[row + k]) * meanDN);
  }
  return dx;
}

Array layerNormGradWeight(nn::LayerNormGradWeightOp op, Operands x) {
  const Array &input = *x[0], &dy = *x[1];
  int64_t width = input.lastDimension();
  Array dw({width}, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    Moments moments(&input.f[row], width, epsOf(op.getEps()));
    for (int64_t k = 0; k < width; ++k)
      dw.f[k] += dy.f[row + k] * moments.normalise(input.f[row + k]);
  }
  return dw;
}

/// 1/√(mean of squares + eps) of a row.
double rmsScale(const double *row, int64_t width, double eps) {
  double square = 0.0;
  for (int64_t k = 0; k < width; ++k)
    square += row[k] * row[k] / static_cast<double>(width);
  return 1.0 / std::sqrt(square + eps);
}

Array rmsNorm(nn::RmsNormOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1];
  int64_t width = input.lastDimension();
  Array y(input.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    double scale = rmsScale(&input.f[row], width, epsOf(op.getEps()));
    for (int64_t k = 0; k < width; ++k)
      y.f[row + k] = input.f[row + k] * scale * weight.f[k];
  }
  return y;
}

// With n = x·scale and d = dy·weight: dx = scale · (d - n·mean(d·n)).
Array rmsNormGradInput(nn::RmsNormGradInputOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1], &dy = *x[2];
  int64_t width = input.lastDimension();
  Array dx(input.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    double scale = rmsScale(&input.f[row], width, epsOf(op.getEps())), meanDN = 0.0;
    for (int64_t k = 0; k < width; ++k)
      meanDN += dy.f[row + k] * weight.f[k] * input.f[row + k] * scale / static_cast<double>(width);
    for (int64_t k = 0; k < width; ++k)
      dx.f[row + k] = scale * (dy.f[row + k] * weight.f[k] - input.f[row + k] * scale * meanDN);
  }
  return dx;
}

Array rmsNormGradWeight(nn::RmsNormGradWeightOp op, Operands x) {
  const Array &input = *x[0], &dy = *x[1];
  int64_t width = input.lastDimension();
  Array dw({width}, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    double scale = rmsScale(&input.f[row], width, epsOf(op.getEps()));
    for (int64_t k = 0; k < width; ++k)
      dw.f[k] += dy.f[row + k] * input.f[row + k] * scale;
  }
  return dw;
}

Array softmax(nn::SoftmaxOp, Operands x) {
  const Array &input = *x[0];
  int64_t width = input.lastDimension();
  Array y(input.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < input.size(); row += width) {
    double largest = *std::max_element(&input.f[row], &input.f[row] + width), sum = 0.0;
    for (int64_t k = 0; k < width; ++k)
      sum += std::exp(input.f[row + k] - largest);
    for (int64_t k = 0; k < width; ++k)
      y.f[row + k] = std::exp(input.f[row + k] - largest) / sum;
  }
  return y;
}

Array softmaxGrad(nn::SoftmaxGradOp, Operands x) {
  const Array &y = *x[0], &dy = *x[1];
  int64_t width = y.lastDimension();
  Array dx(y.shape, /*isFloat=*/true);
  for (int64_t row = 0; row < y.size(); row += width) {
    double dot = 0.0;
    for (int64_t k = 0; k < width; ++k)
      dot += y.f[row + k] * dy.f[row + k];
    for (int64_t k = 0; k < width; ++k)
      dx.f[row + k] = y.f[row + k] * (dy.f[row + k] - dot);
  }
  return dx;
}

} // namespace

void registerNorm(Registry &registry) {
  registry.add<nn::LayerNormOp>(layerNorm);
  registry.add<nn::LayerNormGradInputOp>(layerNormGradInput);
  registry.add<nn::LayerNormGradWeightOp>(layerNormGradWeight);
  registry.add<nn::RmsNormOp>(rmsNorm);
  registry.add<nn::RmsNormGradInputOp>(rmsNormGradInput);
  registry.add<nn::RmsNormGradWeightOp>(rmsNormGradWeight);
  registry.add<nn::SoftmaxOp>(softmax);
  registry.add<nn::SoftmaxGradOp>(softmaxGrad);
}

} // namespace zero::reference
