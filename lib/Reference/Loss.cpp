//===- Loss.cpp - cross-entropy and the count of labels -----------------===//

#include "Ops.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

int64_t countOf(const Array &labels, int64_t ignore) {
  return static_cast<int64_t>(labels.i.size()) -
         std::count(labels.i.begin(), labels.i.end(), ignore);
}

/// ln Σ e^x of a row.
double logSumExp(const double *row, int64_t width) {
  double largest = *std::max_element(row, row + width), sum = 0.0;
  for (int64_t k = 0; k < width; ++k)
    sum += std::exp(row[k] - largest);
  return largest + std::log(sum);
}

/// Σ over rows that count of -log softmax(logits)[label].
double summedLoss(const Array &logits, const Array &labels, int64_t ignore) {
  int64_t classes = logits.lastDimension();
  double sum = 0.0;
  for (size_t row = 0; row < labels.i.size(); ++row)
    if (labels.i[row] != ignore)
      sum += logSumExp(&logits.f[row * classes], classes) - logits.f[row * classes + labels.i[row]];
  return sum;
}

// Without any label the mean is 0, not a NaN (N2).
FailureOr<Array> crossEntropy(nn::CrossEntropyOp op, Operands x) {
  int64_t ignore = op.getIgnore();
  if (failed(checkIndices(op, *x[1], x[0]->lastDimension(), ignore)))
    return failure();
  int64_t count = countOf(*x[1], ignore);
  return Array::scalar(count ? summedLoss(*x[0], *x[1], ignore) / static_cast<double>(count) : 0.0);
}

FailureOr<Results> crossEntropyWithGrad(nn::CrossEntropyWithGradOp op, Operands x) {
  const Array &logits = *x[0], &labels = *x[1];
  double seed = x[2]->f[0];
  int64_t ignore = op.getIgnore(), classes = logits.lastDimension();
  if (failed(checkIndices(op, labels, classes, ignore)))
    return failure();

  Array gradient(logits.shape, /*isFloat=*/true);
  for (size_t row = 0; row < labels.i.size(); ++row) {
    if (labels.i[row] == ignore)
      continue;
    double logSum = logSumExp(&logits.f[row * classes], classes);
    for (int64_t c = 0; c < classes; ++c)
      gradient.f[row * classes + c] =
          seed * (std::exp(logits.f[row * classes + c] - logSum) - (c == labels.i[row]));
  }
  Results results;
  results.push_back(Array::scalar(seed * summedLoss(logits, labels, ignore)));
  results.push_back(std::move(gradient));
  return results;
}

Array countLabels(nn::CountLabelsOp op, Operands x) {
  return Array::integers({}, {countOf(*x[0], op.getIgnore())});
}

} // namespace

void registerLoss(Registry &registry) {
  registry.add<nn::CrossEntropyOp>(crossEntropy);
  registry.add<nn::CrossEntropyWithGradOp>(crossEntropyWithGrad);
  registry.add<nn::CountLabelsOp>(countLabels);
}

} // namespace zero::reference
