//===- ZeroOps.td - all ops of the zero dialect, by subject ----------------------===//
#ifndef ZERO_DIALECT_ZERO_ZEROOPS_TD
#define ZERO_DIALECT_ZERO_ZEROOPS_TD

include "zero/Dialect/Zero/Launch.td"
include "zero/Dialect/Zero/State.td"
include "zero/Dialect/Zero/Segment.td"
include "zero/Dialect/Zero/Parameters.td"
include "zero/Dialect/Zero/Gradients.td"
include "zero/Dialect/Zero/Update.td"

#endif // ZERO_DIALECT_ZERO_ZEROOPS_TD
