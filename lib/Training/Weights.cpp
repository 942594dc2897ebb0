//===- Weights.cpp - match a checkpoint against a model's parameters -----===//

#include "zero/Training/Weights.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace zero::training {
namespace {

constexpr llvm::StringLiteral kPrefix = "transformer.";

/// A weight that some writers store a second time, and the name that the copy has.
struct Tied {
  llvm::StringLiteral name, copy;
};
constexpr Tied kTied[] = {
    {"transformer.wte.weight", "lm_head.weight"},
    {"model.embed_tokens.weight", "lm_head.weight"},
    {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
    {"cls.predictions.bias", "cls.predictions.decoder.bias"},
};

/// The tensor of that name, or the one that has it under another of its names.
const TensorInfo *findTensor(const Safetensors &file, llvm::StringRef name) {
  if (const TensorInfo *exact = file.find(name))
    return exact;
  if (name == "cls.predictions.bias")
    return file.find("cls.predictions.decoder.bias");
  llvm::StringRef bare = name;
  if (bare.consume_back("LayerNorm.weight"))
    return file.find((bare + "LayerNorm.gamma").str());
  if (bare.consume_back("LayerNorm.bias"))
    return file.find((bare + "LayerNorm.beta").str());
  return bare.consume_front(kPrefix) ? file.find(bare) : file.find((kPrefix + name).str());
}

/// Constants of a model that old versions saved among its weights: `h.N.attn.bias` and
/// `h.N.attn.masked_bias` (the causal mask), `….position_ids`, `….rotary_emb.inv_freq`.
bool isBuffer(llvm::StringRef name) {
  if (name == "bert.embeddings.position_ids" || name.ends_with(".rotary_emb.inv_freq"))
    return true;
  name.consume_front(kPrefix);
  if (!name.consume_front("h."))
    return false;
  llvm::StringRef layer = name.take_while(llvm::isDigit);
  name = name.drop_front(layer.size());
  return !layer.empty() && (name == ".attn.bias" || name == ".attn.masked_bias");
}

/// The weight that the tensor would be a copy of, or null.
const TensorInfo *tiedTo(const Safetensors &file, const TensorInfo &tensor) {
  for (const Tied &tied : kTied)
    if (tensor.name == tied.copy)
      if (const TensorInfo *weight = findTensor(file, tied.name))
        return weight;
  return nullptr;
}

bool isCopy(const Safetensors &file, const TensorInfo &tensor, const TensorInfo &of) {
  return of.type == tensor.type && of.shape == tensor.shape && file.bytes(of) == file.bytes(tensor);
}

/// `'a', 'b' and 3 more`.
std::string listed(llvm::ArrayRef<std::string> names) {
  constexpr size_t kShown = 8;
  std::string text;
  for (auto [i, name] : llvm::enumerate(names.take_front(kShown)))
    text += (i ? ", " : "") + quoted(name);
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

} // namespace

llvm::Expected<WeightMatch> matchWeights(const Safetensors &file,
                                         llvm::ArrayRef<ParameterSpec> parameters) {
  WeightMatch match;
  std::vector<std::string> missing, unread;
  llvm::DenseSet<const TensorInfo *> used;
  llvm::Error errors = llvm::Error::success();
  auto report = [&](const llvm::Twine &message) {
    errors = llvm::joinErrors(std::move(errors), inputError(file.path(), message));
  };
  for (const ParameterSpec &parameter : parameters) {
    const TensorInfo *tensor = findTensor(file, parameter.name);
    match.tensors.push_back(tensor);
    if (!tensor) {
      missing.push_back(parameter.name);
      continue;
    }
    used.insert(tensor);
    if (llvm::ArrayRef(tensor->shape) != llvm::ArrayRef(parameter.shape))
      report("expects tensor " + quoted(tensor->name) + " to have shape " +
             shapeText(parameter.shape) + ", got " + shapeText(tensor->shape));
    else if (!isFloat(tensor->type))
      report("expects tensor " + quoted(tensor->name) + " to hold floating-point numbers, got " +
             name(tensor->type));
  }
  if (!missing.empty())
    report("expects a tensor for each of the model's " + llvm::Twine(parameters.size()) +
           " parameters, and lacks " + llvm::Twine(missing.size()) + ": " + listed(missing));
  if (errors)
    return std::move(errors);

  for (const TensorInfo &tensor : file.tensors()) {
    if (used.contains(&tensor) || isBuffer(tensor.name))
      continue;
    const TensorInfo *of = tiedTo(file, tensor);
    if (!of)
      unread.push_back(tensor.name);
    else if (!isCopy(file, tensor, *of))
      match.warnings.push_back(file.path().str() + ": " + quoted(tensor.name) + " differs from " +
                               quoted(of->name) +
                               ", and the model ties them: the former is not read");
  }
  if (!unread.empty())
    match.warnings.push_back(file.path().str() + ": " + std::to_string(unread.size()) +
                             (unread.size() == 1 ? " tensor is" : " tensors are") +
                             " not in the model and not read: " + listed(unread));
  return std::move(match);
}

} // namespace zero::training
