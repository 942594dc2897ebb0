//===- DropoutMask.h - the generator's words for lanes ----------------------===//
#ifndef ZERO_PASSES_LOWER_DROPOUTMASK_H
#define ZERO_PASSES_LOWER_DROPOUTMASK_H

#include "IndexMath.h"

namespace zero {

/// What a mask is keyed by, each an i32 that is the same for all lanes.
struct MaskKey {
  mlir::Value seedLow, seedHigh, step, site, firstSample;
};

/// Word `element` of `sample` of the batch (include/zero/Runtime/Random.h): an i32 where both are
/// uniform, else a vector of lanes. Four lanes share a block where the elements are consecutive and
/// known to begin at a multiple of four.
mlir::Value dropoutWords(mlir::ImplicitLocOpBuilder &builder, IndexMath &math, const MaskKey &key,
                         const Index &sample, const Index &element);

} // namespace zero

#endif // ZERO_PASSES_LOWER_DROPOUTMASK_H
