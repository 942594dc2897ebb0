//===- GemmDescriptor.cpp - nn.linear and nn.dot_general as one GEMM -------===//
//
// The product's dimensions are sorted into batch, rows (free in the left
// operand), columns (free in the right) and contracted ones; neighbours that lie
// behind one another in every operand merge. One dimension of each may stay;
// outer rows or columns that won't merge become the batch.
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include "zero/Dialect/NN/NN.h"
#include "zero/Passes/Views.h"

using namespace mlir;

namespace zero {
namespace {

/// A dimension of the product with its element strides in every operand.
struct Axis {
  int64_t size = 1;
  int64_t a = 0, b = 0, c = 0, residual = 0, bias = 0;

  bool holds(const Axis &inner) const {
    auto touches = [&](int64_t outer, int64_t step) { return outer == step * inner.size; };
    return touches(a, inner.a) && touches(b, inner.b) && touches(c, inner.c) &&
           touches(residual, inner.residual) && touches(bias, inner.bias);
  }
};
using Axes = SmallVector<Axis, 4>;

Axes merged(const Axes &axes) {
  Axes result;
  for (const Axis &axis : axes) {
    if (axis.size == 1)
      continue;
    if (!result.empty() && result.back().holds(axis)) {
      int64_t size = result.back().size * axis.size;
      result.back() = axis;
      result.back().size = size;
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

/// Leaves the innermost axis and moves the others to the batch.
Axis takeInner(Axes &axes, Axes &batch) {
  if (axes.empty())
    return {};
  Axis inner = axes.pop_back_val();
  batch.append(axes);
  return inner;
}

/// The product and what follows it up to the yield.
struct Chain {
  Operation *product = nullptr;
  SmallVector<Operation *> views;       // reshapes and transposes between the product and the yield
  std::optional<Window> bias, residual; // over the product's dimensions
  zrt::Activation activation = zrt::Activation::None;
  bool widens = false; // ends in a convert to f32
};

zrt::Activation activationOf(Operation *op) {
  if (auto gelu = dyn_cast<nn::GeluOp>(op))
    return gelu.getKind() == nn::GeluKind::Tanh ? zrt::Activation::GeluTanh
                                                : zrt::Activation::GeluErf;
  if (isa<nn::SiluOp>(op))
    return zrt::Activation::Silu;
  return isa<nn::ReluOp>(op) ? zrt::Activation::Relu : zrt::Activation::None;
}

class Gemm {
public:
  Gemm(ir::KernelOp kernel, std::string &why) : kernel(kernel), why(why) {}

  std::optional<KernelCall> describe() {
    if (!readChain() || !classify() || !readEpilogue() || !place())
      return std::nullopt;
    return call();
  }

private:
  bool fail(const Twine &message) { return why = message.str(), false; }

  bool readChain() {
    Operation *product = nullptr;
    for (Operation &op : kernel.getBody().front())
      if (isa<nn::LinearOp, nn::DotGeneralOp>(op)) {
        if (product)
          return fail("expects one matrix product, got two");
        product = &op;
      }
    if (!product)
      return fail("expects nn.linear or nn.dot_general, got neither");
    if (kernel.getResultTypes().size() != 1)
      return fail("expects one result, got " + Twine(kernel.getResultTypes().size()));
    chain.product = product;
    return true;
  }

  /// Strides of A, B and C by kind of dimension; C's are filled in by `place`.
  bool classify() {
    Value left = chain.product->getOperand(0), right = chain.product->getOperand(1);
    Value result = chain.product->getResult(0);
    for (Value value : {left, right, result})
      if (!floatType(elementTypeOf(value)))
        return fail("expects operands of f32, bf16 or f16, got " + describeType(value));
    type = *floatType(elementTypeOf(left));
    std::optional<Window> a = traceArgument(kernel, left), b = traceArgument(kernel, right);
    if (!a || !b)
      return fail("expects operands that are strided views of arguments");
    aWindow = *a, bWindow = *b;

    SmallVector<int64_t> leftBatch, rightBatch, leftContract, rightContract;
    if (auto dot = dyn_cast<nn::DotGeneralOp>(chain.product)) {
      leftBatch.assign(dot.getLhsBatch().begin(), dot.getLhsBatch().end());
      rightBatch.assign(dot.getRhsBatch().begin(), dot.getRhsBatch().end());
      leftContract.assign(dot.getLhsContract().begin(), dot.getLhsContract().end());
      rightContract.assign(dot.getRhsContract().begin(), dot.getRhsContract().end());
    } else {
      leftContract.push_back(a->shape.size() - 1);
      rightContract.push_back(cast<nn::LinearOp>(chain.product).getTransposed() ? 1 : 0);
    }
    for (auto [l, r] : llvm::zip(leftBatch, rightBatch))
      batch.push_back({.size = a->shape[l], .a = a->strides[l], .b = b->strides[r]});
    for (auto [l, r] : llvm::zip(leftContract, rightContract))
      contracted.push_back({.size = a->shape[l], .a = a->strides[l], .b = b->strides[r]});
    for (size_t i = 0; i < a->shape.size(); ++i)
      if (!llvm::is_contained(leftBatch, i) && !llvm::is_contained(leftContract, i))
        rows.push_back({.size = a->shape[i], .a = a->strides[i]});
    for (size_t i = 0; i < b->shape.size(); ++i)
      if (!llvm::is_contained(rightBatch, i) && !llvm::is_contained(rightContract, i))
        columns.push_back({.size = b->shape[i], .b = b->strides[i]});
    // A sum over several dimensions runs in the left operand's order of memory.
    llvm::stable_sort(contracted, [](const Axis &x, const Axis &y) { return x.a > y.a; });
    return true;
  }

  /// A value over the chain's present shape, as a window over the product's dimensions.
  std::optional<Window> overProduct(Window window) const {
    for (Operation *view : llvm::reverse(chain.views)) {
      std::optional<Window> before = undone(window, view);
      if (!before)
        return std::nullopt;
      window = *before;
    }
    return window;
  }

  bool isBias(const Window &window) const {
    size_t lead = batch.size() + rows.size();
    for (size_t i = 0; i < window.shape.size(); ++i)
      if (i < lead && window.shape[i] != 1 && window.strides[i] != 0)
        return false;
    return true;
  }

  bool addOperand(Value other, ArrayRef<int64_t> shape) {
    std::optional<Window> window = traceArgument(kernel, other);
    if (window)
      window = overProduct(broadcasted(*window, shape));
    if (!window)
      return fail("expects an added operand that is a strided view of an argument");
    if (!chain.bias && !chain.residual && chain.activation == zrt::Activation::None &&
        isBias(*window)) {
      chain.bias = window;
      return true;
    }
    if (chain.residual)
      return fail("expects one residual, got two");
    chain.residual = window;
    return true;
  }

  bool readEpilogue() {
    auto linear = dyn_cast<nn::LinearOp>(chain.product);
    if (linear && linear.getBias()) {
      std::optional<Window> bias = traceArgument(kernel, linear.getBias());
      if (!bias)
        return fail("expects a bias that is a strided view of an argument");
      chain.bias = broadcasted(*bias, shapeOf(linear.getResult()));
    }
    Value value = chain.product->getResult(0);
    while (true) {
      if (!value.hasOneUse())
        return fail("expects each intermediate value to have one use");
      Operation *user = *value.user_begin();
      if (isa<ir::YieldOp>(user))
        return true;
      if (isa<nn::ReshapeOp, nn::TransposeOp>(user)) {
        chain.views.push_back(user);
      } else if (isa<nn::ConvertOp>(user) && elementTypeOf(user->getResult(0)).isF32()) {
        chain.widens = true;
      } else if (chain.widens) {
        return fail("expects a product that ends in its convert to f32, got " +
                    user->getName().getStringRef() + " behind it");
      } else if (auto sum = dyn_cast<nn::AddOp>(user)) {
        Value other = sum.getLhs() == value ? sum.getRhs() : sum.getLhs();
        if (sum.getType() != value.getType())
          return fail("expects a sum of the product's shape");
        if (!addOperand(other, shapeOf(value)))
          return false;
      } else if (zrt::Activation activation = activationOf(user);
                 activation != zrt::Activation::None) {
        if (chain.activation != zrt::Activation::None || chain.residual)
          return fail("expects bias, activation and residual in this order");
        chain.activation = activation;
      } else {
        return fail("expects bias, activation and residual after a product, got " +
                    user->getName().getStringRef());
      }
      value = user->getResult(0);
    }
  }

  /// Where C, bias and residual lie, then at most one dimension of each kind.
  bool place() {
    Window yielded{
        0,
        0,
        SmallVector<int64_t>(cast<RankedTensorType>(kernel.getResultTypes()[0]).getShape()),
        {}};
    yielded.strides = rowMajorStrides(yielded.shape);
    std::optional<Window> c = overProduct(yielded);
    if (!c)
      return fail("expects a result that is a strided view of the product");
    size_t dim = 0;
    for (Axes *axes : {&batch, &rows, &columns})
      for (Axis &axis : *axes) {
        axis.c = c->strides[dim];
        if (chain.residual)
          axis.residual = chain.residual->strides[dim];
        if (chain.bias)
          axis.bias = chain.bias->strides[dim];
        ++dim;
      }
    batch = merged(batch), rows = merged(rows), columns = merged(columns),
    contracted = merged(contracted);
    if (contracted.size() > 1)
      return fail("expects contracted dimensions that lie behind one another in both operands");
    k = contracted.empty() ? Axis() : contracted.front();
    m = takeInner(rows, batch);
    n = takeInner(columns, batch);
    batch = merged(batch);
    if (batch.size() > 1)
      return fail("expects dimensions that merge to one batch, got " + Twine(batch.size()));
    if (!batch.empty())
      outer = batch.front();
    return layOut();
  }

  /// The result's columns have stride 1: a transposed result is the product of transposed operands.
  bool layOut() {
    if (n.size != 1 && n.c != 1 && !chain.bias && (m.c == 1 || m.size == 1)) {
      for (Axis *axis : {&outer, &m, &n, &k})
        std::swap(axis->a, axis->b);
      std::swap(m, n);
      std::swap(aWindow, bWindow);
    }
    if (n.size != 1 && n.c != 1)
      return fail("expects a result whose columns lie side by side");
    if (chain.residual && n.size != 1 && n.residual != 1)
      return fail("expects a residual whose columns lie side by side");
    if (chain.bias && ((n.size != 1 && n.bias != 1) || outer.bias != 0 || m.bias != 0))
      return fail("expects a bias of one contiguous vector");
    return true;
  }

  KernelCall call() const {
    KernelCall result = startCall(kernel, zrt::KernelKind::Gemm);
    zrt::GemmDesc &desc = result.kernel.gemm;
    desc.type = type;
    desc.resultType = chain.widens ? zrt::ElementType::f32 : type;
    desc.batch = outer.size, desc.m = m.size, desc.n = n.size, desc.k = k.size;
    desc.aBatch = outer.a, desc.aRow = m.a, desc.aCol = k.a;
    desc.bBatch = outer.b, desc.bRow = k.b, desc.bCol = n.b;
    desc.cBatch = outer.c, desc.cRow = m.c;
    desc.hasBias = chain.bias.has_value();
    desc.hasResidual = chain.residual.has_value();
    if (desc.hasResidual)
      desc.residualBatch = outer.residual, desc.residualRow = m.residual;
    desc.activation = chain.activation;
    result.operands.push_back(argumentOperand(kernel, aWindow));
    result.operands.push_back(argumentOperand(kernel, bWindow));
    if (chain.bias)
      result.operands.push_back(argumentOperand(kernel, *chain.bias));
    if (chain.residual)
      result.operands.push_back(argumentOperand(kernel, *chain.residual));
    result.operands.push_back({KernelCall::Operand::Result, 0, 0});
    return result;
  }

  ir::KernelOp kernel;
  std::string &why;
  Chain chain;
  zrt::ElementType type = zrt::ElementType::f32;
  Window aWindow, bWindow;
  Axes batch, rows, columns, contracted;
  Axis outer, m, n, k;
};

} // namespace

std::optional<KernelCall> describeGemm(ir::KernelOp kernel, std::string &why) {
  return Gemm(kernel, why).describe();
}

} // namespace zero
