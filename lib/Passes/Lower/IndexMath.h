//===- IndexMath.h - indices of a vector's lanes --------------------------------===//
//
// An index is affine in the lane wherever it can be, so that loads stay vector
// loads; only what a reshape cuts apart within a vector becomes a vector of
// indices. Constants fold, and equal expressions of one scope are one value: two
// equal indices compare equal, which is what the memory of computed values rests on.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_INDEXMATH_H
#define ZERO_PASSES_LOWER_INDEXMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <map>
#include <vector>

namespace zero {

/// Lane l holds `lanes[l]`, or where there are none `base + constant + step·l` (a null base is 0).
struct Index {
  int64_t constant = 0;
  mlir::Value base;
  int64_t step = 0;
  mlir::Value lanes;

  Index(int64_t constant = 0) : constant(constant) {}
  explicit Index(mlir::Value base, int64_t step = 0) : base(base), step(step) {}

  bool isUniform() const { return step == 0 && !lanes; }
  bool isConstant() const { return isUniform() && !base; }
  void appendKey(std::vector<uint64_t> &key) const;
};
using Indices = llvm::SmallVector<Index, 4>;

bool allUniform(llvm::ArrayRef<Index> indices);

class IndexMath {
public:
  explicit IndexMath(mlir::ImplicitLocOpBuilder &builder) : b(builder) { pushScope(); }

  /// Values made in a scope are forgotten with it: one scope a loop body.
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }

  mlir::Value constant(int64_t value);
  /// i64 value of a uniform index; vector of lanes of any.
  mlir::Value scalar(const Index &index);
  mlir::Value vector(const Index &index);

  Index add(const Index &x, const Index &y);
  Index mul(const Index &x, int64_t factor);
  /// x mod n and x div n, for x ≥ 0 and n ≥ 1.
  Index rem(const Index &x, int64_t n);
  Index div(const Index &x, int64_t n);
  /// Into [0, size − 1]; uniform indices only.
  Index clamp(const Index &x, int64_t size);
  /// Whether low ≤ x < high: i1, or a vector of them. Null where it is known to hold.
  mlir::Value isInside(const Index &x, int64_t low, int64_t high);

  /// Σ indices[k]·strides[k].
  Index linear(llvm::ArrayRef<Index> indices, llvm::ArrayRef<int64_t> strides);
  /// The row-major indices of element `linear` of `shape`.
  Indices delinear(const Index &linear, llvm::ArrayRef<int64_t> shape);

private:
  enum class Code { Constant, Add, AddConstant, Mul, Rem, Div, Vector, Min, Max, AtLeast, Below };
  template <typename Make> mlir::Value once(Code code, mlir::Value x, uint64_t y, Make make);
  Index ofScalarOp(Code code, const Index &x, int64_t n);

  mlir::ImplicitLocOpBuilder &b;
  std::vector<std::map<std::tuple<Code, void *, uint64_t>, mlir::Value>> scopes;
};

} // namespace zero

#endif // ZERO_PASSES_LOWER_INDEXMATH_H
