//===- Params.td - parameters, their uses, and the joint graph's end -------===//
#ifndef ZERO_DIALECT_NN_PARAMS_TD
#define ZERO_DIALECT_NN_PARAMS_TD

include "zero/Dialect/NN/NNBase.td"

def NN_ParamOp : Op<NN_Dialect, "param", [Symbol]> {
  let summary = "Declares a parameter.";
  let description = [{
    A parameter is a symbol of the module; reading it twice ties the weight. The name is its name in
    the user's checkpoint. Initial values are a function of (seed, name, element) alone. Weight decay
    applies to parameters of rank 2 and more unless `weight_decay` says otherwise; a parameter with
    `trainable = false` is frozen.

    Example:
    ```mlir
    nn.param @fc.weight : tensor<6x4xf32> init normal(0.02)
    nn.param @fc.bias : tensor<4xf32> init zeros {weight_decay = false}
    nn.param @table : tensor<5x4xf32> init normal(0.02) zero_row 0
    ```
    `zero_row` is a row of the first dimension that starts at 0, as a padding token's embedding does.

    Constraints: (C1) the type is a static ranked tensor of floats; (C2) it has at least one element,
    and at most 2^63 - 1 bytes; (C3) `normal`, `uniform` and `constant` carry a finite number, the others none;
    (C4) the zero row is one of the first dimension.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<NN_FloatTensor>:$type,
      NN_InitKind:$init, DefaultValuedAttr<F64Attr, "0.0">:$init_value,
      DefaultValuedAttr<BoolAttr, "true">:$trainable, OptionalAttr<BoolAttr>:$weight_decay,
      OptionalAttr<I64Attr>:$zero_row);
  let assemblyFormat = [{
    $sym_name `:` $type `init` custom<Init>($init, $init_value) (`zero_row` $zero_row^)? attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
    /// Whether weight decay applies: the attribute, or rank >= 2.
    bool decays();
    int64_t zeroRowOr(int64_t none) { return static_cast<int64_t>(getZeroRow().value_or(none)); }
  }];
  let hasVerifier = 1;
}

def NN_ReadOp : Op<NN_Dialect, "read", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Reads a parameter.";
  let description = [{
    Example:
    ```mlir
    %w = nn.read @fc.weight : tensor<6x4xf32>
    ```
    Constraints: (C1) the symbol names an `nn.param` of the result's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def NN_BarrierOp : Op<NN_Dialect, "barrier", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Passes a value on, not before another value exists.";
  let description = [{
    A recomputed launch is fed through a barrier behind a value of backward, so that CSE cannot merge
    it with the launch it repeats.

    Example:
    ```mlir
    %x2 = nn.barrier %x after %dy : tensor<6x4xf32>, tensor<6x5xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$after);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `after` $after attr-dict `:` type($input) `,` type($after)";
}

def NN_ReturnOp : Op<NN_Dialect, "return", [Pure, ReturnLike, Terminator,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Ends the joint graph: the loss and the gradients, in order of formation.";
  let description = [{
    One entry a contribution: a tied weight has several, and no op sums them. The order is the order
    of formation, in which the parameter's slot meets them at every stage.

    Example:
    ```mlir
    nn.return %loss grads(%dw of @fc.weight : tensor<6x4xf32>, %db of @fc.bias : tensor<4xf32>) : tensor<f32>
    ```
    Constraints: (C1) one gradient per symbol entry; (C2) each symbol names a trainable `nn.param`
    of the gradient's type, but that of a 16-bit parameter may be f32.
  }];
  let arguments = (ins NN_FloatTensor:$loss, Variadic<NN_FloatTensor>:$gradients, FlatSymbolRefArrayAttr:$params);
  let assemblyFormat = "$loss `grads` `` custom<Gradients>($gradients, type($gradients), $params) attr-dict `:` type($loss)";
  let hasVerifier = 1;
}

#endif // ZERO_DIALECT_NN_PARAMS_TD
