//===- Gpt2.h - GPT-2 as a training graph -----------------------------------===//
//
// Builds level G from a model configuration: one `nn.param` a weight, under its name in
// a Hugging Face checkpoint and with Hugging Face's initial values, a private function
// `@block` that every layer calls with its own weights, and the forward function `@loss`.
//
// Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019),
// section 2.3; parameter names, shapes and initial values as transformers'
// GPT2LMHeadModel has them (`Conv1D` weights are [in, out], the head's [out, in]).
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_MODELS_GPT2_H
#define ZERO_MODELS_GPT2_H

#include "zero/Models/Batch.h"
#include "zero/Training/HfConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::models {

/// What is wrong with the sizes, one line, or empty: a size below 1, heads that do not divide the
/// width, a sequence longer than the positions, a tensor of 2^63 bytes or more.
std::string checkGpt2(const training::Gpt2Config &config, const BatchShape &batch);

/// The module, for sizes that `checkGpt2` accepts.
mlir::OwningOpRef<mlir::ModuleOp>
buildGpt2(mlir::MLIRContext &context, const training::Gpt2Config &config, const BatchShape &batch);

} // namespace zero::models

#endif // ZERO_MODELS_GPT2_H
