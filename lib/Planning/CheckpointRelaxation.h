//===- CheckpointRelaxation.h - the programme, with fractions --------------===//
//
// Rows of the programme are made where a solution violates them; where none is
// violated, cuts follow. At first these are the plain rows of steps; once refined,
// rows of paths and recomputations, and columns are split where rows want it.
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

  const Programme &programme() const { return rules; }
  /// Paths and recomputations from here on; only for a programme that is refinable.
  void refine() { refined = true; }
  bool isRefined() const { return refined; }

  /// Adds the rows that the solution violates most, a few steps apart, and once refined, if
  /// `splits`, splits columns; whether there was anything to do.
  bool addRows(bool splits) { return refined ? addRefinedRows(splits) : addStepRows(); }
  /// Adds the cuts that the solution violates most. Of the programme's rows only: cuts of cuts grow
  /// without end.
  bool addCuts();
  void setBounds(int32_t column, bool lower, bool upper);

  /// False where the rows have no solution, or it took too long.
  bool solve();
  /// Of the columns in the solution.
  const std::vector<double> &solution() const { return values; }
  /// In place of the last solution, one to add rows for; columns past its end are 0.
  void setSolution(std::vector<double> solution);
  /// Whether `taken`, by column, violates no row of the programme, made or not; of the plain ones
  /// only until refined.
  bool isCover(const std::vector<bool> &taken);
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
  double relativeCost(int32_t column) const { return double(rules.cost(column)) / costScale; }
  /// Done so far, in nanoseconds of a usual machine; and where to end, in the middle of a solution
  /// if need be.
  int64_t work() const { return workDone + rules.rowWork(); }
  void setMostWork(int64_t work) { mostWork = work; }
  bool isExhausted() const { return work() >= mostWork; }

private:
  void syncColumns();
  void addColumn(int32_t column, const Simplex::Terms &terms);
  void add(Row row, bool isCut);
  void splitAt(int32_t column, int32_t at);
  int64_t roomForRows() const; // of the tableau
  bool addStepRows();
  bool addRefinedRows(bool splits);

  const Graph &graph;
  Programme rules;
  bool refined = false;
  int64_t costUnit = 0;
  double costScale = 1;
  Simplex simplex;
  std::vector<double> values;
  std::vector<Row> rows;
  std::vector<char> isCut;      // by row
  std::vector<char> hasStepRow; // by step: the plain one
  std::vector<char> lowers, uppers;
  int64_t workDone = 0, mostWork = 0;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTRELAXATION_H
