//===- CodeGen.cpp - from llvm functions to machine code --------------------===//
//
// The triple and data layout of this processor go in before optimisation, since
// the cost model refuses to vectorise without them. No fast-math flag is set
// anywhere and contraction is off: each bit is decided by the kernel's text (N0).
//
//===----------------------------------------------------------------------===//

#include "CodeGen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

namespace zero {

namespace {

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::string features;
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") +
                feature.first().str();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features, options,
                                  llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

void addConstants(llvm::Module &module, const std::vector<std::string> &functions,
                  const std::vector<uint8_t> &program) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  std::vector<llvm::Constant *> pointers;
  for (const std::string &name : functions)
    pointers.push_back(module.getFunction(name));
  auto *table = llvm::ArrayType::get(pointer, pointers.size());
  new llvm::GlobalVariable(module, table, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantArray::get(table, pointers), "zrt_kernels");
  if (program.empty())
    return;
  llvm::Constant *bytes = llvm::ConstantDataArray::get(context, program);
  auto *blob = new llvm::GlobalVariable(module, bytes->getType(), true,
                                        llvm::GlobalValue::ExternalLinkage, bytes, "zrt_program");
  blob->setAlignment(llvm::Align(64));
  auto *word = llvm::Type::getInt64Ty(context);
  new llvm::GlobalVariable(module, word, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantInt::get(word, program.size()), "zrt_program_bytes");
}

/// A module that holds only the llvm functions: the rest of level X is the table's text.
mlir::OwningOpRef<mlir::ModuleOp> functionsOf(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> only = mlir::ModuleOp::create(module.getLoc());
  for (mlir::Operation &op : module.getBody()->getOperations())
    if (llvm::isa<mlir::LLVM::LLVMFuncOp, mlir::LLVM::GlobalOp>(op))
      only->push_back(op.clone());
  return only;
}

} // namespace

std::vector<char> compileObject(mlir::ModuleOp module, const std::vector<std::string> &functions,
                                const std::vector<uint8_t> &program, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(error);
  if (!machine)
    return {};
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  mlir::OwningOpRef<mlir::ModuleOp> only = functionsOf(module);
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(*only, context, "zero");
  if (!code) {
    error = "expects llvm functions that translate to LLVM IR";
    return {};
  }
  for (const std::string &name : functions)
    if (!code->getFunction(name)) {
      error = "expects a function named " + name + ": run zero-lower first";
      return {};
    }
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  addConstants(*code, functions, program);
  optimise(*code, *machine);

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    error = "expects a target that emits object files";
    return {};
  }
  emit.run(*code);
  return {object.begin(), object.end()};
}

std::shared_ptr<llvm::orc::LLJIT> loadObject(const std::vector<char> &object, void **&kernels,
                                             std::string &error) {
  auto fail = [&](llvm::Error e) {
    error = llvm::toString(std::move(e));
    return nullptr;
  };
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return fail(jit.takeError());
  auto generator = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return fail(generator.takeError());
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  auto buffer =
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "zero");
  if (llvm::Error e = (*jit)->addObjectFile(std::move(buffer)))
    return fail(std::move(e));
  auto symbol = (*jit)->lookup("zrt_kernels");
  if (!symbol)
    return fail(symbol.takeError());
  kernels = symbol->toPtr<void **>();
  return std::shared_ptr<llvm::orc::LLJIT>(std::move(*jit));
}

} // namespace zero
