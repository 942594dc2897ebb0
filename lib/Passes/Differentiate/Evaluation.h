//===- Evaluation.h - the forward function without a backward ----------------===//
#ifndef ZERO_LIB_PASSES_DIFFERENTIATE_EVALUATION_H
#define ZERO_LIB_PASSES_DIFFERENTIATE_EVALUATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Makes `@eval` from an inlined forward function that is not differentiated yet: without dropout,
/// with a seed as last argument by which the loss is weighed, and which returns the loss: of a
/// cross_entropy the sum over its labels.
void buildEvaluation(::mlir::func::FuncOp forward);

/// Cross-entropies that are not the graph's end: their mean is over their tensor's own labels, 0
/// without any, as their VJP has it. The kernel weighs a sum, so the seed is 1 ÷ count.
void lowerInnerEntropies(::mlir::func::FuncOp function);

} // namespace zero

#endif // ZERO_LIB_PASSES_DIFFERENTIATE_EVALUATION_H
