//===- Compiler.cpp - parse, compile, load ------------------------------------===//

#include "zero/Compiler/Compiler.h"

#include "CodeGen.h"
#include "zero/Compiler/StepTable.h"
#include "zero/Passes/ForwardFunction.h"
#include "zero/Passes/Passes.h"
#include "zero/Passes/Register.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <charconv>
#include <chrono>
#include <mutex>
#include <unordered_map>

using namespace mlir;

namespace zero {

namespace {

/// Shortest digits that round-trip, for options that go through text.
std::string digits(double value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

/// `%tokens` in the text → nn.name = "tokens" on arguments that carry no name.
void nameArguments(ModuleOp module, const AsmParserState &state, const llvm::SourceMgr &sources) {
  module.walk([&](func::FuncOp function) {
    if (function.isExternal())
      return;
    const AsmParserState::BlockDefinition *block = state.getBlockDef(&function.front());
    if (!block)
      return;
    for (unsigned i = 0; i < function.getNumArguments() && i < block->arguments.size(); ++i) {
      llvm::SMRange range = block->arguments[i].loc;
      if (function.getArgAttr(i, kNameAttr) || !range.isValid())
        continue;
      StringRef text(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
      if (text.consume_front("%") && !text.empty() && !llvm::isDigit(text.front()))
        function.setArgAttr(i, kNameAttr, StringAttr::get(module.getContext(), text));
    }
  });
}

} // namespace

std::string CompileOptions::toPipeline() const {
  auto number = [](StringRef key, int64_t value) { return (" " + key + "=" + Twine(value)).str(); };
  std::string text = "builtin.module(zero-pipeline{until=" + nameOf(until).str();
  text += number("micro-batch", microBatch) + number("ranks", ranks) + number("stage", stage) +
          number("micro-steps", microSteps) + number("bucket-bytes", bucketBytes) +
          number("threads-per-rank", threadsPerRank);
  if (evaluate)
    text += " evaluate=true";
  text += " dtype=" + dtype + " grad-dtype=" + gradDtype;
  if (!keepF32.empty())
    text += " keep-f32=\"" + keepF32 + "\"";
  text += " reduce-every=" + reduceEvery + " loss-mean=" + lossMean + " optimizer=" + optimizer;
  text += " beta1=" + digits(beta1) + " beta2=" + digits(beta2) + " eps=" + digits(eps) +
          " weight-decay=" + digits(weightDecay) + " momentum=" + digits(momentum) +
          " clip=" + digits(clip);
  text += " recompute=" + recompute + number("activation-budget", activationBudget) +
          number("hold-bytes", holdBytes);
  if (!groups.empty())
    text += " groups=\"" + groups + "\"";
  text += std::string(" verify=") + (verify ? "true" : "false") +
          " clean=" + (clean ? "true" : "false");
  return text + "})";
}

struct Compiler::Impl {
  struct Code {
    std::shared_ptr<llvm::orc::LLJIT> jit;
    void **kernels = nullptr;
  };

  Impl()
      : context(MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic &d) { record(d); }) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(
        false); // messages are for people who wrote the model, not the passes
    static std::once_flag once;
    std::call_once(once, [] { registerAllPasses(); });
  }

  void record(Diagnostic &diagnostic) {
    llvm::raw_string_ostream out(diagnostics);
    auto line = [&](Diagnostic &d) {
      StringRef severity = d.getSeverity() == DiagnosticSeverity::Error     ? "error"
                           : d.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                           : d.getSeverity() == DiagnosticSeverity::Note    ? "note"
                                                                            : "remark";
      if (auto at = d.getLocation()->findInstanceOf<FileLineColLoc>())
        out << at.getFilename().getValue() << ":" << at.getLine() << ":" << at.getColumn() << ": ";
      out << severity << ": " << d << "\n";
    };
    line(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      line(note);
  }

  OwningOpRef<ModuleOp> parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
    llvm::SourceMgr sources;
    bool text = !buffer->getBuffer().starts_with("ML\xefR");
    std::string name = buffer->getBufferIdentifier().str();
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    if (!text)
      return parseSourceFile<ModuleOp>(sources, &context);
    AsmParserState state;
    OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, name, 1, 1));
    Block block;
    if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
      return nullptr;
    // A file holds the module itself, or the ops of one.
    if (llvm::hasSingleElement(block) && isa<ModuleOp>(block.front())) {
      auto only = cast<ModuleOp>(block.front());
      only->remove();
      module = only;
    } else {
      module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
    }
    nameArguments(*module, state, sources);
    return module;
  }

  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
  std::unordered_map<std::string, Code> codeByText;
};

Compiler::Compiler() : impl(std::make_unique<Impl>()) {}
Compiler::~Compiler() = default;

MLIRContext &Compiler::context() { return impl->context; }

OwningOpRef<ModuleOp> Compiler::parseFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    impl->diagnostics += path + ": error: cannot be read: " + buffer.getError().message() + "\n";
    return nullptr;
  }
  return impl->parse(std::move(*buffer));
}

OwningOpRef<ModuleOp> Compiler::parseText(const std::string &text, const std::string &name) {
  return impl->parse(llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

bool Compiler::run(ModuleOp module, const CompileOptions &options) {
  PassManager manager(&impl->context);
  std::string error;
  llvm::raw_string_ostream stream(error);
  FailureOr<OpPassManager> parsed = parsePassPipeline(options.toPipeline(), stream);
  if (failed(parsed)) {
    impl->diagnostics += "error: " + error + "\n";
    return false;
  }
  static_cast<OpPassManager &>(manager) = *parsed;
  return succeeded(manager.run(module));
}

std::optional<zrt::Program> Compiler::table(ModuleOp module) {
  std::vector<std::string> functions;
  return makeProgram(module, functions);
}

std::vector<char> Compiler::emitObject(ModuleOp module) {
  std::vector<std::string> functions;
  std::optional<zrt::Program> program = makeProgram(module, functions);
  if (!program)
    return {};
  std::string error;
  std::vector<char> object = compileObject(module, functions, zrt::serialize(*program), error);
  if (object.empty())
    impl->diagnostics += "error: " + error + "\n";
  return object;
}

std::optional<Executable> Compiler::load(ModuleOp module) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> functions;
  std::optional<zrt::Program> program = makeProgram(module, functions);
  if (!program)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const std::string &name : functions)
    out << name << ",";
  OpPrintingFlags flags;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    function.print(out, flags);
  Impl::Code &code = impl->codeByText[text];
  if (!code.jit) {
    std::string error;
    std::vector<char> object = compileObject(module, functions, {}, error);
    if (!object.empty())
      code.jit = loadObject(object, code.kernels, error);
    if (!code.jit) {
      impl->diagnostics += "error: " + error + "\n";
      return std::nullopt;
    }
  }
  Executable executable;
  executable.program = std::move(*program);
  for (size_t i = 0; i < functions.size(); ++i)
    executable.kernels.push_back(reinterpret_cast<zrt::GeneratedKernel>(code.kernels[i]));
  executable.code = code.jit;
  executable.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return executable;
}

std::string Compiler::takeDiagnostics() { return std::exchange(impl->diagnostics, {}); }

} // namespace zero
