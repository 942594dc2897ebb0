//===- Rotary.td - rotary positions ------------------------------------------------===//
#ifndef ZERO_DIALECT_NN_ROTARY_TD
#define ZERO_DIALECT_NN_ROTARY_TD

include "zero/Dialect/NN/NNBase.td"

def NN_RotaryOp : NN_DiffOp<"rotary"> {
  let summary = "Rotates pairs of a head's elements by angles that grow with the position.";
  let description = [{
    Over [batch, time, head, depth]: element d of the first half of depth pairs with element
    d + depth/2, and the pair at time t is rotated by the angle t · frequencies[d] (Su et al., arXiv
    2104.09864, section 3.2.2, in the pairing of Hugging Face's `rotate_half`):

    y[d] = factor · (x[d] · cos − x[d + depth/2] · sin),
    y[d + depth/2] = factor · (x[d + depth/2] · cos + x[d] · sin).

    `inverse` rotates by the negative angle, which is the gradient. All is formed in f64, and the
    result rounded once.

    Example:
    ```mlir
    %y = nn.rotary %x frequencies [1.0, 0.01] : tensor<2x5x3x4xf32>
    %dx = nn.rotary %dy frequencies [1.0, 0.01] factor 1.2 inverse : tensor<2x5x3x4xf32>
    ```
    Constraints: (C1) rank 4; (C2) depth is twice the number of frequencies; (C3) these are finite;
    (C4) the factor is positive and finite.
  }];
  let arguments = (ins NN_FloatTensor:$input, DenseF64ArrayAttr:$frequencies,
      DefaultValuedAttr<F64Attr, "1.0">:$factor, UnitAttr:$inverse);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `frequencies` custom<Numbers>($frequencies) (`factor` $factor^)? (`inverse` $inverse^)? attr-dict `:` type($input)";
}

#endif // ZERO_DIALECT_NN_ROTARY_TD
