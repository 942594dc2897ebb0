//===- HfConfig.cpp - Hugging Face model configurations --------------------===//

#include "zero/Training/HfConfig.h"

#include "Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace zero::training {
namespace {

constexpr llvm::StringRef kModelTypes[] = {"gpt2"};

/// Keys that change neither the loss nor its gradient: metadata, tokens with a meaning to
/// tokenizers, outputs, and settings of text generation.
constexpr llvm::StringLiteral kHarmless[] = {"architectures",
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
                                             "is_decoder",
                                             "label2id",
                                             "length_penalty",
                                             "max_length",
                                             "min_length",
                                             "model_type",
                                             "n_ctx",
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
                                             "pad_token_id",
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

/// Reads keys one by one and remembers the first fault, so that the reading below is a list.
class Reader {
public:
  Reader(llvm::StringRef text, llvm::StringRef file, const JsonDocument &document)
      : text(text), file(file), document(document), object(*document.root.getAsObject()) {}

  /// The value of `key` or of its alias (Hugging Face takes both); null where absent or `null`.
  const llvm::json::Value *get(llvm::StringRef key, llvm::StringRef alias = "") {
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

  void count(int64_t &into, llvm::StringRef key, llvm::StringRef alias = "") {
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

  void real(double &into, llvm::StringRef key, bool zeroAllowed) {
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

  void flag(bool &into, llvm::StringRef key) {
    const llvm::json::Value *value = get(key);
    if (!value)
      return;
    if (std::optional<bool> state = value->getAsBoolean())
      into = *state;
    else
      fail(key, "expects '" + key + "' to be true or false, got " + print(*value));
  }

  /// A switch that may only be off.
  void refuse(llvm::StringRef key) {
    bool on = false;
    flag(on, key);
    if (on)
      fail(key, "expects '" + key + "' to be false: it is not supported");
  }

  void unknownKeys() {
    for (llvm::StringLiteral key : kHarmless)
      known.insert(key);
    // In the order of the file, so that the first unknown key is the one that is named.
    llvm::StringRef first;
    for (const auto &entry : document.keys) {
      llvm::StringRef key = entry.first();
      if (known.contains(key) || key.starts_with("_") || key.starts_with("summary_"))
        continue;
      if (first.empty() || entry.second < document.keys.lookup(first))
        first = key;
    }
    if (!first.empty())
      fail(first, "expects keys of a GPT-2 configuration, got " + quoted(first) +
                      ", which may change the model and is not known here");
  }

  /// Keeps the first fault only.
  void fail(llvm::StringRef key, const llvm::Twine &message) {
    if (failed)
      return;
    failed = true;
    auto at = document.keys.find(key);
    where = at == document.keys.end() ? Location{file.str()} : locationAt(text, file, at->second);
    what = message.str();
  }

  llvm::Error error() { return failed ? inputError(where, what) : llvm::Error::success(); }

  /// Numbers as people write them, where llvm::json has 17 digits.
  static std::string print(const llvm::json::Value &value) {
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

private:
  llvm::StringRef text, file;
  const JsonDocument &document;
  const llvm::json::Object &object;
  llvm::StringSet<> known;
  bool failed = false;
  Location where;
  std::string what;
};

void readModelType(Reader &reader) {
  const llvm::json::Value *value = reader.get("model_type");
  std::optional<llvm::StringRef> type = value ? value->getAsString() : std::nullopt;
  if (!type || !llvm::is_contained(kModelTypes, *type))
    reader.fail("model_type", "expects a 'model_type' that is supported (" +
                                  llvm::join(supportedModelTypes(), ", ") + "), got " +
                                  (type    ? quoted(*type)
                                   : value ? Reader::print(*value)
                                           : "none"));
}

void readActivation(Reader &reader, Activation &into) {
  const llvm::json::Value *value = reader.get("activation_function");
  if (!value)
    return;
  std::optional<llvm::StringRef> text = value->getAsString();
  auto found = llvm::StringSwitch<std::optional<Activation>>(text.value_or(""))
                   .Cases({"gelu_new", "gelu_pytorch_tanh", "gelu_fast"}, Activation::GeluTanh)
                   .Case("gelu", Activation::GeluErf)
                   .Case("relu", Activation::Relu)
                   .Cases({"silu", "swish"}, Activation::Silu)
                   .Default(std::nullopt);
  if (found)
    into = *found;
  else
    reader.fail("activation_function",
                "expects 'activation_function' to be one of gelu_new, gelu, relu, silu, got " +
                    Reader::print(*value));
}

void readDropout(Reader &reader, llvm::StringRef key, bool allowed) {
  // Absent and `null` part ways in Hugging Face: the one is 0.1, the other breaks the model.
  const llvm::json::Value *value = reader.get(key);
  std::optional<double> rate = value ? value->getAsNumber() : 0.1;
  if (!rate || *rate < 0 || *rate > 1) {
    reader.fail(key, "expects '" + key + "' to be between 0 and 1, got " + Reader::print(*value));
    return;
  }
  if (*rate == 0 || allowed)
    return;
  std::string got = value ? Reader::print(*value) : "no such key, which stands for 0.1";
  reader.fail(key, "expects '" + key +
                       "' to be 0, since there is no dropout in this version, got " + got +
                       "; --no-dropout trains without");
}

} // namespace

double Gpt2Config::attentionScale(int64_t layer) const {
  double scale = scaleAttention ? 1.0 / std::sqrt(static_cast<double>(headWidth())) : 1.0;
  return scaleAttentionByInverseLayer ? scale / static_cast<double>(layer + 1) : scale;
}

llvm::ArrayRef<llvm::StringRef> supportedModelTypes() { return kModelTypes; }

llvm::Expected<Gpt2Config> readGpt2Config(llvm::StringRef path, const HfConfigOptions &options) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return inputError(path, "cannot read the file: " + buffer.getError().message());
  return parseGpt2Config((*buffer)->getBuffer(), path, options);
}

llvm::Expected<Gpt2Config> parseGpt2Config(llvm::StringRef text, llvm::StringRef file,
                                           const HfConfigOptions &options) {
  llvm::Expected<JsonDocument> document = parseJson(text, file);
  if (!document)
    return document.takeError();
  if (!document->root.getAsObject())
    return inputError(locationAt(text, file, 0), "expects a JSON object");

  Reader reader(text, file, *document);
  Gpt2Config config;
  readModelType(reader);
  reader.count(config.vocabSize, "vocab_size");
  reader.count(config.positions, "n_positions", "max_position_embeddings");
  reader.count(config.width, "n_embd", "hidden_size");
  reader.count(config.layers, "n_layer", "num_hidden_layers");
  reader.count(config.heads, "n_head", "num_attention_heads");
  config.innerWidth = 4 * config.width;
  reader.count(config.innerWidth, "n_inner");
  readActivation(reader, config.activation);
  reader.real(config.layerNormEpsilon, "layer_norm_epsilon", /*zeroAllowed=*/false);
  reader.real(config.initializerRange, "initializer_range", /*zeroAllowed=*/true);
  reader.flag(config.tieWordEmbeddings, "tie_word_embeddings");
  reader.flag(config.scaleAttention, "scale_attn_weights");
  reader.flag(config.scaleAttentionByInverseLayer, "scale_attn_by_inverse_layer_idx");
  for (llvm::StringRef key : {"reorder_and_upcast_attn", "add_cross_attention",
                              "is_encoder_decoder", "tie_encoder_decoder"})
    reader.refuse(key);
  if (const llvm::json::Value *pruned = reader.get("pruned_heads"))
    if (!pruned->getAsObject() || !pruned->getAsObject()->empty())
      reader.fail("pruned_heads", "expects 'pruned_heads' to be empty: it is not supported");
  if (reader.get("cross_attention_hidden_size"))
    reader.fail("cross_attention_hidden_size",
                "expects 'cross_attention_hidden_size' to be null: it is not supported");
  if (config.width % config.heads != 0)
    reader.fail("n_head", "expects 'n_head' to divide 'n_embd', got " + llvm::Twine(config.heads) +
                              " and " + llvm::Twine(config.width));
  // A wrong key matters more than dropout, which a flag gets past.
  reader.get("resid_pdrop"), reader.get("embd_pdrop"), reader.get("attn_pdrop");
  reader.unknownKeys();
  for (llvm::StringRef key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"})
    readDropout(reader, key, options.allowDropout);
  if (llvm::Error error = reader.error())
    return std::move(error);
  return config;
}

} // namespace zero::training
