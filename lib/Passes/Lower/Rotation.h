//===- Rotation.h - rotary positions and their table --------------------------------===//
#ifndef ZERO_PASSES_LOWER_ROTATION_H
#define ZERO_PASSES_LOWER_ROTATION_H

#include "zero/Dialect/NN/NN.h"

namespace zero {

/// [time · depth] numbers of f64: for each position the cosines of its angles and then the sines,
/// times the factor; under `inverse` the sines are negative.
mlir::DenseElementsAttr rotationTable(nn::RotaryOp rotary);

} // namespace zero

#endif // ZERO_PASSES_LOWER_ROTATION_H
