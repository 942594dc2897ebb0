//===- KernelHarness.cpp - run generated kernels in this process ---------------------===//

#include "KernelHarness.h"

#include "zero/Passes/Passes.h"
#include "zero/Passes/Register.h"
#include "zero/Reference/Interpreter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace zero::testing {
namespace {

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
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

/// The llvm functions and constants of a lowered module, compiled for this processor.
std::unique_ptr<llvm::orc::LLJIT> load(ModuleOp module) {
  OwningOpRef<ModuleOp> only = ModuleOp::create(module.getLoc());
  for (Operation &op : *module.getBody())
    if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      only->push_back(op.clone());
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(*only, *context);
  if (!code)
    return nullptr;
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto machine = llvm::cantFail(builder.createTargetMachine());
  optimise(*code, *machine);
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  jit->getMainJITDylib().addGenerator(
      llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(jit->addIRModule({std::move(code), std::move(context)}));
  return jit;
}

int64_t widthOf(Type type) {
  return (cast<RankedTensorType>(type).getElementType().getIntOrFloatBitWidth() + 7) / 8;
}

/// A buffer with guards of a known pattern on both sides.
class Guarded {
public:
  Guarded(int64_t bytes, int64_t offset)
      : bytes(bytes), storage(bytes + 64 + 2 * kGuard, kPattern) {
    auto base = reinterpret_cast<uintptr_t>(storage.data()) + kGuard;
    start = (base + 63) / 64 * 64 - reinterpret_cast<uintptr_t>(storage.data()) + offset;
    storage.resize(storage.size() + offset, kPattern);
    base = reinterpret_cast<uintptr_t>(storage.data()) + kGuard;
    start = (base + 63) / 64 * 64 - reinterpret_cast<uintptr_t>(storage.data()) + offset;
  }
  char *data() { return storage.data() + start; }
  bool isIntact() const {
    for (size_t i = 0; i < storage.size(); ++i)
      if ((i < start || i >= start + bytes) && storage[i] != kPattern)
        return false;
    return true;
  }

private:
  static constexpr int64_t kGuard = 256;
  static constexpr char kPattern = 0x5a;
  size_t bytes, start;
  std::vector<char> storage;
};

/// Calls `visit` with the dense and the strided number of each element.
template <typename Visit>
void overElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, Visit visit) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, place = 0;
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
      place += rest % shape[dim] * strides[dim];
      rest /= shape[dim];
    }
    visit(i, place);
  }
}

} // namespace

Kernels::Kernels() = default;
Kernels::~Kernels() = default;

std::unique_ptr<Kernels> Kernels::compile(const std::string &text) {
  static const bool ready =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  EXPECT_TRUE(ready);
  std::unique_ptr<Kernels> kernels(new Kernels);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  kernels->context = std::make_unique<MLIRContext>(registry);
  kernels->context->loadAllAvailableDialects();
  kernels->module = parseSourceString<ModuleOp>(text, kernels->context.get());
  if (!kernels->module) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return nullptr;
  }
  PassManager passes(kernels->context.get());
  passes.addPass(createLowerPass());
  if (failed(passes.run(*kernels->module))) {
    ADD_FAILURE() << "does not lower:\n" << text;
    return nullptr;
  }
  kernels->jit = load(*kernels->module);
  if (!kernels->jit) {
    ADD_FAILURE() << "does not translate:\n" << text;
    return nullptr;
  }
  return kernels;
}

ir::KernelOp Kernels::kernel(StringRef name) { return module->lookupSymbol<ir::KernelOp>(name); }

KernelCall Kernels::describe(StringRef name) {
  std::string why;
  std::optional<KernelCall> call = describeKernel(kernel(name), 1, why);
  EXPECT_TRUE(call) << why;
  return call.value_or(KernelCall());
}

