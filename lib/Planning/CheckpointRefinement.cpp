//===- CheckpointRefinement.cpp - rows of paths and recomputations ---------===//
#include "CheckpointRelaxation.h"

#include <algorithm>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {
constexpr double kViolated = 1e-6;
constexpr int32_t kRowsPerRound = 6, kRecomputationsPerRound = 12;
constexpr Moment kMomentsApart = 6;
} // namespace

/// In rows of moments before `at` the new column counts as the old one does.
void Relaxation::splitAt(int32_t column, int32_t at) {
  int32_t early = rules.split(column, at);
  Simplex::Terms terms;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (2 * at <= rows[r].moment)
      continue;
    for (size_t k = 0; k < rows[r].terms.size(); ++k)
      if (auto [other, bytes] = rows[r].terms[k]; other == column) {
        rows[r].terms.push_back({early, bytes});
        terms.push_back({int32_t(r), double(bytes) / double(rows[r].least)});
        break;
      }
  }
  addColumn(early, terms);
}

/// Adds the strongest rows of the moments that the solution violates most; and splits columns.
bool Relaxation::addRefinedRows(bool splits) {
  int64_t room = roomForRows();
  struct Violated {
    double lacking;
    Row row;
  };
  std::vector<Violated> violated;
  auto offer = [&](Moment moment, int32_t given) {
    Row row = rules.rowAt(moment, given, values);
    syncColumns();
    if (row.terms.empty() || row.least <= 0)
      return;
    if (double lacking = -row.surplus(values); lacking > kViolated)
      violated.push_back({lacking * double(row.least), std::move(row)});
  };
  for (int32_t step = 0; step < graph.size; ++step)
    if (rules.missing()[step] > 0)
      offer(2 * step, -1);
  for (int32_t k = 0, count = rules.columns(); k < count; ++k) {
    const Gap &gap = rules.gap(k);
    bool isOne = gap.to == gap.from + 1;
    if (gap.to < graph.size && values[k] > kViolated && (isOne || splits) &&
        rules.missingWhile(gap.node, gap.to - 1) > 0)
      offer(2 * gap.to - 1, k);
  }
  std::stable_sort(violated.begin(), violated.end(),
                   [](const Violated &a, const Violated &b) { return a.lacking > b.lacking; });
  int32_t added = 0, taken = 0;
  std::vector<Moment> chosen;
  std::vector<std::pair<int32_t, int32_t>> shortened;
  for (Violated &one : violated) {
    if (--room <= 0)
      break;
    Row &row = one.row;
    if (row.given < 0) {
      if (added >= kRowsPerRound || std::any_of(chosen.begin(), chosen.end(), [&](Moment other) {
            return std::abs(other - row.moment) < kMomentsApart;
          }))
        continue;
      chosen.push_back(row.moment);
      ++added;
    } else {
      if (taken >= kRecomputationsPerRound)
        continue;
      ++taken;
      if (const Gap &gap = rules.gap(row.given); gap.to > gap.from + 1)
        shortened.push_back({row.given, gap.to - 1});
    }
    add(std::move(row), false);
  }
  // Behind the rows: they know the columns as they were.
  for (auto [column, at] : shortened)
    splitAt(column, at);
  auto wanted = rules.takeWanted();
  if (splits)
    for (auto [column, at] : wanted)
      if (const Gap &gap = rules.gap(column); gap.from < at && at < gap.to) {
        splitAt(column, at);
        ++added;
      }
  return added + taken > 0;
}

bool Relaxation::isCover(const std::vector<bool> &taken) {
  if (!refined) {
    std::vector<int64_t> lacking = rules.missing();
    for (int32_t k = 0; k < rules.columns(); ++k)
      for (int32_t step = rules.gap(k).from + 1; taken[k] && step < rules.gap(k).to; ++step)
        lacking[step] -= rules.bytes(k);
    return *std::max_element(lacking.begin(), lacking.end()) <= 0;
  }
  std::vector<double> whole(taken.begin(), taken.end());
  auto holds = [&](Moment moment, int32_t given) {
    Row row = rules.rowAt(moment, given, whole);
    syncColumns();
    int64_t sum = 0;
    for (auto [column, bytes] : row.terms)
      sum += column < int32_t(taken.size()) && taken[column] ? bytes : 0;
    return sum >= row.least;
  };
  for (int32_t step = 0; step < graph.size; ++step)
    if (rules.missing()[step] > 0 && !holds(2 * step, -1))
      return false;
  for (int32_t k = 0; k < int32_t(taken.size()); ++k)
    if (taken[k] && rules.isTight(k) && !holds(2 * rules.gap(k).from + 1, k))
      return false;
  return true;
}

void Relaxation::setSolution(std::vector<double> solution) {
  values = std::move(solution);
  values.resize(rules.columns(), 0);
}

} // namespace zero::planning::checkpoint
