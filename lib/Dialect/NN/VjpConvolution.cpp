//===- VjpConvolution.cpp - products of convolution and pooling ---------------===//
//
// A convolution is one matrix product of patches, [batch, down, across, i, j, c], with
// the weight, [i, j, c, f]; so its gradients are products too. Patches are larger
// than their image by the elements of a window over those of a stride, so they are
// made again in backward, behind a barrier that keeps them from being merged with
// those of forward.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"

using namespace mlir;

namespace zero::nn {
namespace {

/// A convolution seen as a product.
struct Product {
  explicit Product(ConvolutionOp op)
      : op(op), input(op.getInput().getType()), weight(op.getWeight().getType()) {
    auto isOne = [](int64_t size) { return size == 1; };
    auto isZero = [](int64_t size) { return size == 0; };
    isPointwise = llvm::all_of(window(), isOne) && llvm::all_of(op.getStrides(), isOne) &&
                  llvm::all_of(op.getPadding(), isZero);
  }

  ArrayRef<int64_t> window() const { return weight.getShape().take_front(2); }

  /// [batch, down, across, i, j, c] of an image; -1 stands for the batch.
  Shape patchShape() const {
    ArrayRef<int64_t> result = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    Shape shape{-1, result[1], result[2]};
    llvm::append_range(shape, weight.getShape().drop_back());
    return shape;
  }
  Value patches(OpBuilder &builder, Location loc, Value images) const {
    Value rows = images;
    if (!isPointwise)
      rows = PatchesOp::create(builder, loc, images, window(), op.getStrides(), op.getPadding());
    return ReshapeOp::create(builder, loc, rows, patchShape());
  }

  mutable ConvolutionOp op;
  RankedTensorType input, weight;
  bool isPointwise = false;
};

constexpr int64_t kFirstThree[] = {0, 1, 2};

} // namespace

Value ConvolutionOp::expand(OpBuilder &builder) {
  Product product(*this);
  Value patches = product.patches(builder, getLoc(), getInput());
  constexpr int64_t windowDims[] = {3, 4, 5};
  return DotGeneralOp::create(builder, getLoc(), patches, getWeight(), ArrayRef<int64_t>(),
                              ArrayRef<int64_t>(), windowDims, kFirstThree);
}

static LogicalResult differentiate(ConvolutionOp op, Vjp &vjp) {
  Product product(op);
  Value dy = vjp.cotangent();
  ArrayRef<int64_t> none;
  if (vjp.wants(1)) {
    Value again = op.getInput();
    if (!product.isPointwise)
      again = vjp.emit<BarrierOp>(op.getInput().getType(), again, dy);
    Value patches = product.patches(vjp.getBuilder(), op.getLoc(), again);
    vjp.set(1, vjp.emit<DotGeneralOp>(patches, dy, none, none, ArrayRef(kFirstThree),
                                      ArrayRef(kFirstThree)));
  }
  if (vjp.wants(0)) {
    Value dPatches = vjp.emit<DotGeneralOp>(dy, op.getWeight(), none, none, ArrayRef<int64_t>(3),
                                            ArrayRef<int64_t>(3));
    ArrayRef<int64_t> images = product.input.getShape();
    if (product.isPointwise) {
      vjp.set(0, vjp.reshape(dPatches, images));
      return success();
    }
    ArrayRef<int64_t> shape = cast<RankedTensorType>(dPatches.getType()).getShape();
    Shape rows(shape.take_front(4));
    rows.push_back(shape[4] * shape[5]);
    vjp.set(0, vjp.emit<PatchesGradOp>(vjp.reshape(dPatches, rows), product.window(),
                                       op.getStrides(), op.getPadding(), images.slice(1, 2)));
  }
  return success();
}
NN_DEFINE_VJP(ConvolutionOp)

static LogicalResult differentiate(PatchesOp op, Vjp &vjp) {
  vjp.set(0,
          vjp.emit<PatchesGradOp>(vjp.cotangent(), op.getWindow(), op.getStrides(), op.getPadding(),
                                  op.getInput().getType().getShape().slice(1, 2)));
  return success();
}
NN_DEFINE_VJP(PatchesOp)

static LogicalResult differentiate(MaxPoolOp op, Vjp &vjp) {
  vjp.set(0, vjp.emit<MaxPoolGradOp>(op.getInput(), op.getResult(), vjp.cotangent(), op.getWindow(),
                                     op.getStrides(), op.getPadding()));
  return success();
}
NN_DEFINE_VJP(MaxPoolOp)

static LogicalResult differentiate(AvgPoolOp op, Vjp &vjp) {
  vjp.set(0,
          vjp.emit<AvgPoolGradOp>(vjp.cotangent(), op.getWindow(), op.getStrides(), op.getPadding(),
                                  op.getInput().getType().getShape().slice(1, 2)));
  return success();
}
NN_DEFINE_VJP(AvgPoolOp)

} // namespace zero::nn
