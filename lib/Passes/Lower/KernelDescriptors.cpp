//===- KernelDescriptors.cpp - what a kernel's body asks of the runtime ----===//

#include "zero/Passes/KernelDescriptors.h"

#include "Descriptors.h"
#include "GeneratedPlan.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {

KernelCall startCall(ir::KernelOp kernel, zrt::KernelKind kind) {
  KernelCall call;
  call.kernel.name = kernel.getSymName().str();
  call.kernel.kind = kind;
  for (Operation &op : kernel.getBody().front())
    if (auto cost = dyn_cast<nn::CostOpInterface>(op))
      call.kernel.flops += cost.getFlops();
  return call;
}

static int64_t byteOffset(const Window &window, TypeRange types) {
  return window.offset * storedBytes(cast<RankedTensorType>(types[window.index]).getElementType());
}
KernelCall::Operand argumentOperand(ir::KernelOp kernel, const Window &window) {
  return {KernelCall::Operand::Argument, window.index,
          byteOffset(window, kernel.getArgumentTypes())};
}
KernelCall::Operand resultOperand(ir::KernelOp kernel, const Window &window) {
  return {KernelCall::Operand::Result, window.index, byteOffset(window, kernel.getResultTypes())};
}

std::optional<zrt::ElementType> floatType(Type elementType) {
  if (elementType.isF32())
    return zrt::ElementType::f32;
  if (elementType.isBF16())
    return zrt::ElementType::bf16;
  if (elementType.isF16())
    return zrt::ElementType::f16;
  return std::nullopt;
}

std::string describeType(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value.getType();
  return text;
}

namespace {

std::optional<KernelCall> describeGenerated(ir::KernelOp kernel, std::string &why) {
  std::optional<GeneratedPlan> plan = planGenerated(kernel, BodyShapes(kernel), why);
  if (!plan)
    return std::nullopt;
  KernelCall call = startCall(kernel, zrt::KernelKind::Generated);
  call.kernel.generated.units = plan->units;
  call.workspaceBytes = plan->workspaceBytes;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    call.operands.push_back({KernelCall::Operand::Argument, i, 0});
  for (unsigned i = 0; i < kernel.getResultTypes().size(); ++i)
    call.operands.push_back({KernelCall::Operand::Result, i, 0});
  return call;
}

std::optional<KernelCall> describeByKind(ir::KernelOp kernel, std::string &why) {
  switch (kernel.getKind()) {
  case ir::KernelKind::Generated:
    return describeGenerated(kernel, why);
  case ir::KernelKind::Gemm:
    return describeGemm(kernel, why);
  case ir::KernelKind::Attention:
    return describeAttention(kernel, why);
  case ir::KernelKind::CrossEntropy:
    return describeCrossEntropy(kernel, why);
  case ir::KernelKind::Scatter:
    return describeScatter(kernel, why);
  }
  return std::nullopt;
}

int64_t libraryWorkspace(const zrt::Kernel &kernel, int64_t threads) {
  switch (kernel.kind) {
  case zrt::KernelKind::Generated:
    return 0;
  case zrt::KernelKind::Gemm:
    return zrt::workspaceBytes(kernel.gemm, threads);
  case zrt::KernelKind::Attention:
    return zrt::workspaceBytes(kernel.attention, threads);
  case zrt::KernelKind::CrossEntropy:
    return zrt::workspaceBytes(kernel.crossEntropy, threads);
  case zrt::KernelKind::Scatter:
    return zrt::workspaceBytes(kernel.scatter, threads);
  }
  return 0;
}

bool samePlace(const KernelCall::Operand &x, const KernelCall::Operand &y) {
  return x.source == y.source && x.index == y.index;
}

/// C may lie over a residual that is read where C is written, and nowhere else.
SmallVector<int64_t> gemmReuse(ir::KernelOp kernel, const KernelCall &call) {
  const zrt::GemmDesc &desc = call.kernel.gemm;
  if (!desc.hasResidual)
    return {};
  size_t at = 2 + desc.hasBias;
  KernelCall::Operand residual = call.operands[at];
  for (auto [i, operand] : llvm::enumerate(call.operands))
    if (i != at && samePlace(operand, residual))
      return {};
  auto step = [](int64_t size, int64_t stride) { return size == 1 ? 0 : stride; };
  auto type = cast<RankedTensorType>(kernel.getResultTypes()[0]);
  Window window = argumentWindow(kernel, residual.index);
  bool same = residual.byteOffset == 0 && window.isContiguous() && desc.type == desc.resultType &&
              elementCount(window.shape) == elementCount(type.getShape()) &&
              step(desc.m, desc.residualRow) == step(desc.m, desc.cRow) &&
              step(desc.batch, desc.residualBatch) == step(desc.batch, desc.cBatch);
  return same ? SmallVector<int64_t>{residual.index} : SmallVector<int64_t>{};
}

} // namespace

