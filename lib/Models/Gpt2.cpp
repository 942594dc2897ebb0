//===- Gpt2.cpp - GPT-2 as a training graph -----------------------------===//
//
// Every value's location is a name, so that a printer that uses names as prefixes
// shows `%qkv` and `%ln_1` where others show numbers.
//
//===----------------------------------------------------------------------===//

#include "zero/Models/Gpt2.h"

#include "zero/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace zero::models {
namespace {

/// A weight of a layer: the end of its name, and its shape.
struct LayerParam {
  StringRef name;
  SmallVector<int64_t, 2> shape;
};

class Gpt2Builder {
public:
  Gpt2Builder(MLIRContext &context, const training::Gpt2Config &config, const BatchShape &batch)
      : config(config), batch(batch), builder(&context), f32(builder.getF32Type()) {
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
    OwningOpRef<ModuleOp> module = ModuleOp::create(at("gpt2"));
    builder.setInsertionPointToEnd(module->getBody());
    addParams();
    // Blocks differ only where the scale of attention depends on the layer.
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      double scale = config.attentionScale(layer);
      std::string name = blocks.empty() ? "block" : "block_" + std::to_string(blocks.size());
      if (blocks.try_emplace(scale, name).second)
        addBlock(name, scale);
    }
    addLoss();
    return module;
  }

private:
  Location at(StringRef name) { return NameLoc::get(builder.getStringAttr(name)); }

