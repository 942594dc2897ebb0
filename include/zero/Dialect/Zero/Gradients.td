//===- Gradients.td - gradients as they are formed and reduced ------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_GRADIENTS_TD
#define ZERO_DIALECT_ZERO_GRADIENTS_TD

include "zero/Dialect/Zero/ZeroBase.td"

def Zero_GradsOp : Zero_UserOp<"grads", [Zero_NamesResults, MemoryEffects<[MemRead<GradState>, MemWrite<GradState>]>]> {
  let summary = "Begins a bucket's grads value.";
  let description = [{
    Allocates a full buffer (stages 2, 3), or names full gradient state (stages 0, 1). `at` is the
    buffer's place at level A.

    Example:
    ```mlir
    %g0 = zero.grads @b0 : !zero.grads<@b0>
    ```
    Constraints: (C1) the value is used exactly once; (C2) the bucket exists, and the result is of it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, OptionalAttr<I64Attr>:$offset);
  let results = (outs Zero_GradsType:$grads);
  let assemblyFormat = "$bucket (`at` $offset^)? attr-dict `:` custom<BucketType>(type($grads))";
  let hasVerifier = 1;
}
def Zero_AccumulateOp : Zero_UserOp<"accumulate", [Zero_NamesResults, AllTypesMatch<["grads", "result"]>, MemoryEffects<[MemRead<GradState>, MemWrite<GradState>]>]> {
  let summary = "Accumulates a gradient into its slot.";
  let description = [{
    Linear: the grads value is used here and a new one goes on. Whether the launch writes the slot or
    adds to it is decided by `zero-plan-arena`: `write`, `add`, or `write_first` (write in the
    segment's first run of a step, add in later ones).

    Example:
    ```mlir
    %g1 = zero.accumulate %dw into %g0 [@fc.weight] : tensor<6x4xf32>, !zero.grads<@b0>
    ```
    Constraints: (C1) the result is used exactly once; (C2) the bucket has a slot for the parameter, of the
    gradient's shape.
  }];
  let arguments = (ins AnyRankedTensor:$gradient, Zero_GradsType:$grads, FlatSymbolRefAttr:$param,
      OptionalAttr<Zero_AccumulateMode>:$mode);
  let results = (outs Zero_GradsType:$result);
  let assemblyFormat = "$gradient `into` $grads `[` $param `]` ($mode^)? attr-dict `:` type($gradient) `,` custom<BucketType>(type($grads))";
  let hasVerifier = 1;
}
class Zero_ReduceOp<string mnemonic, string text> : Zero_Op<mnemonic, [MemoryEffects<[MemRead<GradState>, MemWrite<GradState>]>]> {
  let summary = text;
  let description = "Consumes the grads value. Sums are taken in rank order, beginning with rank 0's value.\n\nExample:\n```mlir\nzero." #
      mnemonic # " %g1 : !zero.grads<@b0>\n```";
  let arguments = (ins Zero_GradsType:$grads);
  let assemblyFormat = "$grads attr-dict `:` custom<BucketType>(type($grads))";
}
def Zero_ReduceScatterOp : Zero_ReduceOp<"reduce_scatter",
    "Sums gradients over ranks; each rank keeps its pieces (in place where the state is full).">;
def Zero_AllReduceOp : Zero_ReduceOp<"all_reduce", "Sums gradients over ranks, in place, on all of them.">;
def Zero_KeepOp : Zero_ReduceOp<"keep", "Leaves gradients in state, unreduced until `update`.">;

class Zero_ReduceStartOp<string mnemonic, string text> : Zero_Op<mnemonic,
    [Zero_NamesResults, MemoryEffects<[MemRead<GradState>, MemWrite<GradState>, MemWrite<Timeline>]>]> {
  let summary = text;
  let description = "Example:\n```mlir\n%r = zero." # mnemonic # " %g1 on reduce : !zero.grads<@b0> -> !zero.future<@b0>\n```\nConstraints: (C1) the future is of the grads value's bucket.";
  let arguments = (ins Zero_GradsType:$grads, Zero_Stream:$stream);
  let results = (outs Zero_FutureType:$future);
  let assemblyFormat = "$grads `on` $stream attr-dict `:` custom<BucketType>(type($grads)) `->` custom<BucketType>(type($future))";
  let hasVerifier = 1;
}
def Zero_ReduceScatterStartOp : Zero_ReduceStartOp<"reduce_scatter_start", "Starts a reduce-scatter, after all compute work issued before it.">;
def Zero_AllReduceStartOp : Zero_ReduceStartOp<"all_reduce_start", "Starts an all-reduce, after all compute work issued before it.">;

#endif // ZERO_DIALECT_ZERO_GRADIENTS_TD
