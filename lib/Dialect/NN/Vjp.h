//===- Vjp.h - what the vector-Jacobian products share ----------------------===//
//
// A product is a function `differentiate(op, vjp)`: it reads the cotangent of the
// op's results and sets the gradients of wanted operands, through small helpers
// that emit one op each. Only what is wanted is emitted.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_DIALECT_NN_VJP_H
#define ZERO_LIB_DIALECT_NN_VJP_H

#include "Shapes.h"

namespace zero::nn {

/// One vector-Jacobian product in the making.
class Vjp {
public:
  Vjp(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange cotangents,
      llvm::ArrayRef<bool> wanted, llvm::SmallVectorImpl<mlir::Value> &gradients)
      : builder(builder), location(location), cotangents(cotangents), wanted(wanted),
        gradients(gradients) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  bool wants(unsigned operand) const { return wanted[operand]; }
  mlir::Value cotangent(unsigned result = 0) const { return cotangents[result]; }
  void set(unsigned operand, mlir::Value gradient) { gradients[operand] = gradient; }

  template <typename Op, typename... Args> mlir::Value emit(Args &&...args) {
    return Op::create(builder, location, std::forward<Args>(args)...)->getResult(0);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return emit<AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return emit<SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return emit<MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return emit<DivOp>(a, b); }
  mlir::Value compare(Predicate predicate, mlir::Value a, mlir::Value b) {
    return emit<CompareOp>(predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return emit<SelectOp>(condition, a, b);
  }

  /// A scalar constant of the value's element type, a float; it broadcasts.
  mlir::Value scalar(mlir::Value like, double number);

  /// The same of an integer type that holds the number.
  mlir::Value integer(mlir::Value like, int64_t number);

  /// A tensor of zeros of the type.
  mlir::Value zeros(mlir::Type type);

  /// The value in another element type; itself where it has it.
  mlir::Value convert(mlir::Value value, mlir::Type element);

  /// The value in another shape; itself where it has it.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  /// The value with dimensions permuted; itself where they are in place.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);

  /// Sums over the dimensions along which `like` was broadcast, and drops them.
  mlir::Value sumTo(mlir::Value value, mlir::Value like);

  /// Sums over all dimensions but the last.
  mlir::Value sumRows(mlir::Value value);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::ValueRange cotangents;
  llvm::ArrayRef<bool> wanted;
  llvm::SmallVectorImpl<mlir::Value> &gradients;
};

/// Sizes the gradients and settles the cases that no product needs to treat: nothing flows back,
/// or nothing is wanted. Products need closed shapes, since gradients of broadcasts embed sizes.
template <typename Op>
mlir::LogicalResult runVjp(Op op, mlir::OpBuilder &builder, mlir::ValueRange cotangents,
                           llvm::ArrayRef<bool> wanted,
                           llvm::SmallVectorImpl<mlir::Value> &gradients) {
  gradients.assign(op->getNumOperands(), mlir::Value());
  auto isNull = [](mlir::Value value) { return !value; };
  if (llvm::all_of(cotangents, isNull) || llvm::none_of(wanted, [](bool want) { return want; }))
    return mlir::success();
  for (mlir::Type type : llvm::concat<const mlir::Type>(llvm::to_vector(op->getOperandTypes()),
                                                        llvm::to_vector(op->getResultTypes())))
    if (!llvm::cast<mlir::RankedTensorType>(type).hasStaticShape())
      return op->emitOpError("expects closed shapes where it is differentiated, got ") << type;
  Vjp vjp(builder, op->getLoc(), cotangents, wanted, gradients);
  return differentiate(op, vjp);
}

} // namespace zero::nn

/// Defines the interface method of an op from its `differentiate`, which stands before.
#define NN_DEFINE_VJP(OP)                                                                          \
  mlir::LogicalResult zero::nn::OP::vjp(mlir::OpBuilder &builder, mlir::ValueRange cotangents,     \
                                        llvm::ArrayRef<bool> wanted,                               \
                                        llvm::SmallVectorImpl<mlir::Value> &gradients) {           \
    return runVjp(*this, builder, cotangents, wanted, gradients);                                  \
  }

#endif // ZERO_LIB_DIALECT_NN_VJP_H
