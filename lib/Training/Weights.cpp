//===- Weights.cpp - match a checkpoint against a model's parameters -----===//

#include "zero/Training/Weights.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace zero::training {
namespace {

constexpr llvm::StringLiteral kPrefix = "transformer.";

/// The tensor of that name, or the one whose name differs by the prefix alone.
const TensorInfo *findTensor(const Safetensors &file, llvm::StringRef name) {
  if (const TensorInfo *exact = file.find(name))
    return exact;
  llvm::StringRef bare = name;
  return bare.consume_front(kPrefix) ? file.find(bare) : file.find((kPrefix + name).str());
}

/// `h.N.attn.bias` and `h.N.attn.masked_bias`: the causal mask, saved as a buffer by old versions.
bool isMaskBuffer(llvm::StringRef name) {
  name.consume_front(kPrefix);
  if (!name.consume_front("h."))
    return false;
  llvm::StringRef layer = name.take_while(llvm::isDigit);
  name = name.drop_front(layer.size());
  return !layer.empty() && (name == ".attn.bias" || name == ".attn.masked_bias");
}

/// Some writers store the tied output matrix a second time.
bool isTiedCopy(const Safetensors &file, const TensorInfo &tensor) {
  if (tensor.name != "lm_head.weight")
    return false;
  const TensorInfo *embedding = findTensor(file, "transformer.wte.weight");
  return embedding && embedding->type == tensor.type && embedding->shape == tensor.shape &&
         file.bytes(*embedding) == file.bytes(tensor);
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
    if (used.contains(&tensor) || isMaskBuffer(tensor.name) || isTiedCopy(file, tensor))
      continue;
    if (tensor.name == "lm_head.weight" && findTensor(file, "transformer.wte.weight"))
      match.warnings.push_back(file.path().str() +
                               ": 'lm_head.weight' differs from 'wte.weight', and the "
                               "model ties them: the former is not read");
    else
      unread.push_back(tensor.name);
  }
  if (!unread.empty())
    match.warnings.push_back(file.path().str() + ": " + std::to_string(unread.size()) +
                             (unread.size() == 1 ? " tensor is" : " tensors are") +
                             " not in the model and not read: " + listed(unread));
  return std::move(match);
}

} // namespace zero::training
