//===- ReadWalk.h - what an element of a kernel's result reads ----------------===//
//
// Follows the body from a result to the arguments, symbolically: which
// dimensions vary over the lanes of a vector, and how the elements read relate
// to the element written. The emitter takes the same steps with real indices.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_PASSES_LOWER_READWALK_H
#define ZERO_PASSES_LOWER_READWALK_H

#include "GeneratedPlan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include <set>

namespace zero {

/// Which elements of a value are read while element (row, column) of the loop is computed.
enum class ReadClass {
  Element,   // the one at the same place in row-major order
  Row,       // all of the same row
  RowScalar, // the one whose place is the row's number
  Other
};

class ReadWalk {
public:
  ReadWalk(const BodyShapes &shapes, int64_t rows, int64_t columns)
      : shapes(shapes), rows(rows), columns(columns) {}

  /// Reads `value`; `lanes` has a bit a dimension: whether the index varies over a vector's lanes.
  void visit(mlir::Value value, const llvm::SmallBitVector &lanes, ReadClass cls);
  /// Reads what the reduction sums, at all its rows.
  void visitTerm(mlir::Operation *reduction, ReadClass cls);
  /// Values at which the walk stops.
  llvm::DenseSet<mlir::Value> stops;

  /// Whether a row reduction was met under an index that varies over lanes: no vector code.
  bool hasLaneConflict = false;
  bool readsRows = false;                       // a row reduction was met
  std::string unsupported;                      // the first op without code
  llvm::DenseSet<unsigned> read, readElsewhere; // arguments; the latter not as Element or Row

private:
  void visitRowOp(mlir::Operation *op, const llvm::SmallBitVector &lanes, ReadClass cls);
  void visitReduction(mlir::Operation *op, const llvm::SmallBitVector &lanes, ReadClass cls);
  void visitBroadcast(mlir::Value operand, mlir::Value result, const llvm::SmallBitVector &lanes,
                      ReadClass cls);
  ReadClass wholeRowOf(mlir::Value value, ReadClass cls) const;
  int64_t count(mlir::Value value) const;

  const BodyShapes &shapes;
  int64_t rows, columns;
  std::set<std::tuple<void *, unsigned, ReadClass>> visited;
};

/// Bits of a reshape's source dimensions that vary over lanes, from those of its result.
llvm::SmallBitVector reshapedLanes(llvm::ArrayRef<int64_t> result,
                                   const llvm::SmallBitVector &lanes,
                                   llvm::ArrayRef<int64_t> source);

} // namespace zero

#endif // ZERO_PASSES_LOWER_READWALK_H
