//===- Convert.h - elements of tensor files as other types ---------------===//
#ifndef ZERO_TRAINING_CONVERT_H
#define ZERO_TRAINING_CONVERT_H

#include "zero/Training/Safetensors.h"

namespace zero::training {

/// Converts as many elements as `into` has room for; `from` need not be aligned. False where there
/// is no conversion (F8).
bool convertToF32(DType type, const uint8_t *from, llvm::MutableArrayRef<float> into);

} // namespace zero::training

#endif // ZERO_TRAINING_CONVERT_H
