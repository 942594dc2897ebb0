//===- ZeroBase.td - the zero dialect: dialect, types, attributes, resources ----===//
#ifndef ZERO_DIALECT_ZERO_ZEROBASE_TD
#define ZERO_DIALECT_ZERO_ZEROBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Zero_Dialect : Dialect {
  let name = "zero";
  let cppNamespace = "::zero::ir";
  let summary = "ZeRO schedules: buckets, shards, launches, streams and places.";
  let description = [{
    A sharded program is a module with `zero.config`, `zero.bucket` and `zero.state` symbols, kernels,
    and segments (`count`, `micro_step`, `update`) on one cyclic timeline. SSA values never cross
    segments; only state does. The same ops serve the sharded (Z), scheduled (S) and arena (A) levels:
    S adds streams, futures, waits and frees, A adds places.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

// Effects: one resource per kind of state, so that CSE, DCE and reordering stay safe.
def ParamState : Resource<"::zero::ir::ParamStateResource">;
def GradState : Resource<"::zero::ir::GradStateResource">;
def MomentState : Resource<"::zero::ir::MomentStateResource">;
def ControlState : Resource<"::zero::ir::ControlStateResource">;
def FullBuffer : Resource<"::zero::ir::FullBufferResource">;
def Timeline : Resource<"::zero::ir::TimelineResource">;

class Zero_Type<string name, string typeMnemonic, string text, string desc> : TypeDef<Zero_Dialect, name> {
  let mnemonic = typeMnemonic;
  let summary = text;
  let description = desc;
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$bucket);
  let assemblyFormat = "`<` $bucket `>`";
}
def Zero_FullType : Zero_Type<"Full", "full", "A whole bucket of parameters.",
    "The value of `all_gather` or `resident`: `!zero.full<@b0>`.">;
def Zero_GradsType : Zero_Type<"Grads", "grads", "The gradients of a bucket, as they are formed.",
    "Linear: each value is used exactly once: `!zero.grads<@b0>`.">;
def Zero_FutureType : Zero_Type<"Future", "future", "A collective on its way.",
    "Yielded by a `*_start`, consumed by exactly one `wait`: `!zero.future<@b0>`.">;

class Zero_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::zero::ir";
}
def Zero_StateKind : Zero_Enum<"StateKind", "kind of model state", [
  I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"Grad", 1, "grad">,
  I32EnumAttrCase<"GradAccum", 2, "grad_accum">, I32EnumAttrCase<"Master", 3, "master">,
  I32EnumAttrCase<"Moment1", 4, "moment1">, I32EnumAttrCase<"Moment2", 5, "moment2">]>;
def Zero_BucketClass : Zero_Enum<"BucketClass", "class of the parameters in a bucket", [
  I32EnumAttrCase<"Trainable", 0, "trainable">, I32EnumAttrCase<"Frozen", 1, "frozen">,
  I32EnumAttrCase<"Unused", 2, "unused">]>;
def Zero_Stream : Zero_Enum<"Stream", "stream of a rank", [
  I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Gather", 1, "gather">,
  I32EnumAttrCase<"Reduce", 2, "reduce">]>;
def Zero_PlaceKind : Zero_Enum<"PlaceKind", "where a result lies", [
  I32EnumAttrCase<"At", 0, "at">, I32EnumAttrCase<"Inout", 1, "inout">,
  I32EnumAttrCase<"Slot", 2, "slot">, I32EnumAttrCase<"Cell", 3, "cell">]>;
def Zero_AccumulateMode : Zero_Enum<"AccumulateMode", "what an accumulation does to its slot", [
  I32EnumAttrCase<"Write", 0, "write">, I32EnumAttrCase<"Add", 1, "add">,
  I32EnumAttrCase<"WriteFirst", 2, "write_first">]>;
def Zero_KernelKind : Zero_Enum<"KernelKind", "which code computes a kernel", [
  I32EnumAttrCase<"Generated", 0, "generated">, I32EnumAttrCase<"Gemm", 1, "gemm">,
  I32EnumAttrCase<"Attention", 2, "attention">, I32EnumAttrCase<"CrossEntropy", 3, "cross_entropy">,
  I32EnumAttrCase<"Scatter", 4, "scatter">]>;

def Zero_HeldAttr : AttrDef<Zero_Dialect, "Held"> {
  let mnemonic = "held";
  let summary = "One kind of state that a bucket holds: element type, full or sharded, and its place.";
  let description = [{
    `offset` is bytes into the arena, or -1 before level A.

    Example: `#zero.held<param f32 sharded at 0>`; in the list of a `zero.state` without the prefix.
  }];
  let parameters = (ins "::zero::ir::StateKind":$kind, "::mlir::Type":$type, "bool":$sharded,
      DefaultValuedParameter<"int64_t", "-1">:$offset);
  let hasCustomAssemblyFormat = 1;
}
def Zero_PlaceAttr : AttrDef<Zero_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "The place of one launch result: at an offset, over an operand, in a slot, in a cell.";
  let description = [{
    `value` is bytes into the arena for `at`, the operand's index for `inout`, else 0.

    Example: `#zero.place<at 584>`, `#zero.place<inout 0>`, `#zero.place<slot>`, `#zero.place<cell>`.
  }];
  let parameters = (ins "::zero::ir::PlaceKind":$kind, DefaultValuedParameter<"int64_t", "0">:$value);
  let hasCustomAssemblyFormat = 1;
}
def Zero_RangeAttr : AttrDef<Zero_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "Elements [begin, end) of a bucket, whether they are decayed, and their group.";
  let description = [{
    `group` counts the groups of `zero.config` from 0; -1 is none.

    Example: `#zero.range<0 to 24 decay>`; in the list of a `zero.update`, `[0, 24) decay`. With a
    group `#zero.range<0 to 24 decay group 1>` and `[0, 24) decay group 1`.
  }];
  let parameters = (ins "int64_t":$begin, "int64_t":$end, "bool":$decay,
      DefaultValuedParameter<"int64_t", "-1">:$group);
  let hasCustomAssemblyFormat = 1;
}

/// Results are printed under the name of what they hold: a bucket, a parameter, a kernel, a cell.
def Zero_NamesResults : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

class Zero_Op<string mnemonic, list<Trait> traits = []> : Op<Zero_Dialect, mnemonic, traits>;
/// An op that names symbols: each is looked up, and checked, through the module's symbol table.
class Zero_UserOp<string mnemonic, list<Trait> traits = []>
    : Zero_Op<mnemonic, traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

#endif // ZERO_DIALECT_ZERO_ZEROBASE_TD
