//===- Llama.h - LLaMA as a training graph ----------------------------------===//
//
// As Gpt2.h, for transformers' LlamaForCausalLM (all weights are [out, in]).
//
// Source: Touvron et al., arXiv 2302.13971, section 2.2: RMSNorm before each part, SwiGLU
// (Shazeer, arXiv 2002.05202) and rotary positions; grouped queries: Ainslie et al., arXiv
// 2305.13245.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_MODELS_LLAMA_H
#define ZERO_MODELS_LLAMA_H

#include "zero/Models/Batch.h"
#include "zero/Training/HfConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::models {

/// What is wrong with the sizes, one line, or empty: a size below 1, key/value heads that do not
/// divide the heads, heads of an odd width, angles that are no numbers, a tensor of 2^63 bytes or
/// more. A sequence may be longer than the positions, as in transformers.
std::string checkLlama(const training::LlamaConfig &config, const BatchShape &batch);

/// The module, for sizes that `checkLlama` accepts.
mlir::OwningOpRef<mlir::ModuleOp> buildLlama(mlir::MLIRContext &context,
                                             const training::LlamaConfig &config,
                                             const BatchShape &batch);

} // namespace zero::models

#endif // ZERO_MODELS_LLAMA_H
