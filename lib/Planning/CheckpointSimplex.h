//===- CheckpointSimplex.h - linear programmes over boxes ------------------===//
//
// Minimise cost · y under rows of y ≥ right and lower ≤ y ≤ upper. A dual simplex on
// a dense tableau whose columns are the nonbasic variables: costs are not negative, so
// all at their lower bounds is where it begins, and neither a new row, a new column
// nor a changed bound spoils what it has. Rounding may mislead it; nothing is
// concluded from its figures but multipliers, which the caller evaluates exactly.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H
#define ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zero::planning::checkpoint {

/// values += factor · line.
void addMultiple(double *values, const double *line, int64_t count, double factor);

class Simplex {
public:
  using Terms = std::vector<std::pair<int32_t, double>>;

  /// A variable between 0 and 1, with its coefficients in the rows so far.
  void addColumn(double cost, const Terms &rowsAndCoefficients);
  /// Σ coefficient · y ≥ right.
  void addRow(const Terms &columnsAndCoefficients, double right);
  void setBounds(int32_t column, double lower, double upper);

  /// How many pivots it took; negative where no y satisfies the rows, or `limit` of them did not
  /// do.
  int64_t solve(int64_t limit);

  double value(int32_t column) const;
  /// Of row `row`, in the order of `addRow`; at least 0.
  double multiplier(int32_t row) const;
  int32_t rows() const { return int32_t(basic.size()); }
  int32_t columns() const { return int32_t(lower.size()); }

private:
  // Variables: y from 0 on; the slack of row r is ~r. Their places: a row, or −1 − a column of the
  // table.
  int32_t &place(int32_t variable) {
    return variable >= 0 ? placeOfColumn[variable] : placeOfSlack[~variable];
  }
  double lowerOf(int32_t variable) const;
  double upperOf(int32_t variable) const;
  void pivot(int32_t row, int32_t column);
  void shift(int32_t column, double to);

  // basic = constant + table · nonbasic.
  std::vector<std::vector<double>> table;
  std::vector<double> reducedCost, lower, upper;
  std::vector<double> basicValue, nonbasicValue;
  std::vector<int32_t> basic, nonbasic;
  std::vector<int32_t> placeOfColumn, placeOfSlack;
  std::vector<std::pair<double, int32_t>> candidates;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H
