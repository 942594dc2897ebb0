//===- Params.cpp - parameters, their uses, and the joint graph's end -------===//

#include "Shapes.h"

using namespace mlir;
using namespace zero::nn;

//===----------------------------------------------------------------------===//
// nn.param
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  RankedTensorType type = getTensorType();
  if (!type.hasStaticShape()) // (C1)
    return emitOpError("expects a static shape, got ") << type;
  std::optional<int64_t> count = countElements(type.getShape()); // (C2)
  if (count == 0)
    return emitOpError("expects a parameter of at least one element, got ") << type;
  if (failed(checkTensor(getLoc(), type)))
    return failure();

  bool carries = getInit() != InitKind::Zeros && getInit() != InitKind::Ones; // (C3)
  if (carries && !getInitValue().isFinite())
    return emitOpError("expects a finite number for init ")
           << stringifyInitKind(getInit()) << ", got " << getInitValueAttr();
  if (!carries && !getInitValue().isZero())
    return emitOpError("expects no number for init ")
           << stringifyInitKind(getInit()) << ", got " << getInitValueAttr();

  if (std::optional<uint64_t> row = getZeroRow()) { // (C4)
    auto zeroRow = static_cast<int64_t>(*row);
    int64_t rows = type.getRank() > 0 ? type.getDimSize(0) : 0;
    if (zeroRow < 0 || zeroRow >= rows)
      return emitOpError("expects a zero row in [0, ") << rows << "), got " << zeroRow;
  }
  return success();
}

bool ParamOp::decays() { return getWeightDecay().value_or(getTensorType().getRank() >= 2); }

//===----------------------------------------------------------------------===//
// nn.read
//===----------------------------------------------------------------------===//

/// Finds the parameter that an op names, and compares its type: (C1) of read, (C2) of return, which
/// also takes the f32 gradient of a 16-bit parameter.
static FailureOr<ParamOp> findParam(Operation *op, FlatSymbolRefAttr name, RankedTensorType type,
                                    SymbolTableCollection &symbols, bool takesWide = false) {
  auto param = symbols.lookupNearestSymbolFrom<ParamOp>(op, name);
  if (!param)
    return op->emitOpError("expects the name of an nn.param, got ") << name;
  RankedTensorType declared = param.getTensorType();
  RankedTensorType wide = declared.clone(accumulationType(declared.getElementType()));
  if (type != declared && !(takesWide && type == wide)) {
    InFlightDiagnostic error = op->emitOpError("expects the type of ")
                               << name << ", " << declared << ", got " << type;
    error.attachNote(param.getLoc()) << "the parameter is declared here";
    return error;
  }
  return param;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return findParam(*this, getParamAttr(), getType(), symbols);
}

//===----------------------------------------------------------------------===//
// nn.return
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  if (cast<RankedTensorType>(getLoss().getType()).getRank() != 0)
    return emitOpError("expects a scalar loss, got ") << getLoss().getType();
  if (getGradients().size() != getParams().size()) // (C1)
    return emitOpError("expects one gradient for each of its ")
           << getParams().size() << " names, got " << getGradients().size();
  return success();
}

LogicalResult ReturnOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto [gradient, name] : llvm::zip_equal(getGradients(), getParams())) { // (C2)
    FailureOr<ParamOp> param = findParam(*this, cast<FlatSymbolRefAttr>(name),
                                         cast<RankedTensorType>(gradient.getType()), symbols,
                                         /*takesWide=*/true);
    if (failed(param))
      return failure();
    if (!param->getTrainable()) {
      InFlightDiagnostic error = emitOpError("expects trainable parameters, got ") << name;
      error.attachNote(param->getLoc()) << "the parameter is frozen here";
      return error;
    }
  }
  return success();
}
