//===- CheckpointProgramme.h - what memory asks of any plan ----------------===//
//
// The covering programme of CheckpointBound.h as data: a column for each gap around a
// step that misses bytes, and a row for each such step. Coefficients are cut at the
// right side, as more than it asks for is of no use.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H
#define ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H

#include "CheckpointBound.h"

namespace zero::planning::checkpoint {

/// Σ coefficient · column ≥ least.
struct Row {
  std::vector<std::pair<int32_t, int64_t>> terms;
  int64_t least = 0;

  /// Σ coefficient · value / least − 1: negative by how much it is violated.
  double surplus(const std::vector<double> &values) const;
};

class Programme {
public:
  explicit Programme(const Graph &graph);

  int32_t columns() const { return int32_t(gaps.size()); }
  const Gap &gap(int32_t column) const { return gaps[column]; }
  int64_t cost(int32_t column) const { return graph.cost[gaps[column].node]; }
  int64_t bytes(int32_t column) const { return graph.bytes[gaps[column].node]; }

  /// By step: bytes above the budget in base order.
  const std::vector<int64_t> &missing() const { return missingAt; }
  /// A step that no eviction makes room for.
  bool isImpossible() const;
  Row stepRow(int32_t step) const;
  /// Whether `better` will do wherever `worse` is taken: at least as useful in any row, no dearer.
  bool dominates(int32_t better, int32_t worse) const;

private:
  const Graph &graph;
  std::vector<int64_t> missingAt;
  std::vector<Gap> gaps;                          // by column
  std::vector<std::pair<int32_t, int32_t>> reach; // by column: first and last step that miss bytes
};

} // namespace zero::planning::checkpoint

#endif // ZERO_LIB_PLANNING_CHECKPOINTPROGRAMME_H
