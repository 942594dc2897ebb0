//===- Weights.h - match a checkpoint against a model's parameters -------===//
//
// Names are those of a Hugging Face checkpoint. Published files differ in harmless
// ways, all handled here and nowhere else: GPT-2's names with or without the prefix
// `transformer.`; constant buffers (`attn.bias`, `attn.masked_bias`, `position_ids`,
// `rotary_emb.inv_freq`); copies of tied weights (`lm_head.weight`, BERT's
// `decoder.weight` and `decoder.bias`), of which the latter may stand alone; and
// BERT's norms as TensorFlow named them (`LayerNorm.gamma`, `LayerNorm.beta`).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TRAINING_WEIGHTS_H
#define ZERO_TRAINING_WEIGHTS_H

#include "zero/Training/Safetensors.h"

namespace zero::training {

struct ParameterSpec {
  std::string name;
  std::vector<int64_t> shape;
};

struct WeightMatch {
  /// One a parameter, in the order of the parameters; valid as long as the file is.
  std::vector<const TensorInfo *> tensors;
  /// Lines about tensors that the model has no use for.
  std::vector<std::string> warnings;
};

/// Errors, each naming file, tensor and both shapes: a parameter that the file lacks, a shape that
/// differs, a tensor that isn't floating point. All are listed, one a line.
llvm::Expected<WeightMatch> matchWeights(const Safetensors &file,
                                         llvm::ArrayRef<ParameterSpec> parameters);

} // namespace zero::training

#endif // ZERO_TRAINING_WEIGHTS_H
