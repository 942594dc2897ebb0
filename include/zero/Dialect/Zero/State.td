//===- State.td - buckets, slots, persistent state, the arena --------------------------===//
#ifndef ZERO_DIALECT_ZERO_STATE_TD
#define ZERO_DIALECT_ZERO_STATE_TD

include "zero/Dialect/Zero/ZeroBase.td"

def Zero_BucketOp : Zero_Op<"bucket", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "A run of whole parameters that move together.";
  let description = [{
    Length and chunk are elements, the chunk at most the length. Rank r owns the r-th 1/N of each chunk; its shard is those pieces in
    chunk order. Weight, gradient, master and moments share the layout.

    Example:
    ```mlir
    zero.bucket @b0 trainable over 3 ranks length 21 chunk 15 {
      zero.slot @wte at 0 : tensor<5x4xf32> contributions 2
    }
    ```
    Constraints: (C1) ranks ≥ 1 and length and chunk are multiples of it; (C2) at least one slot, of one
    element type, in ascending order without overlap, each beginning at a multiple of 64 bytes;
    (C3) the last slot ends inside the length.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Zero_BucketClass:$bucket_class, I64Attr:$ranks,
      I64Attr:$length, I64Attr:$chunk);
  let regions = (region SizedRegion<1>:$slots);
  let assemblyFormat = "$sym_name $bucket_class `over` $ranks `ranks` `length` $length `chunk` $chunk $slots attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Type getElementType();
    int64_t getElementBytes();
  }];
}
def Zero_SlotOp : Zero_Op<"slot", [HasParent<"BucketOp">]> {
  let summary = "A parameter's place in its bucket.";
  let description = [{
    `at` is an element offset in the full bucket; `contributions` counts the gradients that are
    accumulated into it in one micro-step.

    Example: see `zero.bucket`.

    Constraints: (C1) the type is static, its elements numbers of whole bytes; (C2) `at` and
    `contributions` are not negative.
  }];
  let arguments = (ins FlatSymbolRefAttr:$param, I64Attr:$offset, TypeAttrOf<AnyRankedTensor>:$type,
      DefaultValuedAttr<I64Attr, "0">:$contributions);
  let assemblyFormat = "$param `at` $offset `:` $type (`contributions` $contributions^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}
def Zero_StateOp : Zero_UserOp<"state"> {
  let summary = "What a bucket keeps from step to step.";
  let description = [{
    One entry a kind: element type, `full` or `sharded`, and at level A its offset in bytes.

    Example:
    ```mlir
    zero.state @b0 holds [param f32 sharded at 0, grad_accum f32 sharded at 192, moment1 f32 sharded at 320]
    ```
    Constraints: (C1) the bucket exists; (C2) each kind at most once; (C3) element types are numbers of
    whole bytes.
  }];
  let arguments = (ins FlatSymbolRefAttr:$bucket, TypedArrayAttrBase<Zero_HeldAttr, "held states">:$held);
  let assemblyFormat = "$bucket `holds` custom<HeldList>($held) attr-dict";
  let extraClassDeclaration = [{
    /// The entry of a kind, or null.
    ::zero::ir::HeldAttr find(::zero::ir::StateKind kind);
    /// Gradients of this bucket: `grad` or `grad_accum`, whichever is held, or null.
    ::zero::ir::HeldAttr findGradient();
  }];
}
def Zero_CellOp : Zero_Op<"cell", [Symbol]> {
  let summary = "A named value of the control state.";
  let description = [{
    Example:
    ```mlir
    zero.cell @loss : tensor<2xf32> at 584
    ```
    Constraints: (C1) the type is static.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = "$sym_name `:` $type (`at` $offset^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}
def Zero_ArenaOp : Zero_Op<"arena"> {
  let summary = "The arena of one rank: all bytes of the program (level A).";
  let description = [{
    `persistent` bytes at its head hold state and control; segments share the rest.

    Example:
    ```mlir
    zero.arena 2048 bytes persistent 640 lower_bound 2048
    ```
    Constraints: (C1) 0 ≤ persistent ≤ lower_bound ≤ bytes.
  }];
  let arguments = (ins I64Attr:$bytes, I64Attr:$persistent, I64Attr:$lower_bound);
  let assemblyFormat = "$bytes `bytes` `persistent` $persistent `lower_bound` $lower_bound attr-dict";
  let hasVerifier = 1;
}

#endif // ZERO_DIALECT_ZERO_STATE_TD
