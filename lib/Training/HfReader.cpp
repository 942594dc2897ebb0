//===- HfReader.cpp - keys of a configuration, one by one ------------------===//

#include "HfReader.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace zero::training {

/// Keys that change neither the loss nor its gradient: metadata, tokens with a meaning to
/// tokenizers, outputs, and settings of text generation.
static constexpr llvm::StringLiteral kHarmless[] = {"architectures",
                                                    "attn_implementation",
                                                    "begin_suppress_tokens",
                                                    "bad_words_ids",
                                                    "bos_token_id",
                                                    "chunk_size_feed_forward",
                                                    "decoder_start_token_id",
                                                    "diversity_penalty",
                                                    "do_sample",
                                                    "dtype",
                                                    "early_stopping",
                                                    "encoder_no_repeat_ngram_size",
                                                    "eos_token_id",
                                                    "exponential_decay_length_penalty",
                                                    "finetuning_task",
                                                    "forced_bos_token_id",
                                                    "forced_eos_token_id",
                                                    "gradient_checkpointing",
                                                    "id2label",
                                                    "label2id",
                                                    "length_penalty",
                                                    "max_length",
                                                    "min_length",
                                                    "model_type",
                                                    "name_or_path",
                                                    "no_repeat_ngram_size",
                                                    "num_beam_groups",
                                                    "num_beams",
                                                    "num_labels",
                                                    "num_return_sequences",
                                                    "output_attentions",
                                                    "output_hidden_states",
                                                    "output_past",
                                                    "output_scores",
                                                    "prefix",
                                                    "problem_type",
                                                    "remove_invalid_values",
                                                    "repetition_penalty",
                                                    "return_dict",
                                                    "return_dict_in_generate",
                                                    "sep_token_id",
                                                    "suppress_tokens",
                                                    "task_specific_params",
                                                    "temperature",
                                                    "tf_legacy_loss",
                                                    "tokenizer_class",
                                                    "top_k",
                                                    "top_p",
                                                    "torch_dtype",
                                                    "torchscript",
                                                    "transformers_version",
                                                    "typical_p",
                                                    "unk_token_id",
                                                    "use_bfloat16",
                                                    "use_cache"};

HfReader::HfReader(llvm::StringRef text, llvm::StringRef file, const JsonDocument &document)
    : text(text), file(file), document(document), object(*document.root.getAsObject()) {
  for (llvm::StringLiteral key : kHarmless)
    known.insert(key);
}

const llvm::json::Value *HfReader::get(llvm::StringRef key, llvm::StringRef alias) {
  known.insert(key);
  const llvm::json::Value *value = object.get(key);
  if (!alias.empty()) {
    known.insert(alias);
    const llvm::json::Value *other = object.get(alias);
    if (value && other && *value != *other)
      fail(alias, "expects '" + alias + "' to agree with '" + key + "', its other name");
    value = value ? value : other;
  }
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

void HfReader::count(int64_t &into, llvm::StringRef key, llvm::StringRef alias) {
  const llvm::json::Value *value = get(key, alias);
  if (!value)
    return;
  // Products of two such sizes fit in 64 bits.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 1 || *number > kMost)
    fail(object.get(key) ? key : alias, "expects '" + key + "' to be an integer between 1 and " +
                                            llvm::Twine(kMost) + ", got " + print(*value));
  else
    into = *number;
}

void HfReader::real(double &into, llvm::StringRef key, bool zeroAllowed) {
  const llvm::json::Value *value = get(key);
  if (!value)
    return;
  std::optional<double> number = value->getAsNumber();
  if (!number || !std::isfinite(*number) || *number < 0 || (*number == 0 && !zeroAllowed))
    fail(key, "expects '" + key + "' to be a " + (zeroAllowed ? "non-negative" : "positive") +
                  " number, got " + print(*value));
  else
    into = *number;
}

void HfReader::flag(bool &into, llvm::StringRef key) {
  const llvm::json::Value *value = get(key);
  if (!value)
    return;
  if (std::optional<bool> state = value->getAsBoolean())
    into = *state;
  else
    fail(key, "expects '" + key + "' to be true or false, got " + print(*value));
}

void HfReader::activation(Activation &into, llvm::StringRef key) {
  const llvm::json::Value *value = get(key);
  if (!value)
    return;
  std::optional<llvm::StringRef> name = value->getAsString();
  auto found = llvm::StringSwitch<std::optional<Activation>>(name.value_or(""))
                   .Cases({"gelu_new", "gelu_pytorch_tanh", "gelu_fast"}, Activation::GeluTanh)
                   .Case("gelu", Activation::GeluErf)
                   .Case("relu", Activation::Relu)
                   .Cases({"silu", "swish"}, Activation::Silu)
                   .Default(std::nullopt);
  if (found)
    into = *found;
  else
    fail(key,
         "expects '" + key + "' to be one of gelu_new, gelu, relu, silu, got " + print(*value));
}

void HfReader::token(std::optional<int64_t> &into, llvm::StringRef key, int64_t vocabSize) {
  if (!has(key))
    return get(key), void();
  into.reset();
  const llvm::json::Value *value = get(key);
  if (!value)
    return;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < -vocabSize || *number >= vocabSize)
    fail(key, "expects '" + key + "' to be a token of the " + llvm::Twine(vocabSize) +
                  " of the vocabulary, got " + print(*value));
  else
    into = *number < 0 ? *number + vocabSize : *number;
}

