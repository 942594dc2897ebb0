//===- LibraryDescriptors.cpp - attention, cross-entropy, scatter ---------===//

#include "Descriptors.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero {
namespace {

/// Reads operands and results of one op as windows; the first failure stays in `why`.
class Reader {
public:
  Reader(ir::KernelOp kernel, zrt::KernelKind kind, std::string &why)
      : kernel(kernel), call(startCall(kernel, kind)), why(why) {}

  bool fail(const Twine &message) {
    why = message.str();
    return failed = true, false;
  }

  Window argument(Value value, Type elementType) {
    std::optional<Window> window = traceArgument(kernel, value);
    return take(value, window, elementType, "argument") ? *window : Window{};
  }
  /// A dense argument, read as its number of elements only.
  void denseArgument(Value value, Type elementType) {
    Window window = argument(value, elementType);
    if (failed)
      return;
    if (!window.isContiguous())
      fail("expects a contiguous operand of type " + describeType(value));
    call.operands.push_back(argumentOperand(kernel, window));
  }
  /// The type of an operand that may be of 16 bits, which the others share.
  zrt::ElementType floats(Value value) {
    std::optional<zrt::ElementType> type = floatType(elementTypeOf(value));
    if (!type && !failed)
      fail("expects elements of f32, bf16 or f16, got " + describeType(value));
    return type.value_or(zrt::ElementType::f32);
  }

  /// Where a result goes. One that nothing reads lies in the workspace, behind the kernel's own.
  Window result(Value value, Type elementType) {
    if (value.use_empty()) {
      Window scratch{0, 0, SmallVector<int64_t>(shapeOf(value)), {}};
      scratch.strides = rowMajorStrides(shapeOf(value));
      call.operands.push_back({KernelCall::Operand::Workspace, 0, call.workspaceBytes});
      call.workspaceBytes += llvm::alignTo(
          elementCount(shapeOf(value)) * storedBytes(elementTypeOf(value)), zrt::kAlignmentBytes);
      return scratch;
    }
    std::optional<Window> window = traceResult(kernel, value);
    if (!take(value, window, elementType, "result"))
      return {};
    call.operands.push_back(resultOperand(kernel, *window));
    return *window;
  }
  void denseResult(Value value, Type elementType) {
    Window window = result(value, elementType);
    if (!failed && !window.isContiguous())
      fail("expects a contiguous result of type " + describeType(value));
  }

  std::optional<KernelCall> finish() {
    return failed ? std::nullopt : std::optional(std::move(call));
  }

  ir::KernelOp kernel;
  KernelCall call;
  std::string &why;
  bool failed = false;

private:
  bool take(Value value, const std::optional<Window> &window, Type elementType, StringRef of) {
    if (failed)
      return false;
    if (elementTypeOf(value) != elementType) {
      std::string wanted;
      llvm::raw_string_ostream(wanted) << elementType;
      return fail("expects elements of type " + wanted + ", got " + describeType(value));
    }
    if (!window)
      return fail("expects a strided view of one " + of + ", got " + describeType(value));
    return true;
  }
};

/// The only op of type OpT in the body.
template <typename OpT> OpT findOp(ir::KernelOp kernel) {
  auto range = kernel.getBody().front().getOps<OpT>();
  return range.empty() ? OpT() : *range.begin();
}

/// Batch, time and head strides of a [batch, time, head, depth] window.
zrt::AttentionDesc::Strides headStrides(Reader &reader, const Window &window) {
  if (reader.failed)
    return {};
  if (window.shape[3] != 1 && window.strides[3] != 1)
    reader.fail("expects attention operands whose last dimension has stride 1, got stride " +
                Twine(window.strides[3]));
  return {window.strides[0], window.strides[1], window.strides[2]};
}

template <typename OpT> void setShapes(zrt::AttentionDesc &desc, OpT op) {
  ArrayRef<int64_t> q = shapeOf(op.getQ()), k = shapeOf(op.getK());
  desc.batch = q[0], desc.queryLen = q[1], desc.heads = q[2], desc.headDim = q[3];
  desc.keyLen = k[1], desc.kvHeads = k[2];
  desc.scale = static_cast<float>(op.getScale().convertToDouble());
  desc.causal = op.getCausal();
  if (op.getRandom()) {
    desc.dropoutRate = op.getDropout()->convertToDouble();
    desc.dropoutSite = static_cast<int64_t>(*op.getSite());
  }
}

} // namespace

