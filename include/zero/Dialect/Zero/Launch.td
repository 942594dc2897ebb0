//===- Launch.td - kernels and their launches -------------------------------------===//
#ifndef ZERO_DIALECT_ZERO_LAUNCH_TD
#define ZERO_DIALECT_ZERO_LAUNCH_TD

include "zero/Dialect/Zero/ZeroBase.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Zero_KernelOp : Zero_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface]> {
  let summary = "A group of nn ops that is computed by one kernel.";
  let description = [{
    Keyed by structure: launches of equal structure share a kernel. The body stays `nn` until
    `zero-lower`. `may_reuse` holds, per result, the operands whose bytes the result may be written
    over, decided when the kernel is formed (equal element width, and no element is read after it was
    written). `strides` holds, per argument, element strides of a view, or nothing where it is contiguous.

    Example:
    ```mlir
    zero.kernel @gelu(%u: tensor<6x6xf32>) -> tensor<6x6xf32> kind generated may_reuse [[0]] {
      %a = nn.gelu tanh %u : tensor<6x6xf32>
      zero.yield %a : tensor<6x6xf32>
    }
    ```
    Constraints: (C1) types are static; (C2) `may_reuse` has one list a result, and names operands of
    equal element width and count of elements; (C3) `strides` has one list an argument, each empty or as
    long as the argument's rank; (C4) the yielded types are the results.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      Zero_KernelKind:$kind, OptionalAttr<ArrayAttr>:$may_reuse, OptionalAttr<ArrayAttr>:$strides,
      OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Operand indices that result `i` may be written over.
    ::llvm::SmallVector<int64_t> getMayReuseOf(unsigned i);
    /// Element strides of argument `i`; row-major where none are given.
    ::llvm::SmallVector<int64_t> getStridesOf(unsigned i);
  }];
}

def Zero_YieldOp : Zero_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel.";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

def Zero_LaunchOp : Zero_UserOp<"launch", [Zero_NamesResults,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Launches a kernel.";
  let description = [{
    Pure at levels J and Z; on a stream (level S on) it has an effect on the timeline, so that nothing
    merges, drops or moves it. At level A each result has a place.

    Example:
    ```mlir
    %u = zero.launch @fc(%y, %w, %b) : (tensor<6x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
    %a = zero.launch @gelu(%u) on compute to [at 1024] : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %dl = zero.launch @ce(%l) on compute to [inout 0] workspace at 2048 : (tensor<6x5xf32>) -> tensor<6x5xf32>
    ```
    Constraints: (C1) the kernel exists and its types are the launch's; (C2) one place a result;
    (C3) `inout` names an operand that the kernel's `may_reuse` allows.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$args, OptionalAttr<Zero_Stream>:$stream,
      OptionalAttr<TypedArrayAttrBase<Zero_PlaceAttr, "places">>:$places, OptionalAttr<I64Attr>:$workspace);
  let results = (outs Variadic<AnyType>:$outs);
  let assemblyFormat = [{
    $kernel `(` $args `)` (`on` $stream^)? (`to` custom<Places>($places)^)? (`workspace` `at` $workspace^)?
    attr-dict `:` functional-type($args, $outs)
  }];
}

#endif // ZERO_DIALECT_ZERO_LAUNCH_TD
