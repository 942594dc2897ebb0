//===- ZeroDialect.cpp - the zero dialect --------------------------------===//

#include "zero/Dialect/Zero/Zero.h"

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