std::vector<Bytes> Kernels::call(StringRef name, const std::vector<Bytes> &arguments,
                                 const CallOptions &options) {
  ir::KernelOp op = kernel(name);
  KernelCall description = describe(name);
  std::vector<Guarded> buffers;
  buffers.reserve(arguments.size() + op.getResultTypes().size() + 1);
  std::vector<char *> operands;
  for (auto [i, bytes] : llvm::enumerate(arguments)) {
    auto type = cast<RankedTensorType>(op.getArgumentTypes()[i]);
    int64_t width = widthOf(type), extent = 1;
    SmallVector<int64_t> strides = op.getStridesOf(i);
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      extent += (size - 1) * stride;
    buffers.emplace_back(extent * width, options.offsetBytes);
    const Bytes &source = bytes;
    overElements(type.getShape(), strides, [&](int64_t element, int64_t place) {
      memcpy(buffers.back().data() + place * width, source.data() + element * width, width);
    });
    operands.push_back(buffers.back().data());
  }
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    int64_t over = i < options.over.size() ? options.over[i] : -1;
    if (over >= 0) {
      operands.push_back(operands[over]);
      continue;
    }
    int64_t bytes = cast<RankedTensorType>(type).getNumElements() * widthOf(type);
    buffers.emplace_back(bytes, options.offsetBytes);
    if (i < options.before.size())
      memcpy(buffers.back().data(), options.before[i].data(), bytes);
    else
      memset(buffers.back().data(), 0xff, bytes); // NaN
    operands.push_back(buffers.back().data());
  }
  buffers.emplace_back(description.workspaceBytes, 0);
  memset(buffers.back().data(), 0xff, description.workspaceBytes);
  if (description.workspaceBytes)
    operands.push_back(buffers.back().data());

  auto symbol = llvm::cantFail(jit->lookup(generatedSymbol(name, options.added)));
  auto function = symbol.toPtr<void (*)(char **, int64_t, int64_t)>();
  int64_t units = description.kernel.generated.units, pieces = std::min(options.pieces, units);
  for (int64_t piece = pieces - 1; piece >= 0; --piece) // order is the runtime's affair
    function(operands.data(), units * piece / pieces, units * (piece + 1) / pieces);

  std::vector<Bytes> results;
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    char *from = operands[arguments.size() + i];
    results.emplace_back(from,
                         from + cast<RankedTensorType>(type).getNumElements() * widthOf(type));
  }
  for (const Guarded &buffer : buffers)
    EXPECT_TRUE(buffer.isIntact()) << "wrote outside its operands";
  return results;
}

std::vector<reference::Array> Kernels::judge(StringRef name, const std::vector<Bytes> &arguments) {
  ir::KernelOp op = kernel(name);
  std::vector<reference::Array> arrays;
  for (auto [bytes, type] : llvm::zip(arguments, op.getArgumentTypes()))
    arrays.push_back(arrayOf(bytes, type));
  auto results = reference::evaluate(cast<FunctionOpInterface>(op.getOperation()), arrays, {});
  if (failed(results)) {
    ADD_FAILURE() << "the reference does not know this kernel";
    return {};
  }
  return {results->begin(), results->end()};
}

uint16_t shortBits(double value, Type type) {
  bool inexact = false;
  APFloat rounded(value);
  rounded.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &inexact);
  return static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
}

double shortValue(uint16_t bits, Type type) {
  return APFloat(cast<FloatType>(type).getFloatSemantics(), APInt(16, bits)).convertToDouble();
}

Bytes randomTensor(Type type, std::mt19937 &generator, double scale, int64_t bound) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t count = tensor.getNumElements();
  Type element = tensor.getElementType();
  auto fill = [&](auto sample) {
    using T = decltype(sample());
    Bytes bytes(count * sizeof(T));
    for (int64_t i = 0; i < count; ++i) {
      T value = sample();
      memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return bytes;
  };
  std::normal_distribution<double> normal(0.0, scale);
  std::uniform_int_distribution<int64_t> integer(0, bound - 1);
  if (element.isF32())
    return fill([&] { return static_cast<float>(normal(generator)); });
  if (element.isF64())
    return fill([&] { return normal(generator); });
  if (element.isBF16() || element.isF16())
    return fill([&] { return shortBits(normal(generator), element); });
  if (element.isInteger(1))
    return fill([&] { return static_cast<char>(generator() & 1); });
  if (element.isInteger(32))
    return fill([&] { return static_cast<int32_t>(integer(generator)); });
  return fill([&] { return integer(generator); });
}

Bytes bytesOf(ArrayRef<float> values) {
  Bytes bytes(values.size() * sizeof(float));
  memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> floatsOf(const Bytes &bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

reference::Array arrayOf(const Bytes &bytes, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  reference::Array array(tensor.getShape(), isa<FloatType>(element));
  int64_t width = widthOf(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    const char *from = bytes.data() + i * width;
    auto read = [&](auto value) {
      memcpy(&value, from, sizeof(value));
      return value;
    };
    if (element.isF32())
      array.f[i] = read(float());
    else if (element.isF64())
      array.f[i] = read(double());
    else if (array.isFloat)
      array.f[i] = shortValue(read(uint16_t()), element);
    else if (width == 1)
      array.i[i] = read(char());
    else if (width == 4)
      array.i[i] = read(int32_t());
    else
      array.i[i] = read(int64_t());
  }
  return array;
}

double elementOf(const reference::Array &array, int64_t i) {
  return array.isFloat ? array.f[i] : static_cast<double>(array.i[i]);
}

} // namespace zero::testing
