//===- Index.td - reading and adding rows by index ------------------------------===//
#ifndef ZERO_DIALECT_NN_INDEX_TD
#define ZERO_DIALECT_NN_INDEX_TD

include "zero/Dialect/NN/NNBase.td"

def NN_EmbeddingOp : NN_DiffOp<"embedding"> {
  let summary = "Looks rows of a table up.";
  let description = [{
    Example:
    ```mlir
    %x = nn.embedding %ids, %table : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    %y = nn.embedding %ids, %table padding 0 : (tensor<2x3xi32>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
    ```
    The row `padding` is read as any other, and gets no gradient from here (torch.nn.Embedding's
    `padding_idx`).

    Constraints: (C1) the table has rank 2 and a closed shape; (C2) padding is one of its rows.
    Indices outside [0, rows) are refused before the step.
  }];
  let arguments = (ins NN_IndexTensor:$indices, NN_FloatTensor:$table, OptionalAttr<I64Attr>:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$indices `,` $table (`padding` $padding^)? attr-dict `:` functional-type(operands, results)";
}
def NN_GatherOp : NN_DiffOp<"gather"> {
  let summary = "Takes slices along a dimension by index.";
  let description = [{
    The result's shape is the input's with dimension `dim` replaced by the shape of the indices.

    Example:
    ```mlir
    %y = nn.gather %x, %i along 1 : (tensor<2x5x3xf32>, tensor<4xi32>) -> tensor<2x4x3xf32>
    ```
    Constraints: (C1) `dim` is inside the rank. Indices outside [0, size) are refused before the step.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $indices `along` $dim attr-dict `:` functional-type(operands, results)";
}
def NN_ScatterAddOp : NN_Op<"scatter_add"> {
  let summary = "Adds rows into a table of zeros by index.";
  let description = [{
    Each hit row is formed in f32 in the order of the indices.

    Example:
    ```mlir
    %t = nn.scatter_add %ids, %dx into 5 rows : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<5x4xf32>
    ```
    Constraints: (C1) the updates' shape is the indices' shape and one more dimension; (C2) rows is
    at least 1.
  }];
  let arguments = (ins NN_IndexTensor:$indices, NN_FloatTensor:$updates, I64Attr:$rows);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$indices `,` $updates `into` $rows `rows` attr-dict `:` functional-type(operands, results)";
}

#endif // ZERO_DIALECT_NN_INDEX_TD