std::optional<KernelCall> describeKernel(ir::KernelOp kernel, int64_t threadsPerRank,
                                         std::string &why) {
  std::optional<KernelCall> call = describeByKind(kernel, why);
  if (!call)
    return std::nullopt;
  // Every element of every result is some operand's.
  for (unsigned i = 0; i < kernel.getResultTypes().size(); ++i)
    if (llvm::none_of(call->operands, [&](const KernelCall::Operand &operand) {
          return samePlace(operand, {KernelCall::Operand::Result, i, 0});
        })) {
      why = "expects each result to be computed by the kernel, got result #" + std::to_string(i) +
            " from elsewhere";
      return std::nullopt;
    }
  // The library's scratch comes first, then results that nothing reads.
  int64_t scratch =
      llvm::alignTo(libraryWorkspace(call->kernel, threadsPerRank), zrt::kAlignmentBytes);
  for (KernelCall::Operand &operand : call->operands)
    if (operand.source == KernelCall::Operand::Workspace)
      operand.byteOffset += scratch;
  call->workspaceBytes += scratch;
  if (call->workspaceBytes > 0)
    call->operands.push_back({KernelCall::Operand::Workspace, 0, 0});
  return call;
}

SmallVector<SmallVector<int64_t>> deriveMayReuse(ir::KernelOp kernel) {
  SmallVector<SmallVector<int64_t>> reuse(kernel.getResultTypes().size());
  std::string why;
  if (kernel.getKind() == ir::KernelKind::Generated) {
    if (std::optional<GeneratedPlan> plan = planGenerated(kernel, BodyShapes(kernel), why))
      return plan->mayReuse;
    return reuse;
  }
  std::optional<KernelCall> call = describeByKind(kernel, why);
  if (!call)
    return reuse;
  if (kernel.getKind() == ir::KernelKind::Gemm)
    reuse[0] = gemmReuse(kernel, *call);
  if (kernel.getKind() == ir::KernelKind::CrossEntropy && call->kernel.crossEntropy.withGradient) {
    const KernelCall::Operand &logits = call->operands[0], &gradient = call->operands[4];
    if (gradient.source == KernelCall::Operand::Result && logits.byteOffset == 0 &&
        elementCount(shapeOf(kernel.getBody().getArgument(logits.index))) ==
            call->kernel.crossEntropy.rows * call->kernel.crossEntropy.classes)
      reuse[gradient.index].push_back(logits.index);
  }
  return reuse;
}

AddedResults addedResults(ir::LaunchOp launch) {
  AddedResults added;
  for (OpResult result : launch.getOuts()) {
    auto accumulate = dyn_cast_or_null<ir::AccumulateOp>(sinkOf(result));
    std::optional<ir::AccumulateMode> mode =
        accumulate ? accumulate.getMode() : std::optional<ir::AccumulateMode>();
    if (!mode || *mode == ir::AccumulateMode::Write)
      continue;
    added.later.push_back(result.getResultNumber());
    if (*mode == ir::AccumulateMode::Add)
      added.first.push_back(result.getResultNumber());
  }
  return added;
}

std::string generatedSymbol(StringRef kernel, ArrayRef<int64_t> added) {
  std::string symbol = ("zrt.k." + kernel).str();
  for (auto [i, result] : llvm::enumerate(added))
    symbol += (i ? "_" : ".add") + std::to_string(result);
  return symbol;
}

} // namespace zero
