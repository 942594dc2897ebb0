//===- Batch.h - the batch of a language model -----------------------------===//
#ifndef ZERO_MODELS_BATCH_H
#define ZERO_MODELS_BATCH_H

#include <cstdint>
#include <optional>

namespace zero::models {

/// Dimensions of the batch: `input_ids` and `labels` are [microBatch, seqLen] of i32, and a label
/// of -100 is ignored. The labels stand where their prediction is made: in causal models they are
/// the next tokens, and the graph does not shift them. Without `microBatch` that dimension is `?`.
struct BatchShape {
  int64_t seqLen = 0;
  std::optional<int64_t> microBatch;
};

} // namespace zero::models

#endif // ZERO_MODELS_BATCH_H
