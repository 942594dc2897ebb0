//===- NNDialect.cpp - the nn dialect ------------------------------------===//

#include "zero/Dialect/NN/NN.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace zero::nn;

#include "zero/Dialect/NN/NNDialect.cpp.inc"
#include "zero/Dialect/NN/NNEnums.cpp.inc"
#include "zero/Dialect/NN/NNInterfaces.cpp.inc"

namespace {
// Every nn op is pure, so a called block may be inlined anywhere.
struct NNInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void NNDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "zero/Dialect/NN/NNOps.cpp.inc"
      >();
  addInterfaces<NNInliner>();
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                          Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}
