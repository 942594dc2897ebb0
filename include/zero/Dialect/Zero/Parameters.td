//===- Parameters.td - gathered buckets and views of them -------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_PARAMETERS_TD
#define ZERO_DIALECT_ZERO_PARAMETERS_TD

include "zero/Dialect/Zero/ZeroBase.td"

def Zero_AllGatherOp : Zero_UserOp<"all_gather", [Zero_NamesResults, MemoryEffects<[MemRead<ParamState>]>]> {
  let summary = "Gathers a bucket's parameters from all ranks.";
  let description = [{
    Reads state and allocates its result, so that two never merge and an unused one goes.

    Example:
    ```mlir
    %full = zero.all_gather @b0 : !zero.full<@b0>
    ```
    Constraints: (C1) the bucket exists, and the result is of it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket);
  let results = (outs Res<Zero_FullType, "", [MemAlloc<FullBuffer>]>:$full);
  let assemblyFormat = "$bucket attr-dict `:` custom<BucketType>(type($full))";
}
def Zero_AllGatherInPlaceOp : Zero_UserOp<"all_gather_in_place", [MemoryEffects<[MemRead<ParamState>, MemWrite<ParamState>]>]> {
  let summary = "Gathers updated parameters, state to state (stages 1 and 2, last in `update`).";
  let description = "Example:\n```mlir\nzero.all_gather_in_place @b0\n```\nConstraints: (C1) the bucket exists.";
  let arguments = (ins FlatSymbolRefAttr:$bucket);
  let assemblyFormat = "$bucket attr-dict";
}
def Zero_ResidentOp : Zero_UserOp<"resident", [Zero_NamesResults, MemoryEffects<[MemRead<ParamState>]>]> {
  let summary = "Names a bucket's full parameter state (stages 0 to 2): no traffic, never freed.";
  let description = "Example:\n```mlir\n%full = zero.resident @b0 : !zero.full<@b0>\n```\nConstraints: (C1) the bucket exists, and the result is of it.";
  let arguments = (ins FlatSymbolRefAttr:$bucket);
  let results = (outs Zero_FullType:$full);
  let assemblyFormat = "$bucket attr-dict `:` custom<BucketType>(type($full))";
}
def Zero_ViewOp : Zero_UserOp<"view", [Zero_NamesResults, Pure]> {
  let summary = "A parameter as a view of its gathered bucket; never a copy.";
  let description = "Example:\n```mlir\n%w = zero.view @fc.weight of %full : !zero.full<@b0> -> tensor<6x4xf32>\n```\nConstraints: (C1) the bucket has a slot for the parameter, of the result's type.";
  let arguments = (ins FlatSymbolRefAttr:$param, Zero_FullType:$full);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$param `of` $full attr-dict `:` custom<BucketType>(type($full)) `->` type($result)";
}
def Zero_FreeOp : Zero_Op<"free", [MemoryEffects<[MemWrite<Timeline>]>]> {
  let summary = "Ends a gathered bucket's life, after every transitive user of a view of it.";
  let description = "Example:\n```mlir\nzero.free %full : !zero.full<@b0>\n```";
  let arguments = (ins Arg<Zero_FullType, "", [MemFree<FullBuffer>]>:$full);
  let assemblyFormat = "$full attr-dict `:` custom<BucketType>(type($full))";
}
def Zero_AllGatherStartOp : Zero_UserOp<"all_gather_start",
    [Zero_NamesResults, MemoryEffects<[MemRead<ParamState>, MemWrite<FullBuffer>, MemWrite<Timeline>]>]> {
  let summary = "Starts a gather, after all compute work issued before it.";
  let description = [{
    `in_place` gathers state to state.

    Example:
    ```mlir
    %0 = zero.all_gather_start @b0 on gather at 640 : !zero.future<@b0>
    ```
    Constraints: (C1) the bucket exists, and the result is of it; (C2) one in place has no place of its own.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, UnitAttr:$in_place, Zero_Stream:$stream, OptionalAttr<I64Attr>:$offset);
  let results = (outs Zero_FutureType:$future);
  let assemblyFormat = "$bucket (`in_place` $in_place^)? `on` $stream (`at` $offset^)? attr-dict `:` custom<BucketType>(type($future))";
}
def Zero_WaitOp : Zero_Op<"wait", [Zero_NamesResults, MemoryEffects<[MemRead<Timeline>, MemWrite<Timeline>]>]> {
  let summary = "Waits for a collective on a stream; a gather's wait yields the full bucket.";
  let description = [{
    Example:
    ```mlir
    %full = zero.wait %0 on compute : !zero.future<@b0> -> !zero.full<@b0>
    zero.wait %1 on compute : !zero.future<@b1>
    ```
    Constraints: (C1) the full bucket is the future's; (C2) it is yielded for a gather that is not in place,
    and for nothing else.
  }];
  let arguments = (ins Zero_FutureType:$future, Zero_Stream:$stream);
  let results = (outs Optional<Zero_FullType>:$full);
  let assemblyFormat = "$future `on` $stream attr-dict `:` custom<BucketType>(type($future)) (`->` custom<BucketType>(type($full))^)?";
  let hasVerifier = 1;
}

#endif // ZERO_DIALECT_ZERO_PARAMETERS_TD
