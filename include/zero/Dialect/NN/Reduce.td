//===- Reduce.td - reductions ------------------------------------------------===//
#ifndef ZERO_DIALECT_NN_REDUCE_TD
#define ZERO_DIALECT_NN_REDUCE_TD

include "zero/Dialect/NN/NNBase.td"

class NN_ReduceOp<string mnemonic, string what> : NN_DiffOp<mnemonic> {
  let summary = "Takes the " # what # " over dimensions.";
  let description = "Reduced dimensions are dropped, or kept with size 1 under `keep`.\n\nExample:\n```mlir\n%s = nn." #
      mnemonic # " %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>\n```\n"
      "Constraints: (C1) dimensions are distinct, ascending, inside the rank, and at least one.";
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$dims, UnitAttr:$keep);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `over` $dims (`keep` $keep^)? attr-dict `:` functional-type(operands, results)";
}
def NN_ReduceSumOp : NN_ReduceOp<"reduce_sum", "sum">;
def NN_ReduceMeanOp : NN_ReduceOp<"reduce_mean", "mean">;
def NN_ReduceMaxOp : NN_ReduceOp<"reduce_max", "maximum">;

#endif // ZERO_DIALECT_NN_REDUCE_TD
