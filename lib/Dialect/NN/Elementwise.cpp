//===- Elementwise.cpp - ops on single elements -----------------------------===//
//
// The FLOP count of an element is the number of arithmetic operations in its
// formula; an elementary function (exp, tanh, erf, …) counts as one.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace zero::nn;

/// The result of a unary op, and of its gradient, has its input's type.
static LogicalResult inferLike(MaybeLocation location, Value input,
                               SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, input);
  if (failed(types))
    return failure();
  inferred.push_back(types->front());
  return success();
}

#define NN_UNARY(OP, FLOPS)                                                                        \
  NN_INFER(OP) { return inferLike(location, adaptor.getInput(), inferred); }                       \
  NN_KERNEL(OP, KernelFamily::Elementwise, countFlops(getResult(), FLOPS))

NN_UNARY(NegOp, 1)
NN_UNARY(AbsOp, 1)
NN_UNARY(ExpOp, 1)
NN_UNARY(LogOp, 1)
NN_UNARY(SqrtOp, 1)
NN_UNARY(RsqrtOp, 1)
NN_UNARY(TanhOp, 1)
NN_UNARY(ErfOp, 1)
NN_UNARY(ReluOp, 1)
NN_UNARY(SigmoidOp, 4)  // neg, exp, add, div
NN_UNARY(SiluOp, 5)     // sigmoid and a product
NN_UNARY(SiluGradOp, 9) // dy · s · (1 + x · (1 - s)), s a sigmoid
// tanh: x/2 · (1 + tanh(c · (x + a·x·x·x))); erf: x/2 · (1 + erf(x · b)).
NN_UNARY(GeluOp, getKind() == GeluKind::Tanh ? 9 : 5)
// tanh: dy · ((1 + t)/2 + x/2 · (1 - t²) · c · (1 + 3a·x²)); erf: dy · (Φ(x) + x · φ(x)).
NN_UNARY(GeluGradOp, getKind() == GeluKind::Tanh ? 18 : 11)

#undef NN_UNARY

/// (C1) equal element types; (C2) shapes that broadcast. `element` is the result's type, or null
/// for the operands'.
static LogicalResult inferBroadcast(MaybeLocation location, Value lhs, Value rhs, Type element,
                                    SmallVectorImpl<Type> &inferred) {
  FailureOr<TensorTypes> types = operandTypes(location, {lhs, rhs});
  if (failed(types) || failed(checkEqualElements(location, *types)))
    return failure();
  FailureOr<Shape> shape = broadcastShapes(location, *types);
  if (failed(shape))
    return failure();
  return addResult(location, *shape, element ? element : types->front().getElementType(), inferred);
}

#define NN_BINARY(OP)                                                                              \
  NN_INFER(OP) {                                                                                   \
    return inferBroadcast(location, adaptor.getLhs(), adaptor.getRhs(), Type(), inferred);         \
  }                                                                                                \
  NN_KERNEL(OP, KernelFamily::Elementwise, countFlops(getResult(), 1))

NN_BINARY(AddOp)
NN_BINARY(SubOp)
NN_BINARY(MulOp)
NN_BINARY(DivOp)
NN_BINARY(MaxOp)
NN_BINARY(MinOp)

#undef NN_BINARY

NN_INFER(CompareOp) {
  Value lhs = adaptor.getLhs();
  return inferBroadcast(location, lhs, adaptor.getRhs(), IntegerType::get(lhs.getContext(), 1),
                        inferred);
}
NN_KERNEL(CompareOp, KernelFamily::Elementwise, countFlops(getResult(), 1))

NN_INFER(SelectOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getOperands());
  if (failed(types) || failed(checkEqualElements(location, ArrayRef(*types).drop_front()))) // (C1)
    return failure();
  FailureOr<Shape> shape = broadcastShapes(location, *types); // (C2)
  if (failed(shape))
    return failure();
  return addResult(location, *shape, types->back().getElementType(), inferred);
}
NN_KERNEL(SelectOp, KernelFamily::Elementwise, countFlops(getResult(), 1))

NN_INFER(ConvertOp) {
  FailureOr<TensorTypes> types = operandTypes(location, adaptor.getInput());
  if (failed(types))
    return failure();
  Type to = adaptor.getTo();
  bool known = to.isF32() || to.isF64() || to.isF16() || to.isBF16() || to.isInteger(1) ||
               to.isSignlessInteger(32) || to.isSignlessInteger(64);
  if (failed(expects(location, known, "f32, f64, f16, bf16, i1, i32 or i64, got ", to))) // (C1)
    return failure();
  return addResult(location, types->front().getShape(), to, inferred);
}
NN_KERNEL(ConvertOp, KernelFamily::Elementwise, countFlops(getResult(), 1))

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : OpFoldResult();
}