std::optional<KernelCall> describeAttention(ir::KernelOp kernel, std::string &why) {
  Reader reader(kernel, zrt::KernelKind::Attention, why);
  zrt::AttentionDesc &desc = reader.call.kernel.attention;
  Type f32 = Float32Type::get(kernel.getContext()), element;
  auto strided = [&](Value value) {
    Window window = reader.argument(value, element);
    if (!reader.failed)
      reader.call.operands.push_back(argumentOperand(kernel, window));
    return headStrides(reader, window);
  };
  auto written = [&](Value value) { return headStrides(reader, reader.result(value, element)); };
  // What probabilities are dropped by comes last.
  auto keyed = [&](auto op) {
    bool drops = op.getDropout() && !op.getDropout()->isZero();
    if (drops && op.getRandom())
      reader.denseArgument(op.getRandom(), IntegerType::get(kernel.getContext(), 32));
    else if (drops)
      reader.fail("expects attention that drops probabilities to be keyed, got no key");
    return reader.finish();
  };

  if (auto forward = findOp<nn::AttentionOp>(kernel)) {
    setShapes(desc, forward);
    desc.type = reader.floats(forward.getQ());
    element = elementTypeOf(forward.getQ());
    desc.q = strided(forward.getQ());
    desc.k = strided(forward.getK());
    desc.v = strided(forward.getV());
    desc.out = written(forward.getOut());
    reader.denseResult(forward.getLse(), f32);
    return keyed(forward);
  }
  auto backward = findOp<nn::AttentionGradOp>(kernel);
  if (!backward) {
    why = "expects nn.attention or nn.attention_grad, got neither";
    return std::nullopt;
  }
  setShapes(desc, backward);
  desc.type = reader.floats(backward.getQ());
  element = elementTypeOf(backward.getQ());
  desc.backward = true;
  desc.q = strided(backward.getQ());
  desc.k = strided(backward.getK());
  desc.v = strided(backward.getV());
  desc.out = strided(backward.getOut());
  reader.denseArgument(backward.getLse(), f32);
  desc.dOut = strided(backward.getDout());
  desc.dQ = written(backward.getDq());
  desc.dK = written(backward.getDk());
  desc.dV = written(backward.getDv());
  return keyed(backward);
}

std::optional<KernelCall> describeCrossEntropy(ir::KernelOp kernel, std::string &why) {
  auto op = findOp<nn::CrossEntropyWithGradOp>(kernel);
  if (!op) {
    why = "expects nn.cross_entropy_with_grad, got another body";
    return std::nullopt;
  }
  Reader reader(kernel, zrt::KernelKind::CrossEntropy, why);
  Type f32 = Float32Type::get(kernel.getContext()), i32 = IntegerType::get(kernel.getContext(), 32);
  zrt::CrossEntropyDesc &desc = reader.call.kernel.crossEntropy;
  Type element = elementTypeOf(op.getLogits());
  desc.type = reader.floats(op.getLogits());
  desc.classes = shapeOf(op.getLogits()).back();
  desc.rows = elementCount(shapeOf(op.getLabels()));
  desc.ignore = op.getIgnore();
  reader.denseArgument(op.getLogits(), element);
  reader.denseArgument(op.getLabels(), i32);
  reader.denseArgument(op.getSeed(), f32);
  reader.denseResult(op.getLoss(), f32);
  desc.withGradient = !op.getDlogits().use_empty();
  if (desc.withGradient)
    reader.denseResult(op.getDlogits(), element);
  return reader.finish();
}

std::optional<KernelCall> describeScatter(ir::KernelOp kernel, std::string &why) {
  auto op = findOp<nn::ScatterAddOp>(kernel);
  if (!op) {
    why = "expects nn.scatter_add, got another body";
    return std::nullopt;
  }
  Reader reader(kernel, zrt::KernelKind::Scatter, why);
  Type i32 = IntegerType::get(kernel.getContext(), 32);
  zrt::ScatterDesc &desc = reader.call.kernel.scatter;
  // A convert to f32 behind it: sums are formed in f32 anyway.
  Value table = op.getResult();
  if (auto widened = table.hasOneUse() ? dyn_cast<nn::ConvertOp>(*table.user_begin()) : nullptr)
    table = widened.getResult();
  Type from = elementTypeOf(op.getUpdates()), to = elementTypeOf(table);
  desc.type = reader.floats(op.getUpdates());
  if (from != to && !to.isF32())
    reader.fail("expects a sum of the updates' type or of f32, got " + describeType(table));
  desc.resultType = reader.floats(table);
  desc.rows = elementCount(shapeOf(op.getIndices()));
  desc.width = shapeOf(op.getUpdates()).back();
  desc.tableRows = op.getRows();
  reader.denseArgument(op.getIndices(), i32);
  reader.denseArgument(op.getUpdates(), from);
  reader.denseResult(table, to);
  return reader.finish();
}

} // namespace zero
