//===- Shape.td - ops that move or make elements ----------------------------===//
#ifndef ZERO_DIALECT_NN_SHAPE_TD
#define ZERO_DIALECT_NN_SHAPE_TD

include "zero/Dialect/NN/NNBase.td"

def NN_ReshapeOp : NN_DiffOp<"reshape"> {
  let summary = "Gives the elements, in row-major order, another shape.";
  let description = [{
    Example:
    ```mlir
    %y = nn.reshape %x to [-1, 3, 4] : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    ```
    Constraints: (C1) at most one entry is -1, and it is inferred; (C2) the numbers of elements agree.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def NN_TransposeOp : NN_DiffOp<"transpose"> {
  let summary = "Permutes dimensions: result dimension i is input dimension permutation[i].";
  let description = "Example:\n```mlir\n%y = nn.transpose %x by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n```\n"
      "Constraints: (C1) the permutation names each dimension once.";
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `by` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def NN_BroadcastOp : NN_DiffOp<"broadcast"> {
  let summary = "Repeats elements to a larger shape, aligned at the last dimension as numpy does.";
  let description = "Example:\n```mlir\n%y = nn.broadcast %x to [2, 3] : (tensor<3xf32>) -> tensor<2x3xf32>\n```\n"
      "Constraints: (C1) each size equals the input's, or the input's is 1 or missing; -1 takes the input's.";
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `to` $shape attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def NN_SliceOp : NN_DiffOp<"slice"> {
  let summary = "Takes a box: `sizes` elements from `starts` on, in each dimension.";
  let description = [{
    A size of -1 means: to the end.

    Example:
    ```mlir
    %y = nn.slice %x from [0, 1] sizes [-1, 2] : (tensor<?x3xf32>) -> tensor<?x2xf32>
    ```
    Constraints: (C1) one start and one size a dimension; (C2) the box lies inside the input.
  }];
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `from` $starts `sizes` $sizes attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def NN_ConcatOp : NN_DiffOp<"concat"> {
  let summary = "Joins tensors along a dimension.";
  let description = "Example:\n```mlir\n%z = nn.concat %x, %y along 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>\n```\n"
      "Constraints: (C1) equal element types; (C2) `dim` is inside the rank; (C3) sizes agree elsewhere.";
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$inputs `along` $dim attr-dict `:` functional-type(operands, results)";
}
def NN_SplitOp : NN_DiffOp<"split"> {
  let summary = "Cuts a tensor along a dimension into consecutive parts.";
  let description = "Example:\n```mlir\n%a, %b = nn.split %x along 1 sizes [3, 4] : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>)\n```\n"
      "Constraints: (C1) `dim` is inside the rank; (C2) it is closed; (C3) the sizes sum to its size.";
  let arguments = (ins NN_Tensor:$input, I64Attr:$dim, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<NN_Tensor>:$parts);
  let assemblyFormat = "$input `along` $dim `sizes` $sizes attr-dict `:` functional-type(operands, results)";
}
def NN_PadOp : NN_DiffOp<"pad"> {
  let summary = "Adds zeros before and behind, in each dimension.";
  let description = "Example:\n```mlir\n%y = nn.pad %x low [0, 1] high [2, 0] : (tensor<2x3xf32>) -> tensor<4x4xf32>\n```\n"
      "Constraints: (C1) one non-negative low and high a dimension.";
  let arguments = (ins NN_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `low` $low `high` $high attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}
def NN_IotaOp : Op<NN_Dialect, "iota", [Pure, DeclareOpInterfaceMethods<NN_CostOpInterface>,
    DeclareOpInterfaceMethods<NN_KernelOpInterface>]> {
  let summary = "Makes a tensor whose elements are their index along a dimension.";
  let description = "Example:\n```mlir\n%i = nn.iota along 1 : tensor<2x3xi32>\n```\n"
      "Constraints: (C1) a static shape, (C2) of numbers; (C3) `dim` is inside the rank.";
  let arguments = (ins I64Attr:$dim);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "`along` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def NN_ConstantOp : Op<NN_Dialect, "constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<NN_CostOpInterface>, DeclareOpInterfaceMethods<NN_KernelOpInterface>]> {
  let summary = "Makes a constant.";
  let description = "Example:\n```mlir\n%c = nn.constant dense<0.5> : tensor<3xf32>\n```";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

#endif // ZERO_DIALECT_NN_SHAPE_TD
