//===- Elementwise.td - ops on single elements ------------------------------===//
#ifndef ZERO_DIALECT_NN_ELEMENTWISE_TD
#define ZERO_DIALECT_NN_ELEMENTWISE_TD

include "zero/Dialect/NN/NNBase.td"

class NN_UnaryOp<string mnemonic, string formula> : NN_DiffOp<mnemonic> {
  let summary = "Computes " # formula # " elementwise.";
  let description = "Example:\n```mlir\n%y = nn." # mnemonic # " %x : tensor<2x3xf32>\n```";
  let arguments = (ins NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def NN_NegOp : NN_UnaryOp<"neg", "-x">;
def NN_AbsOp : NN_UnaryOp<"abs", "|x|">;
def NN_ExpOp : NN_UnaryOp<"exp", "e^x">;
def NN_LogOp : NN_UnaryOp<"log", "ln x">;
def NN_SqrtOp : NN_UnaryOp<"sqrt", "the square root">;
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", "the reciprocal square root">;
def NN_TanhOp : NN_UnaryOp<"tanh", "tanh x">;
def NN_ErfOp : NN_UnaryOp<"erf", "the error function">;
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def NN_ReluOp : NN_UnaryOp<"relu", "max(x, 0)">;
def NN_SiluOp : NN_UnaryOp<"silu", "x · sigmoid(x)">;

def NN_GeluOp : NN_DiffOp<"gelu"> {
  let summary = "Computes the Gaussian error linear unit elementwise.";
  let description = [{
    `erf`: x/2 · (1 + erf(x/√2)); `tanh`: x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
    (Hendrycks and Gimpel, arXiv 1606.08415, section 2).

    Example:
    ```mlir
    %y = nn.gelu tanh %x : tensor<2x3xf32>
    ```
  }];
  let arguments = (ins NN_GeluKind:$kind, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
}
def NN_GeluGradOp : NN_Op<"gelu_grad", [AllTypesMatch<["dy", "input"]>]> {
  let summary = "Computes dy · gelu'(x) elementwise.";
  let description = "Example:\n```mlir\n%dx = nn.gelu_grad tanh %dy, %x : tensor<2x3xf32>\n```";
  let arguments = (ins NN_GeluKind:$kind, NN_FloatTensor:$dy, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$kind $dy `,` $input attr-dict `:` type($input)";
}
def NN_SiluGradOp : NN_Op<"silu_grad", [AllTypesMatch<["dy", "input"]>]> {
  let summary = "Computes dy · silu'(x) elementwise.";
  let description = "Example:\n```mlir\n%dx = nn.silu_grad %dy, %x : tensor<2x3xf32>\n```";
  let arguments = (ins NN_FloatTensor:$dy, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$dy `,` $input attr-dict `:` type($input)";
}

class NN_BinaryOp<string mnemonic, string formula, list<Trait> traits = []> : NN_DiffOp<mnemonic, traits> {
  let summary = "Computes " # formula # " elementwise, with numpy broadcasting.";
  let description = "Example:\n```mlir\n%z = nn." # mnemonic #
      " %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n```\n"
      "Constraints: (C1) equal element types; (C2) shapes broadcast as numpy's do.";
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}
def NN_AddOp : NN_BinaryOp<"add", "x + y", [Commutative]>;
def NN_SubOp : NN_BinaryOp<"sub", "x - y">;
def NN_MulOp : NN_BinaryOp<"mul", "x · y", [Commutative]>;
def NN_DivOp : NN_BinaryOp<"div", "x / y">;
def NN_MaxOp : NN_BinaryOp<"max", "max(x, y)">;
def NN_MinOp : NN_BinaryOp<"min", "min(x, y)">;

def NN_CompareOp : NN_Op<"compare"> {
  let summary = "Compares elementwise, with numpy broadcasting.";
  let description = "Example:\n```mlir\n%m = nn.compare lt %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>\n```\n"
      "Constraints: (C1) equal element types; (C2) shapes broadcast as numpy's do.";
  let arguments = (ins NN_Predicate:$predicate, NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}
def NN_SelectOp : NN_DiffOp<"select"> {
  let summary = "Chooses between two values elementwise, with numpy broadcasting.";
  let description = "Example:\n```mlir\n%z = nn.select %m, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n```\n"
      "Constraints: (C1) both values have one element type; (C2) shapes broadcast as numpy's do.";
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$if_true, NN_Tensor:$if_false);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$condition `,` $if_true `,` $if_false attr-dict `:` functional-type(operands, results)";
}
def NN_ConvertOp : NN_DiffOp<"convert"> {
  let summary = "Converts the element type.";
  let description = [{
    Floats round to nearest even; float to integer truncates; i1 gives 0 or 1. No gradient flows
    through integers.

    Example:
    ```mlir
    %y = nn.convert %x to f32 : tensor<2x3xi1>
    ```
    Constraints: (C1) the type is f32, f64, f16, bf16, i1, i32 or i64.
  }];
  let arguments = (ins NN_Tensor:$input, TypeAttr:$to);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `to` $to attr-dict `:` type($input)";
  let hasFolder = 1;
}

#endif // ZERO_DIALECT_NN_ELEMENTWISE_TD
