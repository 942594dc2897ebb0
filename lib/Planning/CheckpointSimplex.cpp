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

Simplex::Simplex(std::vector<double> costs)
    : columns(int32_t(costs.size())), reducedCost(costs), lower(costs.size(), 0),
      upper(costs.size(), 1), nonbasicValue(costs.size(), 0), cost(std::move(costs)) {
  for (int32_t column = 0; column < columns; ++column) {
    nonbasic.push_back(column);
    place.push_back(-1 - column);
  }
}

double Simplex::lowerOf(int32_t variable) const { return variable < columns ? lower[variable] : 0; }

double Simplex::upperOf(int32_t variable) const {
  return variable < columns ? upper[variable] : std::numeric_limits<double>::infinity();
}

double Simplex::value(int32_t column) const {
  return place[column] >= 0 ? basicValue[place[column]] : nonbasicValue[-1 - place[column]];
}

double Simplex::objective() const {
  double sum = 0;
  for (int32_t column = 0; column < columns; ++column)
    sum += cost[column] * value(column);
  return sum;
}

double Simplex::multiplier(int32_t row) const {
  int32_t at = place[columns + row];
  return at >= 0 ? 0 : std::max(0.0, reducedCost[-1 - at]);
}

void Simplex::addRow(const std::vector<std::pair<int32_t, double>> &coefficients) {
  int32_t row = rows();
  table.resize(size_t(row + 1) * columns, 0);
  basic.push_back(columns + row);
  place.push_back(row);
  double *added = line(row), sum = -1;
  for (auto [variable, coefficient] : coefficients) {
    sum += coefficient * value(variable);
    if (place[variable] < 0) {
      added[-1 - place[variable]] += coefficient;
      continue;
    }
    const double *of = line(place[variable]);
    for (int32_t k = 0; k < columns; ++k)
      added[k] += coefficient * of[k];
  }
  basicValue.push_back(sum);
}

/// Moves a nonbasic variable; the basic ones follow.
void Simplex::shift(int32_t column, double to) {
  double change = to - nonbasicValue[column];
  if (change == 0)
    return;
  for (int32_t row = 0; row < rows(); ++row)
    basicValue[row] += line(row)[column] * change;
  nonbasicValue[column] = to;
}

void Simplex::setBounds(int32_t column, double low, double high) {
  lower[column] = low;
  upper[column] = high;
  if (place[column] < 0) {
    int32_t at = -1 - place[column];
    shift(at, low == high || reducedCost[at] >= 0 ? low : high);
  }
}

void Simplex::pivot(int32_t row, int32_t column) {
  double *pivotLine = line(row), inverse = 1 / pivotLine[column];
  for (int32_t k = 0; k < columns; ++k)
    pivotLine[k] *= -inverse;
  pivotLine[column] = inverse;
  auto eliminate = [&](double *other) {
    double factor = other[column];
    if (factor == 0)
      return;
    other[column] = 0;
    for (int32_t k = 0; k < columns; ++k)
      other[k] += factor * pivotLine[k];
  };
  for (int32_t other = 0; other < rows(); ++other)
    if (other != row)
      eliminate(line(other));
  eliminate(reducedCost.data());
  std::swap(basic[row], nonbasic[column]);
  std::swap(basicValue[row], nonbasicValue[column]);
  place[basic[row]] = row;
  place[nonbasic[column]] = -1 - column;
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
    const double *of = line(row);
    candidates.clear();
    for (int32_t k = 0; k < columns; ++k) {
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
    double step = (bound - basicValue[row]) / line(row)[column];
    double entered = nonbasicValue[column] + step;
    for (int32_t k = 0; k < rows(); ++k)
      basicValue[k] += line(k)[column] * step;
    basicValue[row] = bound;
    nonbasicValue[column] = entered;
    pivot(row, column);
  }
  return -1 - limit;
}

} // namespace zero::planning::checkpoint
