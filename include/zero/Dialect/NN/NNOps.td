//===- NNOps.td - all ops of the nn dialect, by subject --------------------===//
#ifndef ZERO_DIALECT_NN_NNOPS_TD
#define ZERO_DIALECT_NN_NNOPS_TD

include "zero/Dialect/NN/Params.td"
include "zero/Dialect/NN/Elementwise.td"
include "zero/Dialect/NN/Shape.td"
include "zero/Dialect/NN/Reduce.td"
include "zero/Dialect/NN/Contract.td"
include "zero/Dialect/NN/Convolution.td"
include "zero/Dialect/NN/Index.td"
include "zero/Dialect/NN/Norm.td"
include "zero/Dialect/NN/Rotary.td"
include "zero/Dialect/NN/Dropout.td"
include "zero/Dialect/NN/Attention.td"
include "zero/Dialect/NN/Loss.td"

#endif // ZERO_DIALECT_NN_NNOPS_TD
