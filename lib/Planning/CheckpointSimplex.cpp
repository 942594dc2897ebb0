//===- CheckpointSimplex.cpp - linear programmes over boxes ----------------===//
#include "CheckpointSimplex.h"

#include <algorithm>
#include <cmath>
#include <limits>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {
constexpr double kTolerance = 1e-9, kSmallestPivot = 1e-7;
}

double Simplex::lowerOf(int32_t variable) const { return variable >= 0 ? lower[variable] : 0; }

double Simplex::upperOf(int32_t variable) const {
  return variable >= 0 ? upper[variable] : std::numeric_limits<double>::infinity();
}

double Simplex::value(int32_t column) const {
  int32_t at = placeOfColumn[column];
  return at >= 0 ? basicValue[at] : nonbasicValue[-1 - at];
}

double Simplex::multiplier(int32_t row) const {
  int32_t at = placeOfSlack[row];
  return at >= 0 ? 0 : std::max(0.0, reducedCost[-1 - at]);
}

void Simplex::addColumn(double cost, const Terms &rowsAndCoefficients) {
  // The rows hold of slack − coefficient · y in place of each slack.
  std::vector<double> entries(basic.size(), 0);
  double reduced = cost;
  for (auto [of, coefficient] : rowsAndCoefficients) {
    int32_t at = placeOfSlack[of];
    if (at >= 0) {
      entries[at] += coefficient;
      continue;
    }
    for (int32_t row = 0; row < rows(); ++row)
      entries[row] -= coefficient * table[row][-1 - at];
    reduced -= coefficient * reducedCost[-1 - at];
  }
  placeOfColumn.push_back(-1 - int32_t(nonbasic.size()));
  nonbasic.push_back(columns());
  lower.push_back(0);
  upper.push_back(1);
  reducedCost.push_back(reduced);
  nonbasicValue.push_back(0);
  for (int32_t row = 0; row < rows(); ++row)
    table[row].push_back(entries[row]);
  if (reduced < 0)
    shift(int32_t(nonbasic.size()) - 1, 1);
}

void Simplex::addRow(const Terms &columnsAndCoefficients, double right) {
  std::vector<double> added(nonbasic.size(), 0);
  double sum = -right;
  for (auto [variable, coefficient] : columnsAndCoefficients) {
    sum += coefficient * value(variable);
    int32_t at = placeOfColumn[variable];
    if (at < 0) {
      added[-1 - at] += coefficient;
      continue;
    }
    const std::vector<double> &of = table[at];
    addMultiple(added.data(), of.data(), int64_t(added.size()), coefficient);
  }
  basic.push_back(~rows());
  placeOfSlack.push_back(int32_t(table.size()));
  table.push_back(std::move(added));
  basicValue.push_back(sum);
}

/// Moves a nonbasic variable; the basic ones follow.
void Simplex::shift(int32_t column, double to) {
  double change = to - nonbasicValue[column];
  if (change == 0)
    return;
  for (int32_t row = 0; row < rows(); ++row)
    basicValue[row] += table[row][column] * change;
  nonbasicValue[column] = to;
}

void Simplex::setBounds(int32_t column, double low, double high) {
  lower[column] = low;
  upper[column] = high;
  if (placeOfColumn[column] < 0) {
    int32_t at = -1 - placeOfColumn[column];
    shift(at, low == high || reducedCost[at] >= 0 ? low : high);
  }
}

void Simplex::pivot(int32_t row, int32_t column) {
  double *pivotLine = table[row].data(), inverse = 1 / pivotLine[column];
  auto width = int32_t(nonbasic.size());
  for (int32_t k = 0; k < width; ++k)
    pivotLine[k] *= -inverse;
  pivotLine[column] = inverse;
  auto eliminate = [&](double *other) {
    double factor = other[column];
    if (factor == 0)
      return;
    other[column] = 0;
    addMultiple(other, pivotLine, width, factor);
  };
  for (int32_t other = 0; other < rows(); ++other)
    if (other != row)
      eliminate(table[other].data());
  eliminate(reducedCost.data());
  std::swap(basic[row], nonbasic[column]);
  std::swap(basicValue[row], nonbasicValue[column]);
  place(basic[row]) = row;
  place(nonbasic[column]) = -1 - column;
}

int64_t Simplex::solve(int64_t limit) {
  for (int64_t pivots = 0; pivots < limit; ++pivots) {
    int32_t row = -1;
    double most = kTolerance;
    bool below = true;
    for (int32_t k = 0; k < rows(); ++k) {
      double under = lowerOf(basic[k]) - basicValue[k], over = basicValue[k] - upperOf(basic[k]);
      if (std::max(under, over) > most) {
        most = std::max(under, over);
        row = k;
        below = under > over;
      }
    }
    if (row < 0)
      return pivots;
    double bound = below ? lowerOf(basic[row]) : upperOf(basic[row]), sign = below ? 1 : -1;
    const std::vector<double> &of = table[row];
    candidates.clear();
    for (int32_t k = 0; k < int32_t(nonbasic.size()); ++k) {
      double slope = sign * of[k];
      int32_t variable = nonbasic[k];
      if (std::abs(slope) < kSmallestPivot || lowerOf(variable) == upperOf(variable))
        continue;
      bool atLower = nonbasicValue[k] == lowerOf(variable);
      if (atLower == (slope > 0))
        candidates.push_back({std::abs(reducedCost[k] / slope), k});
    }
    if (candidates.empty())
      return -1 - pivots;
    std::sort(candidates.begin(), candidates.end());
    // Those that reach their other bound before the row is mended go there; the first that does
    // not enters.
    double missing = most;
    size_t entering = 0;
    for (; entering + 1 < candidates.size(); ++entering) {
      int32_t k = candidates[entering].second;
      missing -= std::abs(of[k]) * (upperOf(nonbasic[k]) - lowerOf(nonbasic[k]));
      if (!(missing > 0))
        break;
    }
    // Among equals the largest pivot.
    size_t chosen = entering;
    for (size_t k = entering + 1;
         k < candidates.size() && candidates[k].first <= candidates[entering].first + 1e-12; ++k)
      if (std::abs(of[candidates[k].second]) > std::abs(of[candidates[chosen].second]))
        chosen = k;
    for (size_t k = 0; k < entering; ++k) {
      int32_t flipped = candidates[k].second, variable = nonbasic[flipped];
      shift(flipped, nonbasicValue[flipped] == lower[variable] ? upper[variable] : lower[variable]);
    }
    int32_t column = candidates[chosen].second;
    double step = (bound - basicValue[row]) / table[row][column];
    double entered = nonbasicValue[column] + step;
    for (int32_t k = 0; k < rows(); ++k)
      basicValue[k] += table[k][column] * step;
    basicValue[row] = bound;
    nonbasicValue[column] = entered;
    pivot(row, column);
  }
  return -1 - limit;
}

} // namespace zero::planning::checkpoint
