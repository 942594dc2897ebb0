//===- Zero.h - the zero dialect ------------------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_ZERO_H
#define ZERO_DIALECT_ZERO_ZERO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "zero/Dialect/Zero/ZeroEnums.h.inc"

namespace zero::ir {
// One resource a kind of state (DESIGN: effects that make the ops safe from CSE, DCE and
// reordering).
#define ZERO_RESOURCE(NAME)                                                                        \
  struct NAME : public ::mlir::SideEffects::Resource::Base<NAME> {                                 \
    ::llvm::StringRef getName() final { return #NAME; }                                            \
  };
ZERO_RESOURCE(ParamStateResource)
ZERO_RESOURCE(GradStateResource)
ZERO_RESOURCE(MomentStateResource)
ZERO_RESOURCE(ControlStateResource)
ZERO_RESOURCE(FullBufferResource)
ZERO_RESOURCE(TimelineResource)
#undef ZERO_RESOURCE
} // namespace zero::ir

#include "zero/Dialect/Zero/ZeroDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "zero/Dialect/Zero/ZeroAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "zero/Dialect/Zero/ZeroTypes.h.inc"
#define GET_OP_CLASSES
#include "zero/Dialect/Zero/ZeroOps.h.inc"

#endif // ZERO_DIALECT_ZERO_ZERO_H
