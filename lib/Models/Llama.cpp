//===- Llama.cpp - LLaMA as a training graph --------------------------------===//

#include "zero/Models/Llama.h"

#include "GraphBuilder.h"

#include <cmath>

using namespace mlir;

namespace zero::models {
namespace {

class LlamaBuilder : GraphBuilder {
public:
  LlamaBuilder(MLIRContext &context, const training::LlamaConfig &config, const BatchShape &batch)
      : GraphBuilder(context, batch, config.width, "model.layers."), config(config),
        angles(rotaryAngles(config.rope, config.headWidth, config.positions, batch.seqLen)) {
    int64_t c = config.width, inner = config.innerWidth;
    int64_t queries = config.heads * config.headWidth;
    int64_t keys = config.keyValueHeads * config.headWidth;
    addLayerLinear("self_attn.q_proj", queries, c, config.attentionBias);
    addLayerLinear("self_attn.k_proj", keys, c, config.attentionBias);
    addLayerLinear("self_attn.v_proj", keys, c, config.attentionBias);
    addLayerLinear("self_attn.o_proj", c, queries, config.attentionBias);
    addLayerLinear("mlp.gate_proj", inner, c, config.mlpBias);
    addLayerLinear("mlp.up_proj", inner, c, config.mlpBias);
    addLayerLinear("mlp.down_proj", c, inner, config.mlpBias);
    layerParams.push_back({"input_layernorm.weight", {c}});
    layerParams.push_back({"post_attention_layernorm.weight", {c}});
  }

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = beginModule("llama");
    addParams();
    addBlock("block", [&](Value x, Weights w) { return layerOf(x, w); });
    addLoss([&](Value ids) { return logits(ids); });
    return module;
  }

private:
  void addLayerLinear(StringRef name, int64_t out, int64_t in, bool bias) {
    layerParams.push_back({(name + ".weight").str(), {out, in}});
    if (bias)
      layerParams.push_back({(name + ".bias").str(), {out}});
  }

  // As PreTrainedModel._init_weights.
  void addInitialised(StringRef name, Sizes shape) {
    if (name.ends_with(".bias"))
      addParam(name, shape, nn::InitKind::Zeros);
    else if (name.ends_with("norm.weight"))
      addParam(name, shape, nn::InitKind::Ones);
    else
      addParam(name, shape, nn::InitKind::Normal, config.initializerRange);
  }

  void addParams() {
    addParam("model.embed_tokens.weight", {config.vocabSize, config.width}, nn::InitKind::Normal,
             config.initializerRange, config.padding);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      for (const LayerParam &param : layerParams)
        addInitialised(layerName(layer, param.name), param.shape);
    addInitialised("model.norm.weight", {config.width});
    if (!config.tieWordEmbeddings)
      addInitialised("lm_head.weight", {config.vocabSize, config.width});
  }

  Value norm(StringRef name, Value x, Value weight) {
    return rmsNorm(name, x, weight, config.rmsNormEpsilon);
  }

  Value layerOf(Value x, Weights w) {
    auto project = [&](StringRef name, Value value, StringRef weight) {
      return linear(name, value, w((weight + ".weight").str()), w((weight + ".bias").str()),
                    /*transposed=*/true);
    };
    auto heads = [&](StringRef name, Value value, int64_t count) {
      return reshape(name, value, {-1, seqLen(), count, config.headWidth});
    };
    Value n1 = norm("input_layernorm", x, w("input_layernorm.weight"));
    Value q = heads("q", project("q", n1, "self_attn.q_proj"), config.heads);
    Value k = heads("k", project("k", n1, "self_attn.k_proj"), config.keyValueHeads);
    Value v = heads("v", project("v", n1, "self_attn.v_proj"), config.keyValueHeads);
    q = rotary("q", q, angles);
    k = rotary("k", k, angles);
    double scale = 1.0 / std::sqrt(static_cast<double>(config.headWidth));
    Value out = attention("attn", q, k, v, scale, /*causal=*/true, config.attentionDropout);
    Value context = reshape("context", out, {-1, seqLen(), config.heads * config.headWidth});
    Value middle = add("x", project("o", context, "self_attn.o_proj"), x);

    Value n2 = norm("post_attention_layernorm", middle, w("post_attention_layernorm.weight"));
    Value gate = activate("gate", project("gate", n2, "mlp.gate_proj"), training::Activation::Silu);
    Value inner = mul("inner", gate, project("up", n2, "mlp.up_proj"));
    return add("x", project("down", inner, "mlp.down_proj"), middle);
  }

  Value logits(Value ids) {
    Value table = read("model.embed_tokens.weight");
    Value x = embed("x", ids, table, config.padding);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = callBlock("block", layer, x);
    x = norm("norm", x, read("model.norm.weight"));
    if (config.tieWordEmbeddings)
      return tiedHead("logits", x, table);
    return linear("logits", x, read("lm_head.weight"), Value(), /*transposed=*/true);
  }

  const training::LlamaConfig &config;
  RotaryAngles angles;
};

} // namespace

OwningOpRef<ModuleOp> buildLlama(MLIRContext &context, const training::LlamaConfig &config,
                                 const BatchShape &batch) {
  return LlamaBuilder(context, config, batch).build();
}

} // namespace zero::models
