//===- Rotary.cpp - rotary positions --------------------------------------===//

#include "Ops.h"

#include <cmath>

using namespace mlir;

namespace zero::reference {
namespace {

// A pair (x[d], x[d + depth/2]) at time t is a complex number times factor · e^(i·t·frequency).
Array rotary(nn::RotaryOp op, Operands x) {
  const Array &input = *x[0];
  int64_t batches = input.shape[0], time = input.shape[1], heads = input.shape[2];
  int64_t half = input.shape[3] / 2;
  double factor = op.getFactor().convertToDouble();
  Array y(input.shape, /*isFloat=*/true);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t t = 0; t < time; ++t)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < half; ++d) {
          int64_t first = ((b * time + t) * heads + h) * 2 * half + d, second = first + half;
          double angle = static_cast<double>(t) * op.getFrequencies()[d];
          if (op.getInverse())
            angle = -angle;
          double along = factor * std::cos(angle), across = factor * std::sin(angle);
          y.f[first] = input.f[first] * along - input.f[second] * across;
          y.f[second] = input.f[second] * along + input.f[first] * across;
        }
  return y;
}

} // namespace

void registerRotary(Registry &registry) { registry.add<nn::RotaryOp>(rotary); }

} // namespace zero::reference
