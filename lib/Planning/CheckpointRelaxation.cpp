//===- CheckpointRelaxation.cpp - the programme, with fractions ------------===//
#include "CheckpointRelaxation.h"

#include "CheckpointCuts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {

using Wide = __int128;
constexpr double kViolated = 1e-6;
constexpr int64_t kTableCells = 3'000'000; // of the tableau
constexpr int32_t kMostRows = 250;         // for more cuts
constexpr int32_t kRowsPerRound = 6, kCutsPerRound = 4, kStepsApart = 3;
constexpr int64_t kMostPivots = 4'000;
constexpr int64_t kCellsPerWork = 3, kWorkPerTermOfCut = 24; // in the unit of `work`

} // namespace

Relaxation::Relaxation(const Graph &graph) : graph(graph), rules(graph), hasStepRow(graph.size, 0) {
  for (int64_t cost : graph.cost)
    costUnit = std::gcd(costUnit, cost);
  costUnit = std::max<int64_t>(costUnit, 1);
  costScale = double(std::max<int64_t>(1, *std::max_element(graph.cost.begin(), graph.cost.end())));
  syncColumns();
}

void Relaxation::addColumn(int32_t column, const Simplex::Terms &terms) {
  simplex.addColumn(relativeCost(column), terms);
  values.push_back(0);
  lowers.push_back(0);
  uppers.push_back(1);
}

/// Columns that the programme has made since are 0, and in no row so far.
void Relaxation::syncColumns() {
  while (simplex.columns() < rules.columns())
    addColumn(simplex.columns(), {});
}

void Relaxation::add(Row row, bool cut) {
  Simplex::Terms scaled;
  for (auto [column, bytes] : row.terms)
    scaled.push_back({column, double(bytes) / double(row.least)});
  if (row.given >= 0)
    scaled.push_back({row.given, -1});
  simplex.addRow(scaled, row.given >= 0 ? 0 : 1);
  rows.push_back(std::move(row));
  isCut.push_back(cut);
}

int64_t Relaxation::roomForRows() const {
  return kTableCells / (rules.columns() + 1) + 1 - simplex.rows();
}

bool Relaxation::addStepRows() {
  int64_t room = roomForRows();
  const std::vector<int64_t> &missing = rules.missing();
  std::vector<double> evicted(graph.size + 1, 0);
  for (int32_t column = 0; column < rules.columns(); ++column) {
    if (!rules.isLastOfGap(column))
      continue;
    double bytes = double(rules.bytes(column)) * values[column];
    evicted[rules.gap(column).from + 1] += bytes;
    evicted[rules.gap(column).to] -= bytes;
  }
  std::partial_sum(evicted.begin(), evicted.end(), evicted.begin());
  std::vector<std::pair<double, int32_t>> violated;
  for (int32_t step = 0; step < graph.size; ++step)
    if (missing[step] > 0 && !hasStepRow[step])
      if (double lacking = 1 - evicted[step] / double(missing[step]); lacking > kViolated)
        violated.push_back({-lacking * double(missing[step]), step});
  std::sort(violated.begin(), violated.end());
  std::vector<int32_t> chosen;
  for (auto [lacking, step] : violated) {
    if (int64_t(chosen.size()) >= std::min<int64_t>(room, kRowsPerRound))
      break;
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](int32_t other) { return std::abs(other - step) < kStepsApart; }))
      continue;
    chosen.push_back(step);
    hasStepRow[step] = 1;
    add(rules.stepRow(step), false);
  }
  return !chosen.empty();
}

bool Relaxation::addCuts() {
  if (int64_t(rules.columns()) * (simplex.rows() + 8) > kTableCells || simplex.rows() > kMostRows)
    return false;
  struct Found {
    double violation;
    size_t of;
    Row row;
  };
  std::vector<Found> cuts;
  for (size_t of = 0; of < rows.size(); ++of)
    if (!isCut[of]) {
      workDone += kWorkPerTermOfCut * int64_t(rows[of].terms.size());
      if (Row cut = cutOf(rows[of], values); !cut.terms.empty())
        cuts.push_back({-cut.surplus(values), of, std::move(cut)});
    }
  std::sort(cuts.begin(), cuts.end(), [](const Found &a, const Found &b) {
    return a.violation != b.violation ? a.violation > b.violation : a.of < b.of;
  });
  for (size_t k = 0; k < std::min<size_t>(cuts.size(), kCutsPerRound); ++k)
    add(std::move(cuts[k].row), true);
  return !cuts.empty();
}

void Relaxation::setBounds(int32_t column, bool lower, bool upper) {
  lowers[column] = lower;
  uppers[column] = upper;
  simplex.setBounds(column, lower, upper);
}

bool Relaxation::solve() {
  int64_t perPivot = int64_t(rules.columns() + 1) * simplex.rows() / kCellsPerWork + 1;
  int64_t room = (mostWork - work()) / perPivot;
  int64_t pivots = simplex.solve(std::clamp<int64_t>(room, 1, kMostPivots));
  workDone += (std::abs(pivots) + 8) * perPivot;
  for (int32_t column = 0; column < rules.columns(); ++column)
    values[column] = simplex.value(column);
  return pivots >= 0;
}

bool Relaxation::isImpossible() const {
  return std::any_of(rows.begin(), rows.end(), [&](const Row &row) {
    Wide most = 0;
    for (auto [column, bytes] : row.terms)
      most += uppers[column] ? bytes : 0;
    return most < row.least && (row.given < 0 || lowers[row.given]);
  });
}

Exact Relaxation::evaluate(std::vector<Wide> *reducedCosts) const {
  std::vector<double> multipliers;
  double most = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    multipliers.push_back(simplex.multiplier(int32_t(r)) * costScale / double(rows[r].least));
    most = std::max(most, multipliers.back());
  }
  int exponent = 0;
  std::frexp(most, &exponent);
  Exact exact;
  exact.shift = std::clamp(48 - exponent, 0, 56);
  std::vector<Wide> costs;
  for (int32_t column = 0; column < rules.columns(); ++column)
    costs.push_back(Wide(rules.cost(column)) << exact.shift);
  for (size_t r = 0; r < rows.size(); ++r) {
    auto multiplier = int64_t(std::min(std::ldexp(multipliers[r], exact.shift), 0x1p56));
    if (multiplier == 0)
      continue;
    if (rows[r].given < 0)
      exact.value += Wide(multiplier) * rows[r].least;
    else
      costs[rows[r].given] += Wide(multiplier) * rows[r].least;
    for (auto [column, bytes] : rows[r].terms)
      costs[column] -= Wide(multiplier) * bytes;
  }
  for (size_t k = 0; k < costs.size(); ++k)
    exact.value += costs[k] < 0 ? costs[k] * uppers[k] : costs[k] * lowers[k];
  if (reducedCosts)
    *reducedCosts = std::move(costs);
  return exact;
}

int64_t Relaxation::roundUp(const Exact &exact) const {
  Wide unit = Wide(costUnit) << exact.shift;
  Wide units = exact.value <= 0 ? 0 : (exact.value + unit - 1) / unit;
  return int64_t(std::min<Wide>(units * costUnit, kMaxTotal));
}

} // namespace zero::planning::checkpoint
