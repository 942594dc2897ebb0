//===- Evaluator.h - the value of a body's op at an index ------------------------===//
//
// Asks, from a result down to the arguments, for the elements that one vector
// of lanes needs, and emits their computation where the builder stands. Cheap
// chains are computed again in each loop that needs them; within a loop body,
// and for all loops inside it, an element is computed once.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_EVALUATOR_H
#define ZERO_PASSES_LOWER_EVALUATOR_H

#include "DropoutMask.h"
#include "GeneratedPlan.h"
#include "IndexMath.h"

#include "llvm/ADT/DenseMap.h"

namespace zero {

/// How partial results join.
enum class Join { Sum, Max };

class Evaluator {
public:
  /// `pointers` are the addresses of arguments, of constants that are no splat, and of the tables
  /// of rotations.
  Evaluator(mlir::ImplicitLocOpBuilder &builder, const BodyShapes &shapes,
            const llvm::DenseMap<mlir::Value, mlir::Value> &pointers)
      : math(builder), b(builder), shapes(shapes), pointers(pointers) {
    pushScope();
  }

  IndexMath math;

  /// The element, or elements of all lanes where they differ. Lanes outside `mask` (null: none is)
  /// read nothing and hold anything.
  mlir::Value at(mlir::Value value, llvm::ArrayRef<Index> indices, mlir::Value mask);
  /// The same, as a vector.
  mlir::Value lanesAt(mlir::Value value, llvm::ArrayRef<Index> indices, mlir::Value mask) {
    return toLanes(at(value, indices, mask));
  }
  /// Computes here what is the same for all columns: row reductions, row numbers, values of the
  /// row.
  void prepare(mlir::Value value, llvm::ArrayRef<Index> indices);
  /// Until the scope ends, `value` is `element` wherever it is asked for.
  void define(mlir::Value value, mlir::Value element) { defined[value] = element; }
  void forget(mlir::Value value) { defined.erase(value); }

  /// What a column reduction sums, at an index of its input.
  mlir::Value term(mlir::Operation *reduction, llvm::ArrayRef<Index> indices, mlir::Value mask);
  void prepareTerm(mlir::Operation *reduction, llvm::ArrayRef<Index> indices);
  /// The input's index from the result's and from the number of the reduced row.
  Indices termIndices(mlir::Operation *reduction, llvm::ArrayRef<Index> kept, const Index &row);
  static Join joinOf(mlir::Operation *reduction);
  mlir::Value identity(Join join, mlir::Type type);
  mlir::Value joined(Join join, mlir::Value x, mlir::Value y);
  /// The mean from the sum; other reductions as they are.
  mlir::Value finished(mlir::Operation *reduction, mlir::Value total);

  /// A loop over [from, to) with a scope of its own; nothing where the range is known to be empty.
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(const Index &from, const Index &to, int64_t step,
                                      mlir::ValueRange initial, LoopBody body);
  void pushScope();
  void popScope();

  mlir::Type lanesOf(mlir::Type elementType) const;
  mlir::Value toLanes(mlir::Value value);
  /// Elements of `elementType` in memory, as values of its compute type.
  mlir::Value load(mlir::Value pointer, mlir::Type elementType, const Index &element,
                   mlir::Value mask);
  /// Rounds to `elementType`, and adds that to what is there where `adds`.
  void store(mlir::Value pointer, mlir::Type elementType, const Index &element, mlir::Value value,
             mlir::Value mask, bool adds);
  /// Lanes [0, count).
  mlir::Value firstLanes(int64_t count);
  mlir::Value number(double value, mlir::Type type);

private:
  /// What lies in memory for a value of the compute type, and back.
  mlir::Value encoded(mlir::Value value, mlir::Type elementType);
  mlir::Value decoded(mlir::Value stored, mlir::Type elementType);

  struct Place {
    mlir::Value value;
    Indices indices;
  };
  /// Part of a concat or pad: its value counts where `inside` holds (null: everywhere).
  struct Part {
    Place place;
    mlir::Value inside;
  };

