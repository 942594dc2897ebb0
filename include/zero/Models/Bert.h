//===- Bert.h - BERT for masked language modelling as a training graph ------===//
//
// As Gpt2.h, for transformers' BertForMaskedLM (all weights are [out, in]; the decoder is
// the table of word embeddings with a bias of its own). All tokens see each other, and all
// are of type 0.
//
// Source: Devlin et al., arXiv 1810.04805, sections 3 and 3.1, task 1.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_MODELS_BERT_H
#define ZERO_MODELS_BERT_H

#include "zero/Models/Batch.h"
#include "zero/Training/HfConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zero::models {

/// What is wrong with the sizes, one line, or empty: a size below 1, heads that do not divide the
/// width, a sequence longer than the positions, a tensor of 2^63 bytes or more.
std::string checkBert(const training::BertConfig &config, const BatchShape &batch);

/// The module, for sizes that `checkBert` accepts.
mlir::OwningOpRef<mlir::ModuleOp>
buildBert(mlir::MLIRContext &context, const training::BertConfig &config, const BatchShape &batch);

} // namespace zero::models

#endif // ZERO_MODELS_BERT_H
