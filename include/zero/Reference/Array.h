//===- Array.h - tensors of the reference interpreter --------------------===//
//
// A value of the reference is a shape and its elements in row-major order: f64 for
// every float type, so that rounding to f32 or bf16 is not modelled, and int64 for
// every integer type (i1 holds 0 or 1). Layouts, views and strides do not exist.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_REFERENCE_ARRAY_H
#define ZERO_REFERENCE_ARRAY_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <vector>

namespace zero::reference {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Elements of a shape; 1 for a scalar.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// For messages: `[2, 3]`.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

struct Array {
  Shape shape;
  bool isFloat = true;
  std::vector<double> f;  // the elements of a float array, else empty
  std::vector<int64_t> i; // the elements of an integer array, else empty

  Array() = default;
  /// Zeros.
  Array(llvm::ArrayRef<int64_t> shape, bool isFloat);

  static Array floats(llvm::ArrayRef<int64_t> shape, std::vector<double> values);
  static Array integers(llvm::ArrayRef<int64_t> shape, std::vector<int64_t> values);
  static Array scalar(double value) { return floats({}, {value}); }

  int64_t size() const { return countElements(shape); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// Size of the last dimension; 1 for a scalar.
  int64_t lastDimension() const { return shape.empty() ? 1 : shape.back(); }

  /// Whether this can be a value of `type`: float or integer alike, and equal sizes where `type`
  /// has static ones.
  bool fits(mlir::RankedTensorType type) const;
};

} // namespace zero::reference

#endif // ZERO_REFERENCE_ARRAY_H
