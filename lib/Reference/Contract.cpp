//===- Contract.cpp - matrix products -------------------------------------===//

#include "Ops.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero::reference {
namespace {

/// The dimensions of an operand, divided into those with a part in batch, contraction, or neither.
struct Side {
  Side(const Array &x, ArrayRef<int64_t> batchDims, ArrayRef<int64_t> contractDims) {
    Shape freeDims;
    for (int64_t d = 0; d < x.rank(); ++d)
      if (!llvm::is_contained(batchDims, d) && !llvm::is_contained(contractDims, d))
        freeDims.push_back(d);
    batch = gather(x, batchDims, batchShape);
    contract = gather(x, contractDims, contractShape);
    free = gather(x, freeDims, freeShape);
  }

  static std::vector<int64_t> gather(const Array &x, ArrayRef<int64_t> dims, Shape &shape) {
    Shape own = stridesOf(x.shape), strides;
    for (int64_t d : dims) {
      shape.push_back(x.shape[d]);
      strides.push_back(own[d]);
    }
    return positions(shape, strides);
  }

  Shape batchShape, contractShape, freeShape;
  std::vector<int64_t> batch, contract, free; // linear positions; an element's is the sum of three
};

Array dotGeneral(nn::DotGeneralOp op, Operands x) {
  Side left(*x[0], op.getLhsBatch(), op.getLhsContract());
  Side right(*x[1], op.getRhsBatch(), op.getRhsContract());
  Shape shape = left.batchShape;
  llvm::append_range(shape, left.freeShape);
  llvm::append_range(shape, right.freeShape);

  Array y(shape, /*isFloat=*/true);
  double *out = y.f.data();
  for (size_t b = 0; b < left.batch.size(); ++b)
    for (int64_t row : left.free)
      for (int64_t column : right.free) {
        const double *l = x[0]->f.data() + left.batch[b] + row;
        const double *r = x[1]->f.data() + right.batch[b] + column;
        double sum = 0.0;
        for (size_t k = 0; k < left.contract.size(); ++k)
          sum += l[left.contract[k]] * r[right.contract[k]];
        *out++ = sum;
      }
  return y;
}

Array linear(nn::LinearOp op, Operands x) {
  const Array &input = *x[0], &weight = *x[1];
  int64_t in = input.lastDimension(), out = weight.shape[op.getTransposed() ? 0 : 1];
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < input.rank(); ++d)
    rows *= input.shape[d];
  // weight[k, j], whichever way it is stored
  int64_t inStride = op.getTransposed() ? 1 : out, outStride = op.getTransposed() ? in : 1;

  Shape shape = input.shape;
  shape.back() = out;
  Array y(shape, /*isFloat=*/true);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < out; ++j) {
      double sum = op.getBias() ? x[2]->f[j] : 0.0;
      for (int64_t k = 0; k < in; ++k)
        sum += input.f[row * in + k] * weight.f[k * inStride + j * outStride];
      y.f[row * out + j] = sum;
    }
  return y;
}

} // namespace

void registerContract(Registry &registry) {
  registry.add<nn::DotGeneralOp>(dotGeneral);
  registry.add<nn::LinearOp>(linear);
}

} // namespace zero::reference
