//===- CheckpointRelaxation.h - the programme, with fractions --------------===//
//
// Rows of the programme are made where a solution violates them; where none is
// violated, cuts follow.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTRELAXATION_H
#define ZERO_LIB_PLANNING_CHECKPOINTRELAXATION_H

#include "CheckpointProgramme.h"
#include "CheckpointSimplex.h"

namespace zero::planning::checkpoint {

/// A lower bound in fixed point: value / 2^shift.
struct Exact {
  __int128 value = 0;
  int shift = 0;
};

class Relaxation {
public:
  explicit Relaxation(const Graph &graph);

  const Programme programme;

  /// Adds the rows that the solution violates most, a few steps apart; whether there were any.
  bool addRows();
  /// Adds the cuts that the solution violates most. Of the programme's rows only: cuts of cuts grow
  /// without end.
  bool addCuts();
  void setBounds(int32_t column, bool lower, bool upper);

  /// False where the rows have no solution, or it took too long.
  bool solve();
  /// Of the columns in the solution.
  const std::vector<double> &solution() const { return values; }
  bool lower(int32_t column) const { return lowers[column]; }
  bool upper(int32_t column) const { return uppers[column]; }
  bool isFixed(int32_t column) const { return lowers[column] == uppers[column]; }
  /// Whether some row is out of reach with all that is not fixed.
  bool isImpossible() const;
  /// The multipliers' bound in integers: Σ m · least + Σ min over y of (cost − Σ m · a) y; and by
  /// column the terms before y.
  Exact evaluate(std::vector<__int128> *reducedCosts) const;
  /// To a cost that gaps can have.
  int64_t roundUp(const Exact &bound) const;
  /// Of a column, in units of the dearest node's.
  double relativeCost(int32_t column) const { return double(programme.cost(column)) / costScale; }
  /// Cells touched by pivots so far.
  int64_t work() const { return cellsTouched; }

private:
  void add(Row row, bool isCut);

  const Graph &graph;
  int64_t costUnit = 0;
  double costScale = 1;
  Simplex simplex;
  std::vector<double> values;
  std::vector<Row> rows;
  std::vector<char> isCut;  // by row
  std::vector<char> hasRow; // by step
  std::vector<char> lowers, uppers;
  int64_t cellsTouched = 0;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTRELAXATION_H
