//===- Models.cpp - a configuration of any family as a training graph -------===//

#include "zero/Models/Models.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Models/Bert.h"
#include "zero/Models/Gpt2.h"
#include "zero/Models/Llama.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace zero::models {
namespace {

// One name for what each family calls its own.
std::string check(const training::Gpt2Config &config, const BatchShape &batch) {
  return checkGpt2(config, batch);
}
std::string check(const training::LlamaConfig &config, const BatchShape &batch) {
  return checkLlama(config, batch);
}
std::string check(const training::BertConfig &config, const BatchShape &batch) {
  return checkBert(config, batch);
}
OwningOpRef<ModuleOp> build(MLIRContext &context, const training::Gpt2Config &config,
                            const BatchShape &batch) {
  return buildGpt2(context, config, batch);
}
OwningOpRef<ModuleOp> build(MLIRContext &context, const training::LlamaConfig &config,
                            const BatchShape &batch) {
  return buildLlama(context, config, batch);
}
OwningOpRef<ModuleOp> build(MLIRContext &context, const training::BertConfig &config,
                            const BatchShape &batch) {
  return buildBert(context, config, batch);
}

} // namespace

int64_t positionsOf(const training::ModelConfig &config) {
  return std::visit([](const auto &family) { return family.positions; }, config);
}

llvm::Expected<OwningOpRef<ModuleOp>>
buildModel(MLIRContext &context, const training::ModelConfig &config, const BatchShape &batch) {
  std::string wrong = std::visit([&](const auto &family) { return check(family, batch); }, config);
  if (!wrong.empty())
    return llvm::createStringError(wrong);
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module =
      std::visit([&](const auto &family) { return build(context, family, batch); }, config);
  if (failed(verify(*module)))
    return llvm::createStringError("expects a graph that the verifier accepts");
  return module;
}

} // namespace zero::models
