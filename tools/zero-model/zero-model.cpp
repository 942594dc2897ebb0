//===- zero-model.cpp - print a model's training graph ---------------------===//
//
// From a Hugging Face config.json, or from flags after a family's name, to level G as
// text (or bytecode). Exit codes: 0 done, 1 bad input or unwritable output, 2 wrong
// flags.
//
//===----------------------------------------------------------------------===//

#include "../common/OwnFlags.h"
#include "ModelFlags.h"

#include "zero/Models/Models.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace zero;
namespace cl = llvm::cl;

static cl::OptionCategory graphFlags("Graph");

static Text model(cl::Positional, cl::desc("<config.json, gpt2, llama or bert>"),
                  cl::cat(graphFlags));
static Text microBatch("micro-batch", cl::value_desc("rows"), cl::cat(graphFlags),
                       cl::desc("Rows per rank and micro-step (default: left open, as ?)"));
static Text seqLen("seq-len", cl::value_desc("tokens"), cl::cat(graphFlags),
                   cl::desc("Tokens of a sequence (default: the model's positions)"));
static Text
    output("o", cl::value_desc("file"), cl::init("-"), cl::cat(graphFlags),
           cl::desc("Where the graph goes; .mlirbc gives bytecode (default: standard output)"));
static cl::opt<bool> noDropout("no-dropout", cl::cat(graphFlags),
                               cl::desc("Leave out the dropout that a file asks for"));

static constexpr int kBadInput = 1, kWrongFlags = 2;

static int fail(int code, const llvm::Twine &message) {
  llvm::errs() << "zero-model: error: " << message << "\n";
  return code;
}
static int refuse(llvm::Error error) { return fail(kWrongFlags, llvm::toString(std::move(error))); }

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
  training::ModelConfig config;
  if (model.empty())
    return fail(kWrongFlags, "expects a config.json or a family of models (" +
                                 llvm::join(training::supportedModelTypes(), ", ") + ")");
  if (llvm::is_contained(training::supportedModelTypes(), llvm::StringRef(model))) {
    if (noDropout)
      return fail(kWrongFlags, "expects --no-dropout only with a config.json");
    if (llvm::Error error = modelFromFlags(model).moveInto(config))
      return refuse(std::move(error));
  } else {
    if (const cl::Option *flag = givenModelFlag())
      return fail(kWrongFlags, "expects --" + flag->ArgStr +
                                   " only after a family's name, not with a config.json");
    auto read = training::readModelConfig(model, {/*noDropout=*/noDropout});
    if (!read) {
      llvm::errs() << llvm::toString(read.takeError()) << "\n";
      return kBadInput;
    }
    config = *read;
  }

  models::BatchShape batch;
  batch.seqLen = models::positionsOf(config);
  if (llvm::Error error = readCount(seqLen, batch.seqLen))
    return refuse(std::move(error));
  if (microBatch.getNumOccurrences())
    if (llvm::Error error = readCount(microBatch, batch.microBatch.emplace()))
      return refuse(std::move(error));

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = models::buildModel(context, config, batch);
  if (!module)
    return refuse(module.takeError());
  return write(**module);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  tools::dropForeignFlags([](const cl::OptionCategory *category) {
    return category == &graphFlags || isModelCategory(category);
  });
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