  RankedTensorType tensor(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, f32); }
  RankedTensorType hiddenType() { return tensor({rows(), batch.seqLen, config.width}); }
  int64_t rows() { return batch.microBatch.value_or(ShapedType::kDynamic); }

  static std::string layerName(int64_t layer, StringRef name) {
    return ("transformer.h." + Twine(layer) + "." + name).str();
  }

  // Parameters.

  void addParam(StringRef name, ArrayRef<int64_t> shape, nn::InitKind init, double value = 0.0) {
    nn::ParamOp::create(builder, at(name), builder.getStringAttr(name),
                        TypeAttr::get(tensor(shape)),
                        nn::InitKindAttr::get(builder.getContext(), init),
                        builder.getF64FloatAttr(value), builder.getBoolAttr(true), BoolAttr());
  }

  // As GPT2PreTrainedModel._init_weights: the projections that end on the residual are narrower by
  // the square root of their number, two a layer.
  void addInitialised(StringRef name, ArrayRef<int64_t> shape) {
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

  Value read(StringRef name, ArrayRef<int64_t> shape) {
    // Named by the two last parts: %wte.weight, %c_attn.bias.
    auto [layer, kind] = name.rsplit('.');
    std::string shown = (layer.substr(layer.rfind('.') + 1) + "." + kind).str();
    return nn::ReadOp::create(builder, at(shown), tensor(shape),
                              FlatSymbolRefAttr::get(builder.getContext(), name));
  }

  // Ops with the attributes that they need here.

  Value add(StringRef name, Value x, Value y) {
    return nn::AddOp::create(builder, at(name), x, y).getResult();
  }
  Value linear(StringRef name, Value x, Value weight, Value bias, bool transposed = false) {
    return nn::LinearOp::create(builder, at(name), x, weight, bias,
                                transposed ? builder.getUnitAttr() : UnitAttr())
        .getResult();
  }
  Value layerNorm(StringRef name, Value x, Value weight, Value bias) {
    return nn::LayerNormOp::create(builder, at(name), x, weight, bias,
                                   builder.getF64FloatAttr(config.layerNormEpsilon))
        .getResult();
  }
  Value reshape(StringRef name, Value x, ArrayRef<int64_t> shape) {
    return nn::ReshapeOp::create(builder, at(name), x, builder.getDenseI64ArrayAttr(shape))
        .getResult();
  }
  Value activate(Value x) {
    Location loc = at("act");
    auto gelu = [&](nn::GeluKind kind) -> Value {
      return nn::GeluOp::create(builder, loc, nn::GeluKindAttr::get(builder.getContext(), kind), x)
          .getResult();
    };
    switch (config.activation) {
    case training::Activation::GeluTanh:
      return gelu(nn::GeluKind::Tanh);
    case training::Activation::GeluErf:
      return gelu(nn::GeluKind::Erf);
    case training::Activation::Relu:
      return nn::ReluOp::create(builder, loc, x).getResult();
    case training::Activation::Silu:
      return nn::SiluOp::create(builder, loc, x).getResult();
    }
    llvm_unreachable("not an activation");
  }

  // Causal attention over qkv: tensor<B x T x 3C>.
  Value attend(Value qkv, double scale) {
    int64_t c = config.width;
    SmallVector<Value> heads;
    auto split = nn::SplitOp::create(builder, at("split"), qkv, builder.getI64IntegerAttr(2),
                                     builder.getDenseI64ArrayAttr({c, c, c}));
    constexpr llvm::StringLiteral names[] = {"q", "k", "v"};
    for (auto [name, part] : llvm::zip_equal(names, split.getParts()))
      heads.push_back(reshape(name, part, {-1, batch.seqLen, config.heads, config.headWidth()}));
    auto attention = nn::AttentionOp::create(builder, at("attn"), heads[0], heads[1], heads[2],
                                             builder.getF64FloatAttr(scale), builder.getUnitAttr());
    return reshape("context", attention.getOut(), {-1, batch.seqLen, c});
  }

  /// func.func private @block(%x, %weights…) -> tensor<B x T x C>
  void addBlock(StringRef name, double scale) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types{hiddenType()};
    for (const LayerParam &param : layerParams)
      types.push_back(tensor(param.shape));
    auto block = func::FuncOp::create(builder, at(name), name,
                                      builder.getFunctionType(types, {hiddenType()}));
    block.setPrivate();
    Block *body = block.addEntryBlock();
    body->getArgument(0).setLoc(at("x"));
    for (auto [argument, param] : llvm::zip_equal(body->getArguments().drop_front(), layerParams))
      argument.setLoc(at(param.name));
    builder.setInsertionPointToStart(body);

    auto w = [&](unsigned index) -> Value { return body->getArgument(1 + index); };
    Value x = body->getArgument(0);
    Value ln1 = layerNorm("ln_1", x, w(0), w(1));
    Value context = attend(linear("qkv", ln1, w(2), w(3)), scale);
    Value middle = add("x", linear("proj", context, w(4), w(5)), x);
    Value ln2 = layerNorm("ln_2", middle, w(6), w(7));
    Value inner = activate(linear("fc", ln2, w(8), w(9)));
    Value out = add("x", linear("proj", inner, w(10), w(11)), middle);
    func::ReturnOp::create(builder, at(name), out);
  }

  /// func.func @loss(%input_ids, %labels) -> tensor<f32>
  void addLoss() {
    OpBuilder::InsertionGuard guard(builder);
    auto ids = RankedTensorType::get({rows(), batch.seqLen}, builder.getI32Type());
    auto loss = func::FuncOp::create(builder, at("loss"), "loss",
                                     builder.getFunctionType({ids, ids}, {tensor({})}));
    Block *body = loss.addEntryBlock();
    constexpr llvm::StringLiteral names[] = {"input_ids", "labels"};
    for (unsigned index : {0u, 1u}) {
      loss.setArgAttr(index, "nn.name", builder.getStringAttr(names[index]));
      body->getArgument(index).setLoc(at(names[index]));
    }
    builder.setInsertionPointToStart(body);

    Value wte = read("transformer.wte.weight", {config.vocabSize, config.width});
    Value x = embed(body->getArgument(0), wte);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = callBlock(layer, x);
    x = layerNorm("ln_f", x, read("transformer.ln_f.weight", {config.width}),
                  read("transformer.ln_f.bias", {config.width}));
    auto mean = nn::CrossEntropyOp::create(builder, at("loss"), head(x, wte), body->getArgument(1),
                                           builder.getI64IntegerAttr(-100));
    func::ReturnOp::create(builder, at("loss"), mean.getLoss());
  }

  Value embed(Value ids, Value wte) {
    Value tokens = nn::EmbeddingOp::create(builder, at("tokens"), ids, wte).getResult();
    Value positions = read("transformer.wpe.weight", {config.positions, config.width});
    if (batch.seqLen < config.positions)
      positions = nn::SliceOp::create(builder, at("positions"), positions,
                                      builder.getDenseI64ArrayAttr({0, 0}),
                                      builder.getDenseI64ArrayAttr({batch.seqLen, config.width}))
                      .getResult();
    return add("x", tokens, positions);
  }

  Value callBlock(int64_t layer, Value x) {
    SmallVector<Value> operands{x};
    for (const LayerParam &param : layerParams)
      operands.push_back(read(layerName(layer, param.name), param.shape));
    return func::CallOp::create(builder, at("x"), blocks.at(config.attentionScale(layer)),
                                TypeRange{hiddenType()}, operands)
        .getResult(0);
  }

  Value head(Value x, Value wte) {
    if (!config.tieWordEmbeddings)
      return linear("logits", x, read("lm_head.weight", {config.vocabSize, config.width}), Value(),
                    /*transposed=*/true);
    DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({});
    return nn::DotGeneralOp::create(builder, at("logits"), x, wte, none, none,
                                    builder.getDenseI64ArrayAttr({2}),
                                    builder.getDenseI64ArrayAttr({1}))
        .getResult();
  }

  const training::Gpt2Config &config;
  const BatchShape &batch;
  OpBuilder builder;
  Type f32;
  SmallVector<LayerParam> layerParams;  // in the order of @block's arguments
  std::map<double, std::string> blocks; // by the scale of attention
};

} // namespace

llvm::Expected<OwningOpRef<ModuleOp>>
buildGpt2(MLIRContext &context, const training::Gpt2Config &config, const BatchShape &batch) {
  if (std::string wrong = checkGpt2(config, batch); !wrong.empty())
    return llvm::createStringError(wrong);
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = Gpt2Builder(context, config, batch).build();
  if (failed(verify(*module)))
    return llvm::createStringError("expects a graph that the verifier accepts");
  return module;
}

} // namespace zero::models
