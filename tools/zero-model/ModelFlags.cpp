//===- ModelFlags.cpp - a model from flags behind a family's name -----------===//

#include "ModelFlags.h"

#include "zero/Training/Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <limits>

using namespace zero;
namespace cl = llvm::cl;
using training::BertConfig;
using training::Gpt2Config;
using training::LlamaConfig;

static cl::OptionCategory sizeFlags("Model, after a family's name"),
    postFlags("Model, after gpt2 or bert"), gpt2Flags("Model, after gpt2"),
    llamaFlags("Model, after llama"), bertFlags("Model, after bert");

static Text layers("layers", cl::cat(sizeFlags), cl::value_desc("n"),
                   cl::desc("Transformer blocks (default: 12; llama 32)"));
static Text width("width", cl::cat(sizeFlags), cl::value_desc("n"),
                  cl::desc("Width of the residual (default: 768; llama 4096)"));
static Text heads("heads", cl::cat(sizeFlags), cl::value_desc("n"),
                  cl::desc("Attention heads; they divide the width (default: 12; llama 32)"));
static Text
    vocab("vocab", cl::cat(sizeFlags), cl::value_desc("n"),
          cl::desc("Tokens in the vocabulary (default: gpt2 50257, llama 32000, bert 30522)"));
static Text positions("positions", cl::cat(sizeFlags), cl::value_desc("n"),
                      cl::desc("Positions of the model, of gpt2 and bert the longest sequence\n"
                               "(default: gpt2 1024, llama 2048, bert 512)"));
static Text inner("inner", cl::cat(sizeFlags), cl::value_desc("n"),
                  cl::desc("Inner width of the MLP (default: 4 times the width; llama 11008)"));
static Text initRange("init-range", cl::cat(sizeFlags), cl::value_desc("x"),
                      cl::desc("Standard deviation of initial weights (default: 0.02)"));

static Text dropout("dropout", cl::cat(sizeFlags), cl::value_desc("rate"),
                    cl::desc("Rate of all dropout that the family has (default: 0)"));

static Text activation("activation", cl::cat(postFlags), cl::value_desc("name"),
                       cl::desc("gelu_new (tanh), gelu (erf), relu or silu (default: gpt2\n"
                                "gelu_new, bert gelu)"));
static Text layerNormEps("layer-norm-eps", cl::cat(postFlags), cl::value_desc("x"),
                         cl::desc("Epsilon of layer norms (default: gpt2 1e-5, bert 1e-12)"));

static cl::opt<bool> untied("untied", cl::cat(gpt2Flags),
                            cl::desc("Give the head a weight of its own: lm_head.weight"));

static Text keyValueHeads("kv-heads", cl::cat(llamaFlags), cl::value_desc("n"),
                          cl::desc("Heads of keys and values; they divide the heads (default: the "
                                   "heads)"));
static Text headWidth("head-dim", cl::cat(llamaFlags), cl::value_desc("n"),
                      cl::desc("Width of a head, an even number (default: width / heads)"));
static Text rmsNormEps("rms-norm-eps", cl::cat(llamaFlags), cl::value_desc("x"),
                       cl::desc("Epsilon of RMS norms (default: 1e-6)"));
static Text ropeTheta("rope-theta", cl::cat(llamaFlags), cl::value_desc("x"),
                      cl::desc("Base of rotary positions (default: 10000)"));
static cl::opt<bool> tied("tied", cl::cat(llamaFlags),
                          cl::desc("Let the head be the table of embeddings"));
static cl::opt<bool> attentionBias("attention-bias", cl::cat(llamaFlags),
                                   cl::desc("Give attention's projections biases"));
static cl::opt<bool> mlpBias("mlp-bias", cl::cat(llamaFlags),
                             cl::desc("Give the MLP's projections biases"));

static Text tokenTypes("token-types", cl::cat(bertFlags), cl::value_desc("n"),
                       cl::desc("Types of tokens; all tokens are of the first (default: 2)"));

bool zero::isModelCategory(const cl::OptionCategory *category) {
  return llvm::is_contained({&sizeFlags, &postFlags, &gpt2Flags, &llamaFlags, &bertFlags},
                            category);
}

/// The first flag that was given and has a category that fits, or null.
template <typename Fits> static const cl::Option *givenFlag(Fits fits) {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::any_of(option->Categories, fits) && option->getNumOccurrences())
      return option;
  return nullptr;
}

const cl::Option *zero::givenModelFlag() { return givenFlag(isModelCategory); }

llvm::Error zero::readCount(const Text &flag, int64_t &into) {
  if (!flag.getNumOccurrences())
    return llvm::Error::success();
  return training::parseInteger("--" + flag.ArgStr.str(), flag, 1,
                                std::numeric_limits<int32_t>::max())
      .moveInto(into);
}

