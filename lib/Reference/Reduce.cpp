//===- Reduce.cpp - reductions --------------------------------------------===//

#include "Ops.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace mlir;

namespace zero::reference {
namespace {

/// The result's shape, without or with the reduced dimensions.
Shape reducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims, bool keep) {
  Shape result;
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
    if (!llvm::is_contained(dims, d))
      result.push_back(shape[d]);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

/// Folds each element into the result element that it belongs to, in row-major order.
template <typename OpT, typename Fn>
Array fold(OpT op, const Array &x, double identity, Fn function) {
  Array y(reducedShape(x.shape, op.getDims(), op.getKeep()), /*isFloat=*/true);
  llvm::fill(y.f, identity);
  // Reduced dimensions do not move the target: stride 0.
  Shape kept = stridesOf(reducedShape(x.shape, op.getDims(), /*keep=*/true)), strides = kept;
  for (int64_t d : op.getDims())
    strides[d] = 0;
  std::vector<int64_t> target = positions(x.shape, strides);
  for (size_t k = 0; k < target.size(); ++k)
    y.f[target[k]] = function(y.f[target[k]], x.f[k]);
  return y;
}

double add(double sum, double value) { return sum + value; }

Array reduceSum(nn::ReduceSumOp op, Operands x) { return fold(op, *x[0], 0.0, add); }

Array reduceMean(nn::ReduceMeanOp op, Operands x) {
  Array y = fold(op, *x[0], 0.0, add);
  double count = 1.0;
  for (int64_t d : op.getDims())
    count *= static_cast<double>(x[0]->shape[d]);
  for (double &value : y.f)
    value /= count;
  return y;
}

Array reduceMax(nn::ReduceMaxOp op, Operands x) {
  return fold(op, *x[0], -std::numeric_limits<double>::infinity(),
              [](double a, double b) { return a > b || a != a ? a : b; });
}

} // namespace

void registerReduce(Registry &registry) {
  registry.add<nn::ReduceSumOp>(reduceSum);
  registry.add<nn::ReduceMeanOp>(reduceMean);
  registry.add<nn::ReduceMaxOp>(reduceMax);
}

} // namespace zero::reference
