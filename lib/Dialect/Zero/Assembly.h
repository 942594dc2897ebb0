//===- Assembly.h - directives of the ops' custom assembly -----------------===//
#ifndef ZERO_LIB_DIALECT_ZERO_ASSEMBLY_H
#define ZERO_LIB_DIALECT_ZERO_ASSEMBLY_H

#include "zero/Dialect/Zero/Zero.h"

namespace zero::ir {

/// `[param f32 sharded at 0, moment1 f32 full]`
mlir::ParseResult parseHeldList(mlir::OpAsmParser &parser, mlir::ArrayAttr &held);
void printHeldList(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr held);

/// `[at 584, inout 0, slot, cell]`
mlir::ParseResult parsePlaces(mlir::OpAsmParser &parser, mlir::ArrayAttr &places);
void printPlaces(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr places);

/// `{[0, 24) decay, [32, 36) no_decay}`
mlir::ParseResult parseRanges(mlir::OpAsmParser &parser, mlir::ArrayAttr &ranges);
void printRanges(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr ranges);

/// `!zero.full<@b0>`, with its prefix.
inline mlir::ParseResult parseBucketType(mlir::OpAsmParser &parser, mlir::Type &type) {
  return parser.parseType(type);
}
inline void printBucketType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type type) {
  printer << type;
}

} // namespace zero::ir

#endif // ZERO_LIB_DIALECT_ZERO_ASSEMBLY_H
