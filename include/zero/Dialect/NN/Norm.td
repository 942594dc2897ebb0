//===- Norm.td - normalisation along the last dimension --------------------------===//
#ifndef ZERO_DIALECT_NN_NORM_TD
#define ZERO_DIALECT_NN_NORM_TD

include "zero/Dialect/NN/NNBase.td"

def NN_LayerNormOp : NN_DiffOp<"layer_norm"> {
  let summary = "Normalises rows to mean 0 and variance 1, then scales and shifts them.";
  let description = [{
    (x - mean) / √(variance + eps) · weight + bias, with the biased variance (Ba et al., arXiv 1607.06450).

    Example:
    ```mlir
    %y = nn.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    ```
    Constraints: (C1) weight and bias are [last dimension], of the input's type, or of f32 beside a
    16-bit input, and the gradients' cotangents of the input's type; (C2) eps is positive and finite.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$bias, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `,` $bias `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_LayerNormGradInputOp : NN_Op<"layer_norm_grad_input"> {
  let summary = "The gradient of layer_norm with respect to its input.";
  let description = "Example:\n```mlir\n%dx = nn.layer_norm_grad_input %x, %w, %dy eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$dy, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `,` $dy `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_LayerNormGradWeightOp : NN_Op<"layer_norm_grad_weight"> {
  let summary = "The gradient of layer_norm with respect to its weight: Σ over rows of dy · normalised x.";
  let description = "Example:\n```mlir\n%dw = nn.layer_norm_grad_weight %x, %dy eps 1.0e-5 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$dy, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $dy `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_RmsNormOp : NN_DiffOp<"rms_norm"> {
  let summary = "Divides rows by their root mean square, then scales them.";
  let description = [{
    x / √(mean(x²) + eps) · weight (Zhang and Sennrich, arXiv 1910.07467, section 3).

    Example:
    ```mlir
    %y = nn.rms_norm %x, %w eps 1.0e-6 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    ```
    Constraints: (C1), (C2) as in layer_norm.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_RmsNormGradInputOp : NN_Op<"rms_norm_grad_input"> {
  let summary = "The gradient of rms_norm with respect to its input.";
  let description = "Example:\n```mlir\n%dx = nn.rms_norm_grad_input %x, %w, %dy eps 1.0e-6 : (tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$dy, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `,` $dy `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_RmsNormGradWeightOp : NN_Op<"rms_norm_grad_weight"> {
  let summary = "The gradient of rms_norm with respect to its weight: Σ over rows of dy · normalised x.";
  let description = "Example:\n```mlir\n%dw = nn.rms_norm_grad_weight %x, %dy eps 1.0e-6 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$dy, F64Attr:$eps);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input `,` $dy `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def NN_SoftmaxOp : NN_DiffOp<"softmax"> {
  let summary = "Softmax along the last dimension.";
  let description = "Example:\n```mlir\n%y = nn.softmax %x : tensor<2x4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
def NN_SoftmaxGradOp : NN_Op<"softmax_grad", [AllTypesMatch<["output", "dy"]>]> {
  let summary = "The gradient of softmax from its output: y · (dy - Σ y·dy).";
  let description = "Example:\n```mlir\n%dx = nn.softmax_grad %y, %dy : tensor<2x4xf32>\n```";
  let arguments = (ins NN_FloatTensor:$output, NN_FloatTensor:$dy);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$output `,` $dy attr-dict `:` type($dy)";
}

#endif // ZERO_DIALECT_NN_NORM_TD
