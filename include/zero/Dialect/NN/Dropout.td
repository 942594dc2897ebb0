//===- Dropout.td - dropout, and what its masks are keyed by ----------------===//
#ifndef ZERO_DIALECT_NN_DROPOUT_TD
#define ZERO_DIALECT_NN_DROPOUT_TD

include "zero/Dialect/NN/NNBase.td"

/// A tensor type of one spelling, so that the assembly leaves it out.
class NN_WordsOf<int count> : Type<
    CPred<"$_self == ::mlir::RankedTensorType::get({" # count # "}, ::mlir::IntegerType::get($_self.getContext(), 32))">,
    "tensor<" # count # "xi32>", "::mlir::RankedTensorType">,
    BuildableType<"::mlir::RankedTensorType::get({" # count # "}, $_builder.getI32Type())">;
def NN_Random : NN_WordsOf<4>;
def NN_Site : NN_WordsOf<1>;

def NN_DropoutOp : NN_DiffOp<"dropout", [AttrSizedOperandSegments]> {
  let summary = "Drops elements at random, and scales the others up.";
  let description = [{
    Each element is 0 with probability `rate`, and else multiplied by 1 / (1 - rate), rounded to f32
    (Srivastava et al., JMLR 15, 2014, in the form that leaves evaluation alone). Dropout is part of
    training only.

    `nn-autodiff` keys each one: `random` holds seed (low, high), step and the number of the first
    sample of the batch, and `site` is the op's number in the model. The value belongs to `samples`
    samples, which lie one behind the other, so the mask of an element follows from seed, step, site,
    sample and place in the sample (include/zero/Runtime/Random.h), whatever the ranks, micro-steps
    and threads. The product in backward is the same op on the cotangent. Inside kernels the site is
    an operand, so that equal layers share a kernel.

    Example:
    ```mlir
    %y = nn.dropout %x rate 0.1 : tensor<2x3xf32>
    %z = nn.dropout %x rate 0.1 keyed by %random samples 2 site 5 : tensor<2x3xf32>
    %k = nn.dropout %x rate 0.1 keyed by %random, %site samples 2 : tensor<2x3xf32>
    ```
    Constraints: (C1) 0 ≤ rate < 1; (C2) a keyed one has samples and one site, in [0, 2^32), another
    none of these; (C3) the samples divide the elements, into at most 2^34 each.
  }];
  let arguments = (ins NN_FloatTensor:$input, F64Attr:$rate, Optional<NN_Random>:$random,
      Optional<NN_Site>:$site_value, OptionalAttr<I64Attr>:$samples, OptionalAttr<I64Attr>:$site);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `rate` $rate (`keyed` `by` $random^ (`,` $site_value^)?)? (`samples` $samples^)?
    (`site` $site^)? attr-dict `:` type($input)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::FloatAttr":$rate), [{
    build($_builder, $_state, input, rate, /*random=*/::mlir::Value(), /*site_value=*/::mlir::Value(),
          /*samples=*/::mlir::IntegerAttr(), /*site=*/::mlir::IntegerAttr());
  }]>];
  let hasFolder = 1;
}

#endif // ZERO_DIALECT_NN_DROPOUT_TD
