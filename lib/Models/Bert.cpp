//===- Bert.cpp - BERT for masked language modelling as a training graph ----===//

#include "zero/Models/Bert.h"

#include "GraphBuilder.h"

#include <cmath>

using namespace mlir;

namespace zero::models {
namespace {

constexpr llvm::StringLiteral kEmbeddings = "bert.embeddings.";
constexpr llvm::StringLiteral kHead = "cls.predictions.";

class BertBuilder : GraphBuilder {
public:
  BertBuilder(MLIRContext &context, const training::BertConfig &config, const BatchShape &batch)
      : GraphBuilder(context, batch, config.width, "bert.encoder.layer."), config(config) {
    int64_t c = config.width, inner = config.innerWidth;
    addLayerPair("attention.self.query", {c, c});
    addLayerPair("attention.self.key", {c, c});
    addLayerPair("attention.self.value", {c, c});
    addLayerPair("attention.output.dense", {c, c});
    addLayerPair("attention.output.LayerNorm", {c});
    addLayerPair("intermediate.dense", {inner, c});
    addLayerPair("output.dense", {c, inner});
    addLayerPair("output.LayerNorm", {c});
  }

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = beginModule("bert");
    addParams();
    addBlock("block", [&](Value x, Weights w) { return layerOf(x, w); });
    addLoss([&](Value ids) { return logits(ids); });
    return module;
  }

private:
  /// A weight and its bias, one for each row.
  void addLayerPair(StringRef name, Shape shape) {
    layerParams.push_back({(name + ".weight").str(), shape});
    layerParams.push_back({(name + ".bias").str(), {shape.front()}});
  }

  // As PreTrainedModel._init_weights.
  void addInitialised(const Twine &name, Sizes shape) {
    std::string text = name.str();
    StringRef key = text;
    if (key.ends_with(".bias"))
      addParam(key, shape, nn::InitKind::Zeros);
    else if (key.contains("LayerNorm"))
      addParam(key, shape, nn::InitKind::Ones);
    else
      addParam(key, shape, nn::InitKind::Normal, config.initializerRange);
  }

  void addParams() {
    int64_t c = config.width;
    addParam((kEmbeddings + "word_embeddings.weight").str(), {config.vocabSize, c},
             nn::InitKind::Normal, config.initializerRange, config.padding);
    addInitialised(kEmbeddings + "position_embeddings.weight", {config.positions, c});
    addInitialised(kEmbeddings + "token_type_embeddings.weight", {config.tokenTypes, c});
    addInitialised(kEmbeddings + "LayerNorm.weight", {c});
    addInitialised(kEmbeddings + "LayerNorm.bias", {c});
    for (int64_t layer = 0; layer < config.layers; ++layer)
      for (const LayerParam &param : layerParams)
        addInitialised(layerName(layer, param.name), param.shape);
    addInitialised(kHead + "bias", {config.vocabSize});
    addInitialised(kHead + "transform.dense.weight", {c, c});
    addInitialised(kHead + "transform.dense.bias", {c});
    addInitialised(kHead + "transform.LayerNorm.weight", {c});
    addInitialised(kHead + "transform.LayerNorm.bias", {c});
  }

  /// A weight and its bias by the name that they share.
  using Pair = llvm::function_ref<std::pair<Value, Value>(StringRef)>;

  Value project(StringRef name, Value x, StringRef key, Pair pair) {
    auto [weight, bias] = pair(key);
    return linear(name, x, weight, bias, /*transposed=*/true);
  }
  Value norm(StringRef name, Value x, StringRef key, Pair pair) {
    auto [weight, bias] = pair(key);
    return layerNorm(name, x, weight, bias, config.layerNormEpsilon);
  }

  Value layerOf(Value x, Weights w) {
    auto pair = [&](StringRef key) {
      return std::pair(w((key + ".weight").str()), w((key + ".bias").str()));
    };
    auto heads = [&](StringRef name, StringRef key) {
      return reshape(name, project(name, x, key, pair),
                     {-1, seqLen(), config.heads, config.headWidth()});
    };
    Value q = heads("q", "attention.self.query");
    Value k = heads("k", "attention.self.key");
    Value v = heads("v", "attention.self.value");
    double scale = 1.0 / std::sqrt(static_cast<double>(config.headWidth()));
    Value out = attention("attn", q, k, v, scale, /*causal=*/false, config.attentionDropout);
    Value context = reshape("context", out, {-1, seqLen(), config.width});
    auto addTo = [&](Value residual, Value value) {
      return add("sum", dropout("drop", value, config.hiddenDropout), residual);
    };
    Value middle = addTo(x, project("proj", context, "attention.output.dense", pair));
    middle = norm("x", middle, "attention.output.LayerNorm", pair);
    Value inner =
        activate("act", project("fc", middle, "intermediate.dense", pair), config.activation);
    Value end = addTo(middle, project("proj", inner, "output.dense", pair));
    return norm("x", end, "output.LayerNorm", pair);
  }

  Value logits(Value ids) {
    auto pair = [&](StringRef key) {
      return std::pair(read((key + ".weight").str()), read((key + ".bias").str()));
    };
    Value table = read((kEmbeddings + "word_embeddings.weight").str());
    Value x = embed("tokens", ids, table, config.padding);
    Value types = read((kEmbeddings + "token_type_embeddings.weight").str());
    x = add("sum", x, firstRows("type", types, 1));
    Value positions = read((kEmbeddings + "position_embeddings.weight").str());
    x = add("sum", x, firstRows("positions", positions, seqLen()));
    x = norm("x", x, (kEmbeddings + "LayerNorm").str(), pair);
    x = dropout("drop", x, config.hiddenDropout);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = callBlock("block", layer, x);
    x = project("transform", x, (kHead + "transform.dense").str(), pair);
    x = activate("act", x, config.activation);
    x = norm("x", x, (kHead + "transform.LayerNorm").str(), pair);
    return linear("logits", x, table, read((kHead + "bias").str()), /*transposed=*/true);
  }

  const training::BertConfig &config;
};

} // namespace

OwningOpRef<ModuleOp> buildBert(MLIRContext &context, const training::BertConfig &config,
                                const BatchShape &batch) {
  return BertBuilder(context, config, batch).build();
}

} // namespace zero::models