static llvm::Error readReal(const Text &flag, double &into, double minimum) {
  if (!flag.getNumOccurrences())
    return llvm::Error::success();
  return training::parseFloat("--" + flag.ArgStr.str(), flag, minimum).moveInto(into);
}

/// The rate of all kinds of dropout.
static llvm::Error readDropout(std::initializer_list<double *> rates) {
  double rate = 0.0;
  if (llvm::Error error = readReal(dropout, rate, 0.0))
    return error;
  if (rate >= 1.0)
    return llvm::createStringError("expects --dropout less than 1, got " + dropout);
  for (double *into : rates)
    *into = rate;
  return llvm::Error::success();
}

static constexpr double kPositive = std::numeric_limits<double>::min();

static llvm::Error readActivation(training::Activation &into) {
  using enum training::Activation;
  static constexpr training::Activation kinds[] = {GeluTanh, GeluErf, Relu, Silu};
  if (!activation.getNumOccurrences())
    return llvm::Error::success();
  llvm::Expected<size_t> choice =
      training::parseChoice("--activation", activation, {"gelu_new", "gelu", "relu", "silu"});
  if (!choice)
    return choice.takeError();
  into = kinds[*choice];
  return llvm::Error::success();
}

/// The first error, or success.
static llvm::Error first(std::initializer_list<llvm::function_ref<llvm::Error()>> reads) {
  for (llvm::function_ref<llvm::Error()> read : reads)
    if (llvm::Error error = read())
      return error;
  return llvm::Error::success();
}

/// What all families have.
template <typename Config> static llvm::Error readSizes(Config &config) {
  return first({[&] { return readCount(layers, config.layers); },
                [&] { return readCount(width, config.width); },
                [&] { return readCount(heads, config.heads); },
                [&] { return readCount(vocab, config.vocabSize); },
                [&] { return readCount(positions, config.positions); },
                [&] { return readReal(initRange, config.initializerRange, 0.0); }});
}

/// What the families with layer norms have.
template <typename Config> static llvm::Error readPost(Config &config) {
  config.innerWidth = 4 * config.width;
  return first({[&] { return readCount(inner, config.innerWidth); },
                [&] { return readReal(layerNormEps, config.layerNormEpsilon, kPositive); },
                [&] { return readActivation(config.activation); }});
}

static llvm::Error read(Gpt2Config &config) {
  config.tieWordEmbeddings = !untied;
  return first({[&] { return readSizes(config); }, [&] { return readPost(config); },
                [&] {
                  return readDropout({&config.embeddingDropout, &config.attentionDropout,
                                      &config.residualDropout});
                }});
}

static llvm::Error read(BertConfig &config) {
  return first({[&] { return readSizes(config); }, [&] { return readPost(config); },
                [&] { return readCount(tokenTypes, config.tokenTypes); },
                [&] { return readDropout({&config.hiddenDropout, &config.attentionDropout}); }});
}

static llvm::Error read(LlamaConfig &config) {
  if (llvm::Error error = readSizes(config))
    return error;
  if (!headWidth.getNumOccurrences() && config.width % config.heads != 0)
    return llvm::createStringError("expects heads to divide the width where there is no "
                                   "--head-dim, got " +
                                   std::to_string(config.heads) + " heads and width " +
                                   std::to_string(config.width));
  config.headWidth = config.width / config.heads;
  config.keyValueHeads = config.heads;
  config.rope.originalPositions = config.positions;
  config.tieWordEmbeddings = tied;
  config.attentionBias = attentionBias;
  config.mlpBias = mlpBias;
  return first({[&] { return readCount(inner, config.innerWidth); },
                [&] { return readCount(keyValueHeads, config.keyValueHeads); },
                [&] { return readCount(headWidth, config.headWidth); },
                [&] { return readReal(rmsNormEps, config.rmsNormEpsilon, kPositive); },
                [&] { return readReal(ropeTheta, config.rope.base, kPositive); },
                [&] { return readDropout({&config.attentionDropout}); }});
}

template <typename Config>
static llvm::Expected<training::ModelConfig>
readFamily(llvm::StringRef family, std::initializer_list<cl::OptionCategory *> categories) {
  const cl::Option *other = givenFlag([&](const cl::OptionCategory *category) {
    return isModelCategory(category) && !llvm::is_contained(categories, category);
  });
  if (other)
    return llvm::createStringError("expects flags of a " + family.str() +
                                   " after its name, got --" + other->ArgStr.str());
  Config config;
  if (llvm::Error error = read(config))
    return std::move(error);
  return config;
}

llvm::Expected<training::ModelConfig> zero::modelFromFlags(llvm::StringRef family) {
  if (family == "llama")
    return readFamily<LlamaConfig>(family, {&sizeFlags, &llamaFlags});
  if (family == "bert")
    return readFamily<BertConfig>(family, {&sizeFlags, &postFlags, &bertFlags});
  return readFamily<Gpt2Config>(family, {&sizeFlags, &postFlags, &gpt2Flags});
}
