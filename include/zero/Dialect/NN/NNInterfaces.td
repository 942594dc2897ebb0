//===- NNInterfaces.td - what an op of a training graph can be asked -------===//
//
// Zero's passes ask ops only through these interfaces, so that another dialect
// joins by implementing them, without a change here.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_DIALECT_NN_NNINTERFACES_TD
#define ZERO_DIALECT_NN_NNINTERFACES_TD

include "mlir/IR/OpBase.td"

def NN_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::zero::nn";
  let description = [{Has a vector-Jacobian product (reverse mode).}];
  let methods = [
    InterfaceMethod<[{
      Emits the vector-Jacobian product at the builder's insertion point. `cotangents` holds one value
      a result, of the result's type, or null where nothing flows back. `wanted[i]` says whether
      operand i needs a gradient. Fills `gradients` (one an operand; null where not wanted or zero).
      Fails with a diagnostic on the op where the product does not exist.
    }], "::llvm::LogicalResult", "vjp", (ins "::mlir::OpBuilder &":$builder,
        "::mlir::ValueRange":$cotangents, "::llvm::ArrayRef<bool>":$wanted,
        "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>
  ];
}

def NN_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::zero::nn";
  let description = [{Counts its floating-point operations: a multiply-add is two.}];
  let methods = [
    InterfaceMethod<"Floating-point operations for one run; 0 while a shape is open.",
                    "int64_t", "getFlops">
  ];
}

def NN_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::zero::nn";
  let description = [{
    Says which family of kernels computes the op, so that `zero-form-launches` can group it:
    `View` moves nothing; `Elementwise` maps elements under numpy broadcasting; `Row` reduces along
    the last dimension (norms, softmax); `Column` reduces over other dimensions; `Move` materialises
    a rearrangement; `Window` reads windows of images; `Gather` reads rows by index; `Gemm`, `Attention`, `CrossEntropy` and `Scatter`
    are computed by the runtime's kernels; `None` stays outside launches.
  }];
  let methods = [
    InterfaceMethod<"The family of kernels that computes this op.",
                    "::zero::nn::KernelFamily", "getKernelFamily">
  ];
}

def NN_ElementLoweringInterface : OpInterface<"ElementLoweringInterface"> {
  let cppNamespace = "::zero::nn";
  let description = [{
    Computes one element (a scalar or a vector of lanes) of an elementwise op from the operands'
    elements, in arith and math ops without fast-math flags. Elements of bf16 and f16 come in as f32
    and go out as f32: a kernel rounds what leaves it. Implemented as external models.
  }];
  let methods = [
    InterfaceMethod<"Emits the element's value; `operands` are scalars or vectors of equal length.",
                    "::mlir::Value", "emitElement", (ins "::mlir::OpBuilder &":$builder,
                    "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>
  ];
}

#endif // ZERO_DIALECT_NN_NNINTERFACES_TD
