//===- Loss.td - cross-entropy and the count of labels -----------------------------===//
#ifndef ZERO_DIALECT_NN_LOSS_TD
#define ZERO_DIALECT_NN_LOSS_TD

include "zero/Dialect/NN/NNBase.td"

def NN_CrossEntropyOp : NN_DiffOp<"cross_entropy"> {
  let summary = "Mean cross-entropy of logits against labels, without ignored ones.";
  let description = [{
    The mean over the rows whose label is not `ignoring` of -log softmax(logits)[label]. As the loss of
    the training graph the mean is over all ranks and micro-steps of the step (law N2).

    Example:
    ```mlir
    %loss = nn.cross_entropy %logits, %labels ignoring -100 : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> tensor<f32>
    ```
    Constraints: (C1) the labels' shape is the logits' without the last dimension; (C2) the ignored
    value is one of the labels' type. The loss of 16-bit logits is f32. Labels outside [0, classes) other than the ignored one are refused before the step.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels, I64Attr:$ignore);
  let results = (outs NN_FloatTensor:$loss);
  let assemblyFormat = "$logits `,` $labels `ignoring` $ignore attr-dict `:` functional-type(operands, results)";
}
def NN_CrossEntropyWithGradOp : NN_Op<"cross_entropy_with_grad"> {
  let summary = "Seed-weighted sum of cross-entropies, and its gradient.";
  let description = [{
    loss = seed · Σ over rows of -log softmax(logits)[label]; dlogits = seed · (softmax - onehot), 0 in ignored rows.

    Example:
    ```mlir
    %loss, %dl = nn.cross_entropy_with_grad %l, %labels, %seed ignoring -100
        : (tensor<6x5xf32>, tensor<6xi32>, tensor<f32>) -> (tensor<f32>, tensor<6x5xf32>)
    ```
    Constraints: (C1), (C2) as in cross_entropy; (C3) the seed is a scalar of the loss's type.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels, NN_FloatTensor:$seed, I64Attr:$ignore);
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$dlogits);
  let assemblyFormat = "$logits `,` $labels `,` $seed `ignoring` $ignore attr-dict `:` functional-type(operands, results)";
}
def NN_CountLabelsOp : NN_Op<"count_labels"> {
  let summary = "Counts the labels that are not ignored.";
  let description = "Example:\n```mlir\n%n = nn.count_labels %labels ignoring -100 : (tensor<2x3xi32>) -> tensor<i64>\n```\n"
      "Constraints: (C1) the ignored value is one of the labels' type.";
  let arguments = (ins NN_IndexTensor:$labels, I64Attr:$ignore);
  let results = (outs NN_Tensor:$count);
  let assemblyFormat = "$labels `ignoring` $ignore attr-dict `:` functional-type(operands, results)";
}

#endif // ZERO_DIALECT_NN_LOSS_TD
