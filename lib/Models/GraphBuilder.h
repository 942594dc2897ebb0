//===- GraphBuilder.h - what the families' builders share -------------------===//
//
// A language model as level G: parameters, a private function that every layer calls
// with its own weights, and `@loss(%input_ids, %labels)`. Every value's location is a
// name, so that a printer that uses names as prefixes shows `%qkv` and `%ln_1` where
// others show numbers.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_MODELS_GRAPHBUILDER_H
#define ZERO_LIB_MODELS_GRAPHBUILDER_H

#include "zero/Dialect/NN/NN.h"
#include "zero/Models/Batch.h"
#include "zero/Models/RotaryAngles.h"
#include "zero/Training/HfConfig.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace zero::models {

class GraphBuilder {
protected:
  using Value = mlir::Value;
  using StringRef = llvm::StringRef;
  using Sizes = llvm::ArrayRef<int64_t>;
  using Shape = llvm::SmallVector<int64_t, 2>;

  /// A weight of a layer: the end of its name, and its shape.
  struct LayerParam {
    std::string name;
    Shape shape;
  };
  /// A layer's weights in a block's body, by the end of their names; null for one that the layer
  /// doesn't have.
  using Weights = llvm::function_ref<Value(StringRef)>;

  /// `layerPrefix` stands before a layer's number in the names: "transformer.h.".
  GraphBuilder(mlir::MLIRContext &context, const BatchShape &batch, int64_t width,
               StringRef layerPrefix);

  mlir::Location at(StringRef name);
  mlir::RankedTensorType tensor(Sizes shape);
  int64_t seqLen() const { return batch.seqLen; }

  mlir::OwningOpRef<mlir::ModuleOp> beginModule(StringRef name);

  // Parameters: declared once, then read by name.

  void addParam(StringRef name, Sizes shape, nn::InitKind init, double value = 0.0,
                std::optional<int64_t> zeroRow = {});
  Value read(StringRef name);
  std::string layerName(int64_t layer, StringRef name) const;

  // Functions.

  /// func.func private @name(%x, %weights…) -> tensor<B x T x C>, the weights being `layerParams`.
  void addBlock(StringRef name, llvm::function_ref<Value(Value x, Weights weight)> body);
  Value callBlock(StringRef name, int64_t layer, Value x);
  /// func.func @loss(%input_ids, %labels) -> tensor<f32>: the mean cross-entropy of the logits that
  /// the body makes of the tokens.
  void addLoss(llvm::function_ref<Value(Value ids)> body);

  // Ops with the attributes that they need here.

  Value add(StringRef name, Value x, Value y);
  Value mul(StringRef name, Value x, Value y);
  Value reshape(StringRef name, Value x, Sizes shape);
  /// Equal parts along the last dimension.
  llvm::SmallVector<Value> split(StringRef name, Value x, int64_t parts);
  /// The first rows of a table; all of them are the table itself.
  Value firstRows(StringRef name, Value table, int64_t rows);
  Value embed(StringRef name, Value ids, Value table, std::optional<int64_t> padding = {});
  /// Weights are [in, out]; `transposed` ones [out, in]. The bias may be null.
  Value linear(StringRef name, Value x, Value weight, Value bias, bool transposed);
  /// x · tableᵀ: a head that is tied to the embeddings.
  Value tiedHead(StringRef name, Value x, Value table);
  Value layerNorm(StringRef name, Value x, Value weight, Value bias, double epsilon);
  Value rmsNorm(StringRef name, Value x, Value weight, double epsilon);
  Value rotary(StringRef name, Value x, const RotaryAngles &angles);
  Value activate(StringRef name, Value x, training::Activation activation);
  /// q, k and v are [batch, time, heads, depth]; so is the result. `dropout` is of probabilities.
  Value attention(StringRef name, Value q, Value k, Value v, double scale, bool causal,
                  double dropout);
  /// The value itself at rate 0.
  Value dropout(StringRef name, Value x, double rate);

  llvm::SmallVector<LayerParam> layerParams; // in the order of a block's arguments

private:
  int64_t rows() const;
  mlir::RankedTensorType hiddenType();
  mlir::RankedTensorType typeOf(Value value);

  const BatchShape &batch;
  int64_t width;
  std::string layerPrefix;
  mlir::OpBuilder builder;
  mlir::Type f32;
  llvm::StringMap<Shape> shapes; // of the parameters
};

} // namespace zero::models

#endif // ZERO_LIB_MODELS_GRAPHBUILDER_H
