//===- NNBase.td - the nn dialect: dialect, types, enums ------------------===//
#ifndef ZERO_DIALECT_NN_NNBASE_TD
#define ZERO_DIALECT_NN_NNBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "zero/Dialect/NN/NNInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::zero::nn";
  let summary = "Static training graphs: parameters as symbols, pure ops on ranked tensors.";
  let description = [{
    A training graph is a module of `nn.param` symbols and one forward function whose arguments are
    the batch and whose result is the scalar loss. Every op is pure, infers its result types, and
    says through interfaces how it is differentiated, what it costs and which kernel it may join.

    Only dimension 0 of the function's arguments may be `?`; shape-carrying attributes then hold
    one inferred -1, and no op embeds the batch size.
  }];
  let hasConstantMaterializer = 1;
}

// Element types of values and of indices.
def NN_Float : AnyTypeOf<[F32, F64, BF16, F16]>;
def NN_FloatTensor : RankedTensorOf<[F32, F64, BF16, F16]>;
def NN_IndexTensor : RankedTensorOf<[I32, I64]>;
def NN_BoolTensor : RankedTensorOf<[I1]>;
def NN_Tensor : RankedTensorOf<[F32, F64, BF16, F16, I1, I32, I64]>;

def NN_GeluKind : I32EnumAttr<"GeluKind", "how GELU is computed", [
  I32EnumAttrCase<"Tanh", 0, "tanh">, I32EnumAttrCase<"Erf", 1, "erf">]> {
  let cppNamespace = "::zero::nn";
}
def NN_Predicate : I32EnumAttr<"Predicate", "comparison", [
  I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
  I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
  I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]> {
  let cppNamespace = "::zero::nn";
}
def NN_InitKind : I32EnumAttr<"InitKind", "initial value of a parameter", [
  I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
  I32EnumAttrCase<"Constant", 2, "constant">, I32EnumAttrCase<"Normal", 3, "normal">,
  I32EnumAttrCase<"Uniform", 4, "uniform">]> {
  let cppNamespace = "::zero::nn";
}

/// A pure op on tensors that infers its results, counts its work and names its kernel family.
class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic,
    traits # [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<NN_CostOpInterface>,
              DeclareOpInterfaceMethods<NN_KernelOpInterface>]>;

/// The same with a vector-Jacobian product.
class NN_DiffOp<string mnemonic, list<Trait> traits = []> : NN_Op<mnemonic,
    traits # [DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>]>;

#endif // ZERO_DIALECT_NN_NNBASE_TD
