//===- GraphBuilder.cpp - what the families' builders share -----------------===//

#include "GraphBuilder.h"

using namespace mlir;

namespace zero::models {

GraphBuilder::GraphBuilder(MLIRContext &context, const BatchShape &batch, int64_t width,
                           StringRef layerPrefix)
    : batch(batch), width(width), layerPrefix(layerPrefix), builder(&context),
      f32(builder.getF32Type()) {}

Location GraphBuilder::at(StringRef name) { return NameLoc::get(builder.getStringAttr(name)); }

RankedTensorType GraphBuilder::tensor(Sizes shape) { return RankedTensorType::get(shape, f32); }

int64_t GraphBuilder::rows() const { return batch.microBatch.value_or(ShapedType::kDynamic); }

RankedTensorType GraphBuilder::hiddenType() { return tensor({rows(), batch.seqLen, width}); }

RankedTensorType GraphBuilder::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

OwningOpRef<ModuleOp> GraphBuilder::beginModule(StringRef name) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(at(name));
  builder.setInsertionPointToEnd(module->getBody());
  return module;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void GraphBuilder::addParam(StringRef name, Sizes shape, nn::InitKind init, double value,
                            std::optional<int64_t> zeroRow) {
  shapes[name] = Shape(shape);
  nn::ParamOp::create(builder, at(name), builder.getStringAttr(name), TypeAttr::get(tensor(shape)),
                      nn::InitKindAttr::get(builder.getContext(), init),
                      builder.getF64FloatAttr(value), builder.getBoolAttr(true), BoolAttr(),
                      zeroRow ? builder.getI64IntegerAttr(*zeroRow) : IntegerAttr());
}

Value GraphBuilder::read(StringRef name) {
  // Named by the two last parts: %wte.weight, %c_attn.bias.
  auto [owner, kind] = name.rsplit('.');
  std::string shown = (owner.substr(owner.rfind('.') + 1) + "." + kind).str();
  return nn::ReadOp::create(builder, at(shown), tensor(shapes.at(name)),
                            FlatSymbolRefAttr::get(builder.getContext(), name));
}

std::string GraphBuilder::layerName(int64_t layer, StringRef name) const {
  return (layerPrefix + Twine(layer) + "." + name).str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void GraphBuilder::addBlock(StringRef name, llvm::function_ref<Value(Value, Weights)> makeBody) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types{hiddenType()};
  for (const LayerParam &param : layerParams)
    types.push_back(tensor(param.shape));
  auto block =
      func::FuncOp::create(builder, at(name), name, builder.getFunctionType(types, {hiddenType()}));
  block.setPrivate();
  Block *body = block.addEntryBlock();
  body->getArgument(0).setLoc(at("x"));
  llvm::StringMap<Value> weights;
  for (auto [argument, param] : llvm::zip_equal(body->getArguments().drop_front(), layerParams)) {
    argument.setLoc(at(param.name));
    weights[param.name] = argument;
  }
  builder.setInsertionPointToStart(body);
  Value out = makeBody(body->getArgument(0), [&](StringRef key) { return weights.lookup(key); });
  func::ReturnOp::create(builder, at(name), out);
}

Value GraphBuilder::callBlock(StringRef name, int64_t layer, Value x) {
  SmallVector<Value> operands{x};
  for (const LayerParam &param : layerParams)
    operands.push_back(read(layerName(layer, param.name)));
  return func::CallOp::create(builder, at("x"), name, TypeRange{hiddenType()}, operands)
      .getResult(0);
}

void GraphBuilder::addLoss(llvm::function_ref<Value(Value)> makeLogits) {
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
  Value logits = makeLogits(body->getArgument(0));
  auto mean = nn::CrossEntropyOp::create(builder, at("loss"), logits, body->getArgument(1),
                                         builder.getI64IntegerAttr(-100));
  func::ReturnOp::create(builder, at("loss"), mean.getLoss());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value GraphBuilder::add(StringRef name, Value x, Value y) {
  return nn::AddOp::create(builder, at(name), x, y).getResult();
}

Value GraphBuilder::mul(StringRef name, Value x, Value y) {
  return nn::MulOp::create(builder, at(name), x, y).getResult();
}

Value GraphBuilder::reshape(StringRef name, Value x, Sizes shape) {
  return nn::ReshapeOp::create(builder, at(name), x, builder.getDenseI64ArrayAttr(shape))
      .getResult();
}

SmallVector<Value> GraphBuilder::split(StringRef name, Value x, int64_t parts) {
  int64_t last = typeOf(x).getRank() - 1;
  SmallVector<int64_t> sizes(parts, typeOf(x).getDimSize(last) / parts);
  return nn::SplitOp::create(builder, at(name), x, builder.getI64IntegerAttr(last),
                             builder.getDenseI64ArrayAttr(sizes))
      .getParts();
}

Value GraphBuilder::firstRows(StringRef name, Value table, int64_t count) {
  if (typeOf(table).getDimSize(0) == count)
    return table;
  return nn::SliceOp::create(builder, at(name), table, builder.getDenseI64ArrayAttr({0, 0}),
                             builder.getDenseI64ArrayAttr({count, width}))
      .getResult();
}

Value GraphBuilder::embed(StringRef name, Value ids, Value table, std::optional<int64_t> padding) {
  IntegerAttr row = padding ? builder.getI64IntegerAttr(*padding) : IntegerAttr();
  return nn::EmbeddingOp::create(builder, at(name), ids, table, row).getResult();
}

Value GraphBuilder::linear(StringRef name, Value x, Value weight, Value bias, bool transposed) {
  return nn::LinearOp::create(builder, at(name), x, weight, bias,
                              transposed ? builder.getUnitAttr() : UnitAttr())
      .getResult();
}

Value GraphBuilder::tiedHead(StringRef name, Value x, Value table) {
  DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({});
  return nn::DotGeneralOp::create(builder, at(name), x, table, none, none,
                                  builder.getDenseI64ArrayAttr({2}),
                                  builder.getDenseI64ArrayAttr({1}))
      .getResult();
}

Value GraphBuilder::layerNorm(StringRef name, Value x, Value weight, Value bias, double epsilon) {
  return nn::LayerNormOp::create(builder, at(name), x, weight, bias,
                                 builder.getF64FloatAttr(epsilon))
      .getResult();
}

Value GraphBuilder::rmsNorm(StringRef name, Value x, Value weight, double epsilon) {
  return nn::RmsNormOp::create(builder, at(name), x, weight, builder.getF64FloatAttr(epsilon))
      .getResult();
}

Value GraphBuilder::rotary(StringRef name, Value x, const RotaryAngles &angles) {
  return nn::RotaryOp::create(builder, at(name), x,
                              builder.getDenseF64ArrayAttr(angles.frequencies),
                              builder.getF64FloatAttr(angles.factor), UnitAttr())
      .getResult();
}

Value GraphBuilder::activate(StringRef name, Value x, training::Activation activation) {
  Location loc = at(name);
  auto gelu = [&](nn::GeluKind kind) -> Value {
    return nn::GeluOp::create(builder, loc, nn::GeluKindAttr::get(builder.getContext(), kind), x)
        .getResult();
  };
  switch (activation) {
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

Value GraphBuilder::attention(StringRef name, Value q, Value k, Value v, double scale, bool causal,
                              double dropout) {
  return nn::AttentionOp::create(builder, at(name), q, k, v, builder.getF64FloatAttr(scale),
                                 causal ? builder.getUnitAttr() : UnitAttr(),
                                 dropout > 0 ? builder.getF64FloatAttr(dropout) : FloatAttr())
      .getOut();
}

Value GraphBuilder::dropout(StringRef name, Value x, double rate) {
  if (rate == 0)
    return x;
  return nn::DropoutOp::create(builder, at(name), x, builder.getF64FloatAttr(rate)).getResult();
}

} // namespace zero::models
