//===- Contract.td - matrix products -------------------------------------------===//
#ifndef ZERO_DIALECT_NN_CONTRACT_TD
#define ZERO_DIALECT_NN_CONTRACT_TD

include "zero/Dialect/NN/NNBase.td"

def NN_DotGeneralOp : NN_DiffOp<"dot_general"> {
  let summary = "Contracts dimensions of two tensors, with batch dimensions.";
  let description = [{
    The result's dimensions are: batch, then the free ones of the left operand, then the free ones of
    the right, each in their operand's order (as in StableHLO).

    Example:
    ```mlir
    %z = nn.dot_general %x, %y contracting [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %s = nn.dot_general %q, %k batch [0] x [0] contracting [2] x [2]
        : (tensor<5x2x3xf32>, tensor<5x7x3xf32>) -> tensor<5x2x7xf32>
    ```
    Constraints: (C1) dimension lists pair up, are distinct and inside the rank; (C2) paired sizes agree. Element types are equal.
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
      DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`batch` $lhs_batch^ `x` $rhs_batch)? `contracting` $lhs_contract `x` $rhs_contract
    attr-dict `:` functional-type(operands, results)
  }];
}
def NN_LinearOp : NN_DiffOp<"linear"> {
  let summary = "Multiplies rows by a weight matrix and adds a bias.";
  let description = [{
    The weight is [in, out]; under `transposed` it is [out, in], as torch.nn.Linear stores it.

    Example:
    ```mlir
    %y = nn.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
    ```
    Constraints: (C1) the weight has rank 2 and a closed shape; (C2) the input's last dimension equals `in`; (C3) the bias is [out].
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, Optional<NN_FloatTensor>:$bias, UnitAttr:$transposed);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight (`,` $bias^)? (`transposed` $transposed^)? attr-dict `:` functional-type(operands, results)";
}

#endif // ZERO_DIALECT_NN_CONTRACT_TD