  mlir::Value compute(mlir::Operation *op, mlir::Value value, llvm::ArrayRef<Index> indices,
                      mlir::Value mask);
  mlir::Value elementwise(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value constant(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value iota(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  mlir::Value dropped(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  MaskKey maskKey(mlir::Operation *op);
  mlir::Value pieced(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value rowOp(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value reduced(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);

  Indices broadcasted(mlir::Value operand, mlir::Value result, llvm::ArrayRef<Index> indices) const;
  /// Where an op that only renames or looks up finds its element; a null value for other ops.
  Place renamed(mlir::Operation *op, mlir::Value value, llvm::ArrayRef<Index> indices,
                mlir::Value mask);
  mlir::Value rotated(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  llvm::SmallVector<Part> partsOf(mlir::Operation *op, llvm::ArrayRef<Index> indices);
  Indices reshaped(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<Index> indices,
                   llvm::ArrayRef<int64_t> to);
  /// Read as an index into another value.
  Index toIndex(mlir::Value loaded);

  // Windows.cpp
  using WindowBody =
      llvm::function_ref<mlir::Value(llvm::ArrayRef<Index> window, const Index &i, const Index &j,
                                     mlir::Value inside, mlir::Value sum)>;
  mlir::Value windowed(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value patch(nn::PatchesOp op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value pooled(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value windowSum(mlir::Operation *op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value maxPoolGrad(nn::MaxPoolGradOp op, llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value overWindows(mlir::Operation *op, llvm::ArrayRef<Index> indices,
                          llvm::ArrayRef<int64_t> counts, mlir::Value start, WindowBody body);
  std::pair<mlir::Value, mlir::Value> ofWindow(mlir::Value image, const nn::Windows &windows,
                                               llvm::ArrayRef<Index> window, const Index &i,
                                               const Index &j, mlir::Value mask);
  mlir::Value whereInside(mlir::Value inside, mlir::Value value, mlir::Value other);

  // RowStatistics.cpp
  using RowStep =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(Index column, mlir::Value mask)>;
  llvm::SmallVector<mlir::Value> reduceRow(int64_t columns, mlir::Type elementType,
                                           llvm::ArrayRef<Join> joins, RowStep step);
  mlir::Value tree(Join join, mlir::Value lanes);
  /// The numbers that a row op takes from its whole row; `outer` are the row's indices.
  llvm::SmallVector<mlir::Value> statistics(mlir::Operation *op, llvm::ArrayRef<Index> outer);
  mlir::Value rowTotal(Join join, mlir::Value input, llvm::ArrayRef<Index> outer);
  llvm::SmallVector<mlir::Value>
  remembered(std::vector<uint64_t> key, llvm::ArrayRef<Index> outer,
             llvm::function_ref<llvm::SmallVector<mlir::Value>()> make);

  // NormRows.cpp: `norm` is a norm or a gradient of one; its first operand holds the rows.
  llvm::SmallVector<mlir::Value> normStatistics(mlir::Operation *norm, llvm::ArrayRef<Index> outer);
  mlir::Value normalised(mlir::Operation *norm, llvm::ArrayRef<mlir::Value> row,
                         llvm::ArrayRef<Index> indices, mlir::Value mask);
  mlir::Value normElement(mlir::Operation *norm, llvm::ArrayRef<Index> indices, mlir::Value mask);

  mlir::ImplicitLocOpBuilder &b;
  const BodyShapes &shapes;
  const llvm::DenseMap<mlir::Value, mlir::Value> &pointers;
  llvm::DenseMap<mlir::Value, mlir::Value> defined;
  using Memory = std::map<std::vector<uint64_t>, llvm::SmallVector<mlir::Value>>;
  std::vector<Memory> scopes;
};

} // namespace zero

#endif // ZERO_PASSES_LOWER_EVALUATOR_H
