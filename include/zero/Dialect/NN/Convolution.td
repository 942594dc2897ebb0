//===- Convolution.td - convolution and pooling of images ---------------------===//
#ifndef ZERO_DIALECT_NN_CONVOLUTION_TD
#define ZERO_DIALECT_NN_CONVOLUTION_TD

include "zero/Dialect/NN/NNBase.td"

defvar NN_Strides = DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">;
defvar NN_Padding = DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">;

def NN_ConvolutionOp : NN_DiffOp<"convolution"> {
  let summary = "Convolves images with a weight.";
  let description = [{
    Images are [batch, height, width, channels], the weight is [window height, window width, channels,
    features]. y[n, a, b, f] = Σ over i, j, c of x[n, a·s + i - top, b·t + j - left, c] · w[i, j, c, f],
    where `strides` are [s, t] and `padding` is [top, bottom, left, right]; elements outside the image are 0.
    A bias is an `nn.add` behind it. Computed as one matrix product of nn.patches (im2col), which is a
    view where windows are single elements; backward makes the patches again instead of keeping them.

    Example:
    ```mlir
    %y = nn.convolution %x, %w strides [2, 2] padding [1, 1, 1, 1]
        : (tensor<2x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32>
    ```
    Constraints: (C1) both have rank 4 and equal element types, and the weight is closed; (C2) the channels
    agree; (C3) strides are positive and paddings not negative, smaller than the window; (C4) the padded
    image holds a window.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_Strides:$strides, NN_Padding:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`strides` $strides^)? (`padding` $padding^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Emits the op as patches and a matrix product; the value is the result.
    ::mlir::Value expand(::mlir::OpBuilder &builder);
  }];
}

/// An op on windows of images [batch, height, width, channels].
class NN_WindowOp<string mnemonic, bit hasVjp = 0> : NN_Op<mnemonic,
    !if(hasVjp, [DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>], [])> {
  let extraClassDeclaration = [{
    ::zero::nn::Windows getWindows() { return {getWindow(), getStrides(), getPadding()}; }
  }];
}
class NN_WindowForwardOp<string mnemonic> : NN_WindowOp<mnemonic, 1> {
  let arguments = (ins NN_FloatTensor:$input, DenseI64ArrayAttr:$window, NN_Strides:$strides, NN_Padding:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `window` $window (`strides` $strides^)? (`padding` $padding^)? attr-dict `:` functional-type(operands, results)
  }];
}
/// A sum over the windows that an element of an image lies in; `size` is the image's.
class NN_WindowSumOp<string mnemonic> : NN_WindowOp<mnemonic> {
  let arguments = (ins NN_FloatTensor:$dy, DenseI64ArrayAttr:$window, NN_Strides:$strides, NN_Padding:$padding,
      DenseI64ArrayAttr:$size);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $dy `window` $window (`strides` $strides^)? (`padding` $padding^)? `into` $size attr-dict `:` functional-type(operands, results)
  }];
}

def NN_PatchesOp : NN_WindowForwardOp<"patches"> {
  let summary = "Lays the windows of images side by side (im2col).";
  let description = [{
    The result is [batch, windows down, windows across, window height, window width · channels]: the rows
    of each window as they lie in the image, with zeros outside it.

    Example:
    ```mlir
    %p = nn.patches %x window [3, 3] strides [2, 2] padding [1, 1, 1, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3x9xf32>
    ```
    Constraints: (C1) images of rank 4 and a window of two positive sizes; (C3), (C4) as in convolution.
  }];
}
def NN_PatchesGradOp : NN_WindowSumOp<"patches_grad"> {
  let summary = "The gradient of patches: sums over the windows that an element lies in (col2im).";
  let description = [{
    Sums run over windows in order, down and then across.

    Example:
    ```mlir
    %dx = nn.patches_grad %dp window [3, 3] strides [2, 2] padding [1, 1, 1, 1] into [8, 8]
        : (tensor<2x4x4x3x9xf32>) -> tensor<2x8x8x3xf32>
    ```
    Constraints: (C1), (C3), (C4) as in patches; (C5) the cotangent has the shape that patches gives.
  }];
}
def NN_MaxPoolOp : NN_WindowForwardOp<"max_pool"> {
  let summary = "Takes the maximum of each window, channel by channel.";
  let description = [{
    Elements outside the image count as -inf.

    Example:
    ```mlir
    %y = nn.max_pool %x window [2, 2] strides [2, 2] : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32>
    ```
    Constraints: (C1), (C3), (C4) as in patches.
  }];
}
def NN_MaxPoolGradOp : NN_WindowOp<"max_pool_grad"> {
  let summary = "The gradient of max_pool: the first element of a window that reaches its maximum takes the cotangent.";
  let description = [{
    `output` is what max_pool gave; the first is the first in row-major order, as in torch.max_pool2d.

    Example:
    ```mlir
    %dx = nn.max_pool_grad %x, %y, %dy window [2, 2] strides [2, 2]
        : (tensor<2x8x8x3xf32>, tensor<2x4x4x3xf32>, tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32>
    ```
    Constraints: (C1), (C3), (C4) as in patches; (C5) output and cotangent have the type that max_pool gives.
  }];
  let arguments = (ins NN_FloatTensor:$input, NN_FloatTensor:$output, NN_FloatTensor:$dy, DenseI64ArrayAttr:$window,
      NN_Strides:$strides, NN_Padding:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $output `,` $dy `window` $window (`strides` $strides^)? (`padding` $padding^)?
    attr-dict `:` functional-type(operands, results)
  }];
}
def NN_AvgPoolOp : NN_WindowForwardOp<"avg_pool"> {
  let summary = "Takes the mean of each window, channel by channel.";
  let description = [{
    Elements outside the image are 0 and count, as in torch.avg_pool2d.

    Example:
    ```mlir
    %y = nn.avg_pool %x window [3, 3] strides [1, 1] padding [1, 1, 1, 1] : (tensor<2x8x8x3xf32>) -> tensor<2x8x8x3xf32>
    ```
    Constraints: (C1), (C3), (C4) as in patches.
  }];
}
def NN_AvgPoolGradOp : NN_WindowSumOp<"avg_pool_grad"> {
  let summary = "The gradient of avg_pool: the mean over a window's size of the cotangents of the windows that an element lies in.";
  let description = [{
    Example:
    ```mlir
    %dx = nn.avg_pool_grad %dy window [2, 2] strides [2, 2] into [8, 8] : (tensor<2x4x4x3xf32>) -> tensor<2x8x8x3xf32>
    ```
    Constraints: (C1), (C3), (C4) as in patches; (C5) the cotangent has the shape that avg_pool gives.
  }];
}

#endif // ZERO_DIALECT_NN_CONVOLUTION_TD
