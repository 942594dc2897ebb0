//===- Update.td - norm and optimizer ----------------------------------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_UPDATE_TD
#define ZERO_DIALECT_ZERO_UPDATE_TD

include "zero/Dialect/Zero/ZeroBase.td"

def Zero_NormOp : Zero_UserOp<"norm", [MemoryEffects<[MemRead<GradState>, MemWrite<ControlState>]>]> {
  let summary = "The norm of all gradients, each element once, independent of order (law N4).";
  let description = [{
    `replicated`: every rank holds all reduced gradients (stage 0), so nothing is summed over ranks.

    Example:
    ```mlir
    zero.norm [@b0, @b1] into @norm
    ```
    Constraints: (C1) buckets and cell exist, the cell a tensor<f64>; (C2) each bucket at most once.
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$buckets, FlatSymbolRefAttr:$cell, UnitAttr:$replicated);
  let assemblyFormat = "$buckets `into` $cell (`replicated` $replicated^)? attr-dict";
}
def Zero_UpdateOp : Zero_UserOp<"update", [MemoryEffects<[MemRead<GradState>, MemRead<ControlState>,
    MemRead<ParamState>, MemWrite<ParamState>, MemWrite<MomentState>]>]> {
  let summary = "Updates a bucket's owned elements; predicated on the agreed finite norm and loss.";
  let description = [{
    The ranges are constant over the full bucket; the runtime meets them with the rank's pieces.
    The optimizer, its constants and the groups stand in `zero.config`.

    Example:
    ```mlir
    zero.update @b0 by @norm {[0, 24) decay, [32, 36) no_decay}
    ```
    Constraints: (C1) ranges are ascending, without overlap, and are exactly the bucket's slots; (C2) bucket and
    cell exist; (C3) a range's group is one of `zero.config`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, FlatSymbolRefAttr:$norm,
      TypedArrayAttrBase<Zero_RangeAttr, "ranges">:$ranges, UnitAttr:$replicated);
  let assemblyFormat = "$bucket `by` $norm custom<Ranges>($ranges) (`replicated` $replicated^)? attr-dict";
}

#endif // ZERO_DIALECT_ZERO_UPDATE_TD
