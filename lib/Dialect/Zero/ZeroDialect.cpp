//===- ZeroDialect.cpp - the zero dialect --------------------------------===//

#include "zero/Dialect/Zero/Zero.h"

#include "Assembly.h"
#include "Symbols.h"
#include "zero/Dialect/Zero/Config.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace zero::ir;

#include "zero/Dialect/Zero/ZeroDialect.cpp.inc"
#include "zero/Dialect/Zero/ZeroEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "zero/Dialect/Zero/ZeroAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "zero/Dialect/Zero/ZeroTypes.cpp.inc"
#define GET_OP_CLASSES
#include "zero/Dialect/Zero/ZeroOps.cpp.inc"

void ZeroDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "zero/Dialect/Zero/ZeroAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "zero/Dialect/Zero/ZeroTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "zero/Dialect/Zero/ZeroOps.cpp.inc"
      >();
}

LogicalResult ZeroDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != Config::kAttrName)
    return success();
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitOpError("expects zero.config to stand on a module");
  return success(Config::get(module).has_value());
}

SlotOp zero::ir::lookupSlot(Operation *user, FlatSymbolRefAttr bucketName, FlatSymbolRefAttr param,
                            SymbolTableCollection &symbols) {
  auto bucket = lookup<BucketOp>(user, bucketName, symbols);
  if (!bucket)
    return nullptr;
  for (auto slot : bucket.getSlots().front().getOps<SlotOp>())
    if (slot.getParamAttr() == param)
      return slot;
  InFlightDiagnostic error = user->emitOpError()
                             << "expects a slot of " << param << " in bucket " << bucketName;
  error.attachNote(bucket.getLoc()) << "the bucket is here";
  return nullptr;
}

std::optional<int64_t> zero::ir::countElements(RankedTensorType type) {
  constexpr int64_t kMaxElements = int64_t(1) << 60;
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    if (ShapedType::isDynamic(size) || __builtin_mul_overflow(elements, size, &elements) ||
        elements > kMaxElements)
      return std::nullopt;
  return elements;
}

std::optional<int64_t> zero::ir::elementBytes(Type element) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  return element.getIntOrFloatBitWidth() / 8;
}