void HfReader::dropout(double &into, llvm::StringRef key, double otherwise, bool off) {
  // Absent and `null` part ways in Hugging Face: the one is the default, the other breaks the
  // model.
  const llvm::json::Value *value = get(key);
  if (has(key) && !value) {
    fail(key, "expects '" + key + "' to be at least 0 and less than 1, got null");
    return;
  }
  std::optional<double> rate = value ? value->getAsNumber() : otherwise;
  if (!rate || !(*rate >= 0 && *rate < 1))
    fail(key, "expects '" + key + "' to be at least 0 and less than 1, got " + print(*value));
  else
    into = off ? 0.0 : *rate;
}

void HfReader::refuse(llvm::StringRef key) {
  bool on = false;
  flag(on, key);
  if (on)
    fail(key, "expects '" + key + "' to be false: it is not supported");
}

void HfReader::refuseUnlessNull(llvm::StringRef key) {
  if (get(key))
    fail(key, "expects '" + key + "' to be null: it is not supported");
}

void HfReader::refuseUnlessEmpty(llvm::StringRef key) {
  const llvm::json::Value *value = get(key);
  if (value && (!value->getAsObject() || !value->getAsObject()->empty()))
    fail(key, "expects '" + key + "' to be empty: it is not supported");
}

void HfReader::refuseCommonSwitches() {
  for (llvm::StringRef key : {"add_cross_attention", "is_encoder_decoder", "tie_encoder_decoder"})
    refuse(key);
  refuseUnlessEmpty("pruned_heads");
  refuseUnlessNull("cross_attention_hidden_size");
}

void HfReader::ignore(llvm::ArrayRef<llvm::StringRef> keys) {
  for (llvm::StringRef key : keys)
    known.insert(key);
}

void HfReader::unknownKeys(llvm::StringRef family) {
  // In the order of the file, so that the first unknown key is the one that is named.
  llvm::StringRef first;
  for (const auto &entry : document.keys) {
    llvm::StringRef key = entry.first();
    // What tools note for themselves begins with their name.
    if (known.contains(key) || key.starts_with("_") || key.starts_with("transformers.js") ||
        key.starts_with("unsloth_"))
      continue;
    if (first.empty() || entry.second < document.keys.lookup(first))
      first = key;
  }
  if (!first.empty())
    fail(first, "expects keys of a " + family + " configuration, got " + quoted(first) +
                    ", which may change the model and is not known here");
}

void HfReader::fail(llvm::StringRef key, const llvm::Twine &message) {
  if (failed)
    return;
  failed = true;
  auto at = document.keys.find(key);
  where = at == document.keys.end() ? Location{file.str()} : locationAt(text, file, at->second);
  what = message.str();
}

llvm::Error HfReader::error() { return failed ? inputError(where, what) : llvm::Error::success(); }

std::string HfReader::print(const llvm::json::Value &value) {
  std::string printed;
  if (std::optional<double> number = value.getAsNumber(); number && !value.getAsInteger()) {
    char digits[32];
    printed.assign(digits, std::to_chars(digits, std::end(digits), *number).ptr);
  } else {
    llvm::raw_string_ostream(printed) << value;
  }
  constexpr size_t kLongest = 60;
  return printed.size() <= kLongest ? printed : printed.substr(0, kLongest) + "…";
}

} // namespace zero::training
