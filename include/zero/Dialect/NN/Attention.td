//===- Attention.td - scaled dot-product attention ---------------------------------===//
#ifndef ZERO_DIALECT_NN_ATTENTION_TD
#define ZERO_DIALECT_NN_ATTENTION_TD

include "zero/Dialect/NN/Dropout.td"

def NN_AttentionOp : NN_DiffOp<"attention"> {
  let summary = "Scaled dot-product attention over [batch, time, head, depth] operands.";
  let description = [{
    out = softmax(scale · q·kᵀ, causal mask) · v per head; query head h reads key/value head
    h / (heads / kv heads). The second result is the log of each row's sum of exponentials,
    [batch, head, time], which backward needs (Dao et al., arXiv 2205.14135, section 3.1); it is f32
    for 16-bit operands. Under `dropout` the probabilities are dropped and scaled as nn.dropout does
    it, keyed by `random` and `site`; the batch dimension counts the samples, and the probability of
    head h, query i and key j is element (h · queries + i) · keys + j of its sample.

    Example:
    ```mlir
    %o, %lse = nn.attention %q, %k, %v scale 0.5 causal
        : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
    %p, %plse = nn.attention %q, %k, %v, %random scale 0.5 causal dropout 0.1 site 3
        : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<4xi32>) -> (tensor<2x5x3x4xf32>, tensor<2x3x5xf32>)
    ```
    Constraints: (C1) all have rank 4 and agree in batch and depth; (C2) k and v agree in time and heads;
    (C3) kv heads divide heads; (C4) `causal` needs equal times; (C5) scale is finite;
    (C8) 0 ≤ dropout < 1; (C9) a keyed dropout has `random` and a site in [0, 2^32), another neither;
    a sample has at most 2^34 probabilities.
  }];
  let arguments = (ins NN_FloatTensor:$q, NN_FloatTensor:$k, NN_FloatTensor:$v, Optional<NN_Random>:$random,
      F64Attr:$scale, UnitAttr:$causal, OptionalAttr<F64Attr>:$dropout, OptionalAttr<I64Attr>:$site);
  let results = (outs NN_FloatTensor:$out, NN_FloatTensor:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`,` $random^)? `scale` $scale (`causal` $causal^)? (`dropout` $dropout^)? (`site` $site^)?
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v,
      "::mlir::FloatAttr":$scale, "::mlir::UnitAttr":$causal, CArg<"::mlir::FloatAttr", "{}">:$dropout), [{
    build($_builder, $_state, q, k, v, /*random=*/::mlir::Value(), scale, causal, dropout, /*site=*/::mlir::IntegerAttr());
  }]>];
}
def NN_AttentionGradOp : NN_Op<"attention_grad"> {
  let summary = "The gradients of attention with respect to q, k and v.";
  let description = [{
    Example:
    ```mlir
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
        : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>, tensor<2x5x3x4xf32>)
        -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
    ```
    Constraints: (C1) to (C5), (C8) and (C9) as in attention; (C6) out and its cotangent have q's type; (C7) lse has
    the type that attention gives it.
  }];
  let arguments = (ins NN_FloatTensor:$q, NN_FloatTensor:$k, NN_FloatTensor:$v, NN_FloatTensor:$out,
      NN_FloatTensor:$lse, NN_FloatTensor:$dout, Optional<NN_Random>:$random, F64Attr:$scale, UnitAttr:$causal,
      OptionalAttr<F64Attr>:$dropout, OptionalAttr<I64Attr>:$site);
  let results = (outs NN_FloatTensor:$dq, NN_FloatTensor:$dk, NN_FloatTensor:$dv);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout (`,` $random^)? `scale` $scale (`causal` $causal^)?
    (`dropout` $dropout^)? (`site` $site^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ZERO_DIALECT_NN_ATTENTION_TD
