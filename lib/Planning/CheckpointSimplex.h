//===- CheckpointSimplex.h - linear programmes over boxes ------------------===//
//
// Minimise cost · y under rows of y ≥ 1 and lower ≤ y ≤ upper. A dual simplex on a
// dense tableau whose columns are the nonbasic variables: costs are not negative, so
// all at their lower bounds is where it begins, and neither a new row nor a changed
// bound spoils what it has. Rounding may mislead it; nothing is concluded from its
// figures but multipliers, which the caller evaluates exactly.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H
#define ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zero::planning::checkpoint {

class Simplex {
public:
  explicit Simplex(std::vector<double> cost);

  /// Σ coefficient · y ≥ 1.
  void addRow(const std::vector<std::pair<int32_t, double>> &coefficients);
  void setBounds(int32_t column, double lower, double upper);

  /// How many pivots it took; negative where no y satisfies the rows, or `limit` of them did not
  /// do.
  int64_t solve(int64_t limit);

  double value(int32_t column) const;
  double objective() const;
  /// Of row `row`, in the order of `addRow`; at least 0.
  double multiplier(int32_t row) const;
  int32_t rows() const { return int32_t(basic.size()); }

private:
  double *line(int32_t row) { return table.data() + std::size_t(row) * columns; }
  double lowerOf(int32_t variable) const;
  double upperOf(int32_t variable) const;
  void pivot(int32_t row, int32_t column);
  void shift(int32_t column, double to);

  int32_t columns;
  // Variables: y first, then a slack a row. basic = constant + table · nonbasic.
  std::vector<double> table, reducedCost, lower, upper;
  std::vector<double> basicValue, nonbasicValue, cost;
  std::vector<int32_t> basic, nonbasic;
  std::vector<int32_t> place; ///< of a variable: its row, or −1 − its column
  std::vector<std::pair<double, int32_t>> candidates;
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTSIMPLEX_H
