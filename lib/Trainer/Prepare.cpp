//===- Prepare.cpp - from a model file to a program --------------------------===//

#include "zero/Trainer/Trainer.h"

#include "PlanBudget.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Models/Models.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace mlir;

namespace zero {

using training::inputError;

llvm::Error compilerError(Compiler &compiler) {
  std::string text = compiler.takeDiagnostics();
  return llvm::createStringError(llvm::StringRef(text).rtrim('\n'));
}

std::vector<std::string> takeLines(Compiler &compiler) {
  std::vector<std::string> lines;
  std::string text = compiler.takeDiagnostics();
  for (llvm::StringRef line : llvm::split(llvm::StringRef(text).rtrim('\n'), '\n'))
    if (!line.empty())
      lines.push_back(line.str());
  return lines;
}

namespace {

/// Lines that begin with their severity have no place in a file; they get the model's name.
std::string withPath(llvm::StringRef diagnostics, llvm::StringRef path) {
  std::string text;
  for (llvm::StringRef line : llvm::split(diagnostics.rtrim('\n'), '\n')) {
    text += text.empty() ? "" : "\n";
    if (line.starts_with("error: ") || line.starts_with("warning: "))
      text += (path + ": ").str();
    text += line;
  }
  return text;
}

llvm::Expected<OwningOpRef<ModuleOp>> buildModel(Compiler &compiler, const ModelOptions &options) {
  llvm::Expected<training::ModelConfig> config =
      training::readModelConfig(options.path, {options.noDropout});
  if (!config)
    return config.takeError();
  models::BatchShape batch;
  batch.seqLen = options.seqLen ? options.seqLen : models::positionsOf(*config);
  if (options.microBatch)
    batch.microBatch = options.microBatch;
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      models::buildModel(compiler.context(), *config, batch);
  if (!module)
    return inputError(options.path, llvm::toString(module.takeError()));
  return module;
}

/// Brings the module to `level`. One that is there already, or further, is still verified.
llvm::Error raise(Compiler &compiler, ModuleOp module, CompileOptions options, Level level) {
  options.until = std::max(level, levelOf(module));
  if (compiler.run(module, options))
    return llvm::Error::success();
  return compilerError(compiler);
}

} // namespace

llvm::Expected<OwningOpRef<ModuleOp>> readModel(Compiler &compiler, const ModelOptions &options) {
  llvm::StringRef extension = llvm::sys::path::extension(options.path);
  if (extension == ".json")
    return buildModel(compiler, options);
  if (extension != ".mlir" && extension != ".mlirbc")
    return inputError(
        options.path,
        "expects a model named .mlir, .mlirbc or .json (a Hugging Face config), got " +
            (extension.empty() ? "no extension" : training::quoted(extension)));
  if (options.seqLen || options.noDropout)
    return inputError(options.path, "expects --seq-len and --no-dropout only with a config.json");
  OwningOpRef<ModuleOp> module = compiler.parseFile(options.path);
  if (!module)
    return llvm::createStringError(withPath(compiler.takeDiagnostics(), options.path));
  return std::move(module);
}

llvm::Expected<Report> planModule(Compiler &compiler, ModuleOp module,
                                  const TrainOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  auto make = [&]() -> llvm::Expected<Report> {
    if (levelOf(module) < Level::Sharded && options.memoryBudget)
      return planBudget(compiler, module, options.compile, *options.memoryBudget);
    if (llvm::Error error = raise(compiler, module, options.compile, Level::Arena))
      return std::move(error);
    FailureOr<Report> report = makeReport(module);
    if (failed(report))
      return compilerError(compiler);
    return std::move(*report);
  };
  llvm::Expected<Report> report = make();
  if (!report)
    return report.takeError();
  report->compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (options.memoryBudget)
    if (llvm::Error error = checkBudget(*report, *options.memoryBudget))
      return std::move(error);
  return std::move(*report);
}

bool trainsInF16(ModuleOp module, const CompileOptions &options) {
  if (levelOf(module) == Level::Graph && options.dtype == "f16")
    return true;
  return llvm::any_of(module.getOps<nn::ParamOp>(), [](nn::ParamOp param) {
    return param.getTensorType().getElementType().isF16();
  });
}

llvm::Error lowerModule(Compiler &compiler, ModuleOp module, const TrainOptions &options) {
  return raise(compiler, module, options.compile, Level::Executable);
}

} // namespace zero
