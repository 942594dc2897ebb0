//===- Gpt2.cpp - GPT-2 as a training graph ---------------------------------===//

#include "zero/Models/Gpt2.h"

#include "GraphBuilder.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace zero::models {
namespace {

class Gpt2Builder : GraphBuilder {
public:
  Gpt2Builder(MLIRContext &context, const training::Gpt2Config &config, const BatchShape &batch)
      : GraphBuilder(context, batch, config.width, "transformer.h."), config(config) {
    int64_t c = config.width, inner = config.innerWidth;
    layerParams = {{"ln_1.weight", {c}},
                   {"ln_1.bias", {c}},
                   {"attn.c_attn.weight", {c, 3 * c}},
                   {"attn.c_attn.bias", {3 * c}},
                   {"attn.c_proj.weight", {c, c}},
                   {"attn.c_proj.bias", {c}},
                   {"ln_2.weight", {c}},
                   {"ln_2.bias", {c}},
                   {"mlp.c_fc.weight", {c, inner}},
                   {"mlp.c_fc.bias", {inner}},
                   {"mlp.c_proj.weight", {inner, c}},
                   {"mlp.c_proj.bias", {c}}};
  }

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module = beginModule("gpt2");
    addParams();
    // Blocks differ only where the scale of attention depends on the layer.
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      double scale = config.attentionScale(layer);
      std::string name = blocks.empty() ? "block" : "block_" + std::to_string(blocks.size());
      if (blocks.try_emplace(scale, name).second)
        addBlock(name, [&](Value x, Weights w) { return layerOf(x, w, scale); });
    }
    addLoss([&](Value ids) { return logits(ids); });
    return module;
  }

private:
  // As GPT2PreTrainedModel._init_weights: the projections that end on the residual are narrower by
  // the square root of their number, two a layer.
  void addInitialised(StringRef name, Sizes shape) {
    double deviation = config.initializerRange;
    if (name.ends_with("c_proj.weight"))
      deviation /= std::sqrt(2.0 * static_cast<double>(config.layers));
    if (name.ends_with(".bias"))
      addParam(name, shape, nn::InitKind::Zeros);
    else if (name.contains("ln_"))
      addParam(name, shape, nn::InitKind::Ones);
    else
      addParam(name, shape, nn::InitKind::Normal, deviation);
  }

  void addParams() {
    addInitialised("transformer.wte.weight", {config.vocabSize, config.width});
    addInitialised("transformer.wpe.weight", {config.positions, config.width});
    for (int64_t layer = 0; layer < config.layers; ++layer)
      for (const LayerParam &param : layerParams)
        addInitialised(layerName(layer, param.name), param.shape);
    addInitialised("transformer.ln_f.weight", {config.width});
    addInitialised("transformer.ln_f.bias", {config.width});
    if (!config.tieWordEmbeddings)
      addInitialised("lm_head.weight", {config.vocabSize, config.width});
  }

  Value norm(StringRef name, Value x, Value weight, Value bias) {
    return layerNorm(name, x, weight, bias, config.layerNormEpsilon);
  }

  // Causal attention over qkv: tensor<B x T x 3C>.
  Value attend(Value qkv, double scale) {
    SmallVector<Value> parts = split("split", qkv, 3);
    constexpr llvm::StringLiteral names[] = {"q", "k", "v"};
    for (auto [name, part] : llvm::zip_equal(names, parts))
      part = reshape(name, part, {-1, seqLen(), config.heads, config.headWidth()});
    Value out = attention("attn", parts[0], parts[1], parts[2], scale, /*causal=*/true,
                          config.attentionDropout);
    return reshape("context", out, {-1, seqLen(), config.width});
  }

  Value layerOf(Value x, Weights w, double scale) {
    auto project = [&](StringRef name, Value value, StringRef weight) {
      return linear(name, value, w((weight + ".weight").str()), w((weight + ".bias").str()),
                    /*transposed=*/false);
    };
    Value ln1 = norm("ln_1", x, w("ln_1.weight"), w("ln_1.bias"));
    auto addTo = [&](Value residual, Value value) {
      return add("x", dropout("drop", value, config.residualDropout), residual);
    };
    Value context = attend(project("qkv", ln1, "attn.c_attn"), scale);
    Value middle = addTo(x, project("proj", context, "attn.c_proj"));
    Value ln2 = norm("ln_2", middle, w("ln_2.weight"), w("ln_2.bias"));
    Value inner = activate("act", project("fc", ln2, "mlp.c_fc"), config.activation);
    return addTo(middle, project("proj", inner, "mlp.c_proj"));
  }

  Value logits(Value ids) {
    Value wte = read("transformer.wte.weight");
    Value tokens = embed("tokens", ids, wte);
    Value positions = firstRows("positions", read("transformer.wpe.weight"), seqLen());
    Value x = dropout("drop", add("x", tokens, positions), config.embeddingDropout);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = callBlock(blocks.at(config.attentionScale(layer)), layer, x);
    x = norm("ln_f", x, read("transformer.ln_f.weight"), read("transformer.ln_f.bias"));
    if (config.tieWordEmbeddings)
      return tiedHead("logits", x, wte);
    return linear("logits", x, read("lm_head.weight"), Value(), /*transposed=*/true);
  }

  const training::Gpt2Config &config;
  std::map<double, std::string> blocks; // by the scale of attention
};

} // namespace

OwningOpRef<ModuleOp> buildGpt2(MLIRContext &context, const training::Gpt2Config &config,
                                const BatchShape &batch) {
  return Gpt2Builder(context, config, batch).build();
}

} // namespace zero::models
