//===- Segment.td - segments and the control scalars --------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_SEGMENT_TD
#define ZERO_DIALECT_ZERO_SEGMENT_TD

include "zero/Dialect/Zero/ZeroBase.td"

def Zero_SegmentOp : Zero_Op<"segment", [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A run of the step's timeline.";
  let description = [{
    Runs `times` times a step. Arguments are copied in from the batch; `names` are the graph's argument
    names, `offsets` (level A) their places in bytes.

    Example:
    ```mlir
    zero.segment @micro_step times 2 (%tokens: tensor<2x3xi32>, %labels: tensor<2x3xi32>) {
    }
    ```
    An argument whose name is no identifier, or not the only one of its name, has its SSA name from the
    printer, and `names` stands in the attributes.

    Constraints: (C1) times ≥ 1; (C2) argument types are static ranked tensors; (C3) one name and, at
    level A, one offset an argument.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$times, StrArrayAttr:$names,
      OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def Zero_CountOp : Zero_UserOp<"count", [MemoryEffects<[MemWrite<ControlState>]>]> {
  let summary = "Counts the labels that are not ignored, over all ranks, into a cell.";
  let description = "Example:\n```mlir\nzero.count %labels ignoring -100 into @label_count : tensor<2x2x3xi32>\n```\nConstraints: (C1) the cell exists and is i64, of rank 0 or one element a micro-step; (C2) the labels are integers.";
  let arguments = (ins AnyRankedTensor:$labels, I64Attr:$ignore, FlatSymbolRefAttr:$cell);
  let assemblyFormat = "$labels `ignoring` $ignore `into` $cell attr-dict `:` type($labels)";
}
def Zero_SeedOp : Zero_UserOp<"seed", [MemoryEffects<[MemRead<ControlState>, MemWrite<ControlState>]>]> {
  let summary = "Sets the backward seed: loss scale ÷ count, in f64, rounded once.";
  let description = [{
    Without a count the loss is averaged over ranks and micro-steps: loss scale ÷ (N·A).

    Example:
    ```mlir
    zero.seed @seed from @label_count
    ```
    Constraints: (C1) the cells exist; the seed's elements are f32, the count's i64; (C2) both have one shape.
  }];
  let arguments = (ins FlatSymbolRefAttr:$seed, OptionalAttr<FlatSymbolRefAttr>:$count_cell);
  let assemblyFormat = "$seed (`from` $count_cell^)? attr-dict";
  let extraClassDeclaration = [{
    /// The count's cell, or an empty name.
    ::llvm::StringRef getCount() { return getCountCell().value_or(::llvm::StringRef()); }
  }];
}
def Zero_RandomOp : Zero_UserOp<"random", [MemoryEffects<[MemWrite<ControlState>]>]> {
  let summary = "Sets what dropout is keyed by: seed (low, high), step, and the rank's first sample of this run.";
  let description = [{
    Samples count through the step's global batch, `samples` for each rank in each run of the segment.

    Example:
    ```mlir
    zero.random samples 2 into @random
    ```
    Constraints: (C1) the cell exists and is tensor<4xi32>; (C2) samples ≥ 1.
  }];
  let arguments = (ins I64Attr:$samples, FlatSymbolRefAttr:$cell);
  let assemblyFormat = "`samples` $samples `into` $cell attr-dict";
}
def Zero_ScalarOp : Zero_UserOp<"scalar", [Zero_NamesResults, MemoryEffects<[MemRead<ControlState>]>]> {
  let summary = "Reads a cell; one with an element a run is indexed by the segment's run.";
  let description = "Example:\n```mlir\n%seed = zero.scalar @seed : tensor<f32>\n```\nConstraints: (C1) the cell exists and has the result's type, or one such value a run.";
  let arguments = (ins FlatSymbolRefAttr:$cell);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$cell attr-dict `:` type($result)";
}
def Zero_SetOp : Zero_UserOp<"set", [MemoryEffects<[MemWrite<ControlState>]>]> {
  let summary = "Sets a cell; a cell with one element a run is indexed by the segment's run.";
  let description = "Example:\n```mlir\nzero.set @loss %loss : tensor<f32>\n```\nConstraints: (C1) the cell exists and has the value's type, or one such value a run.";
  let arguments = (ins FlatSymbolRefAttr:$cell, AnyRankedTensor:$value);
  let assemblyFormat = "$cell $value attr-dict `:` type($value)";
}

#endif // ZERO_DIALECT_ZERO_SEGMENT_TD
