//===- Mixed.h - arithmetic where scalars meet vectors ----------------------===//
#ifndef ZERO_PASSES_LOWER_MIXED_H
#define ZERO_PASSES_LOWER_MIXED_H

#include "Evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zero {

/// A scalar that meets a vector becomes a vector of equal lanes.
class Mixed {
public:
  Mixed(Evaluator &evaluator, mlir::ImplicitLocOpBuilder &b) : evaluator(evaluator), b(b) {}
  mlir::Value add(mlir::Value x, mlir::Value y) { return both<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return both<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return both<mlir::arith::MulFOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return both<mlir::arith::DivFOp>(x, y); }
  mlir::Value exp(mlir::Value x) { return mlir::math::ExpOp::create(b, x); }
  mlir::Value sqrt(mlir::Value x) { return mlir::math::SqrtOp::create(b, x); }

  /// In another float type, whether that is wider or narrower.
  mlir::Value to(mlir::Type element, mlir::Value x) {
    mlir::Type from = mlir::getElementTypeOrSelf(x.getType()), type = element;
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(x.getType()))
      type = vector.cloneWith(std::nullopt, element);
    if (from == element)
      return x;
    if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
      return mlir::arith::ExtFOp::create(b, type, x);
    return mlir::arith::TruncFOp::create(b, type, x);
  }

private:
  template <typename OpT> mlir::Value both(mlir::Value x, mlir::Value y) {
    if (x.getType() != y.getType())
      x = evaluator.toLanes(x), y = evaluator.toLanes(y);
    return OpT::create(b, x, y);
  }
  Evaluator &evaluator;
  mlir::ImplicitLocOpBuilder &b;
};

/// The column of a row.
inline Indices along(llvm::ArrayRef<Index> outer, const Index &column) {
  Indices indices(outer);
  indices.push_back(column);
  return indices;
}

} // namespace zero

#endif // ZERO_PASSES_LOWER_MIXED_H
