//===- zero-model.cpp - print a model's training graph ---------------------===//
//
// From a Hugging Face config.json, or from flags after a family's name, to level G as
// text (or bytecode). Exit codes: 0 done, 1 bad input or unwritable output, 2 wrong
// flags.
//
//===----------------------------------------------------------------------===//

#include "zero/Models/Gpt2.h"
#include "zero/Training/Sizes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace zero;
namespace cl = llvm::cl;

static cl::OptionCategory graphFlags("Graph"), gpt2Flags("Model, after the name gpt2");

// Numbers are taken as text, so that a wrong one is refused in the words of all of Zero's tools.
using Text = cl::opt<std::string>;

static Text model(cl::Positional, cl::desc("<config.json or gpt2>"), cl::cat(graphFlags));
static Text microBatch("micro-batch", cl::value_desc("rows"), cl::cat(graphFlags),
                       cl::desc("Rows per rank and micro-step (default: left open, as ?)"));
static Text seqLen("seq-len", cl::value_desc("tokens"), cl::cat(graphFlags),
                   cl::desc("Tokens of a sequence (default: the model's positions)"));
static Text
    output("o", cl::value_desc("file"), cl::init("-"), cl::cat(graphFlags),
           cl::desc("Where the graph goes; .mlirbc gives bytecode (default: standard output)"));
static cl::opt<bool> noDropout("no-dropout", cl::cat(graphFlags),
                               cl::desc("Take a file that asks for dropout, and train without"));

static Text layers("layers", cl::init("12"), cl::cat(gpt2Flags), cl::value_desc("n"),
                   cl::desc("Transformer blocks (default: 12)"));
static Text width("width", cl::init("768"), cl::cat(gpt2Flags), cl::value_desc("n"),
                  cl::desc("Width of the residual (default: 768)"));
static Text heads("heads", cl::init("12"), cl::cat(gpt2Flags), cl::value_desc("n"),
                  cl::desc("Attention heads; they divide the width (default: 12)"));
static Text vocab("vocab", cl::init("50257"), cl::cat(gpt2Flags), cl::value_desc("n"),
                  cl::desc("Tokens in the vocabulary (default: 50257)"));
static Text positions("positions", cl::init("1024"), cl::cat(gpt2Flags), cl::value_desc("n"),
                      cl::desc("Learned positions, the longest sequence (default: 1024)"));
static Text inner("inner", cl::cat(gpt2Flags), cl::value_desc("n"),
                  cl::desc("Inner width of the MLP (default: 4 times the width)"));
static Text activation("activation", cl::init("gelu_new"), cl::cat(gpt2Flags),
                       cl::value_desc("name"),
                       cl::desc("gelu_new (tanh), gelu (erf), relu or silu (default: gelu_new)"));
static Text initRange("init-range", cl::init("0.02"), cl::cat(gpt2Flags), cl::value_desc("x"),
                      cl::desc("Standard deviation of initial weights (default: 0.02)"));
static Text layerNormEps("layer-norm-eps", cl::init("1e-5"), cl::cat(gpt2Flags),
                         cl::value_desc("x"), cl::desc("Epsilon of layer norms (default: 1e-5)"));
static cl::opt<bool> untied("untied", cl::cat(gpt2Flags),
                            cl::desc("Give the head a weight of its own: lm_head.weight"));

static constexpr int kBadInput = 1, kWrongFlags = 2;

static int fail(int code, const llvm::Twine &message) {
  llvm::errs() << "zero-model: error: " << message << "\n";
  return code;
}

/// False, after the message of a flag that can't be read.
static bool refuse(llvm::Error error) {
  fail(kWrongFlags, llvm::toString(std::move(error)));
  return false;
}

/// Reads `flag` into `into`; false, after a message, where it is no integer in [1, 2^31).
static bool readCount(Text &flag, int64_t &into) {
  llvm::Expected<int64_t> value = training::parseInteger("--" + flag.ArgStr.str(), flag, 1,
                                                         std::numeric_limits<int32_t>::max());
  if (!value)
    return refuse(value.takeError());
  into = *value;
  return true;
}

static bool readReal(Text &flag, double &into, double minimum) {
  llvm::Expected<double> value = training::parseFloat("--" + flag.ArgStr.str(), flag, minimum);
  if (!value)
    return refuse(value.takeError());
  into = *value;
  return true;
}

static bool readActivation(training::Activation &into) {
  using enum training::Activation;
  static constexpr training::Activation kinds[] = {GeluTanh, GeluErf, Relu, Silu};
  llvm::Expected<size_t> choice =
      training::parseChoice("--activation", activation, {"gelu_new", "gelu", "relu", "silu"});
  if (!choice)
    return refuse(choice.takeError());
  into = kinds[*choice];
  return true;
}

/// The model that the flags describe; none after a message.
static std::optional<training::Gpt2Config> gpt2FromFlags() {
  training::Gpt2Config config;
  if (!readCount(layers, config.layers) || !readCount(width, config.width) ||
      !readCount(heads, config.heads) || !readCount(vocab, config.vocabSize) ||
      !readCount(positions, config.positions) ||
      !readReal(initRange, config.initializerRange, 0.0) ||
      !readReal(layerNormEps, config.layerNormEpsilon, std::numeric_limits<double>::min()) ||
      !readActivation(config.activation))
    return std::nullopt;
  config.innerWidth = 4 * config.width;
  if (inner.getNumOccurrences() && !readCount(inner, config.innerWidth))
    return std::nullopt;
  config.tieWordEmbeddings = !untied;
  return config;
}

/// The first flag of `category` that was given, or null.
static const cl::Option *givenFlag(const cl::OptionCategory &category) {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::is_contained(option->Categories, &category) && option->getNumOccurrences())
      return option;
  return nullptr;
}

static int write(mlir::ModuleOp module) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(output, &message);
  if (!file)
    return fail(kBadInput, message);
  if (llvm::StringRef(output).ends_with(".mlirbc")) {
    if (failed(mlir::writeBytecodeToFile(module, file->os())))
      return fail(kBadInput, "cannot write '" + output + "'");
  } else {
    module.print(file->os(), mlir::OpPrintingFlags().printNameLocAsPrefix());
  }
  file->os().flush();
  if (std::error_code error = file->os().error()) {
    file->os().clear_error();
    return fail(kBadInput, "cannot write '" + output + "': " + error.message());
  }
  file->keep();
  return 0;
}

static int run() {
  models::BatchShape batch;
  std::optional<training::Gpt2Config> config;
  if (model.empty())
    return fail(kWrongFlags, "expects a config.json or a family of models (" +
                                 llvm::join(training::supportedModelTypes(), ", ") + ")");
  if (llvm::is_contained(training::supportedModelTypes(), llvm::StringRef(model))) {
    if (noDropout)
      return fail(kWrongFlags, "expects --no-dropout only with a config.json");
    config = gpt2FromFlags();
    if (!config)
      return kWrongFlags;
  } else {
    if (const cl::Option *flag = givenFlag(gpt2Flags))
      return fail(kWrongFlags, "expects --" + flag->ArgStr +
                                   " only after a family's name, not with a config.json");
    llvm::Expected<training::Gpt2Config> read =
        training::readGpt2Config(model, {/*allowDropout=*/noDropout});
    if (!read) {
      llvm::errs() << llvm::toString(read.takeError()) << "\n";
      return kBadInput;
    }
    config = *read;
  }

  batch.seqLen = config->positions;
  if (seqLen.getNumOccurrences() && !readCount(seqLen, batch.seqLen))
    return kWrongFlags;
  int64_t rows = 0;
  if (microBatch.getNumOccurrences()) {
    if (!readCount(microBatch, rows))
      return kWrongFlags;
    batch.microBatch = rows;
  }

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      models::buildGpt2(context, *config, batch);
  if (!module)
    return fail(kWrongFlags, llvm::toString(module.takeError()));
  return write(**module);
}

/// LLVM's shared library brings hundreds of flags of its own, which would be taken and ignored.
static void dropForeignFlags() {
  llvm::SmallVector<cl::Option *> foreign;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::none_of(option->Categories, [](cl::OptionCategory *category) {
          return category == &graphFlags || category == &gpt2Flags ||
                 category->getName() == "Generic Options"; // --help, --version
        }))
      foreign.push_back(option);
  for (cl::Option *option : foreign)
    option->removeArgument();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  dropForeignFlags();
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Prints the training graph (level G) of a model: of a Hugging Face config.json, or of a\n"
          "family by name with its sizes as flags.\n\n"
          "  zero-model config.json --seq-len 128 -o model.mlir\n"
          "  zero-model gpt2 --layers 4 --width 128 --heads 4 --vocab 256 --positions 128\n",
          &stream)) {
    llvm::errs() << errors;
    return kWrongFlags;
  }
  return run();
}
