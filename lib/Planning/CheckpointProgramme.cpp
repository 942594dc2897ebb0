//===- CheckpointProgramme.cpp - what memory asks of any plan --------------===//
#include "CheckpointProgramme.h"

#include <algorithm>
#include <numeric>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {

double Row::surplus(const std::vector<double> &values) const {
  double sum = 0;
  for (auto [column, bytes] : terms)
    sum += double(bytes) * values[column];
  return sum / double(least) - 1;
}

Programme::Programme(const Graph &graph) : graph(graph), missingAt(graph.size + 1, 0) {
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t last = graph.readers(node).empty() ? node : graph.readers(node).back();
    missingAt[node] += graph.bytes[node];
    missingAt[last + 1] -= graph.bytes[node];
  }
  std::partial_sum(missingAt.begin(), missingAt.end(), missingAt.begin());
  for (int64_t &bytes : missingAt)
    bytes -= graph.budget;
  missingAt.resize(graph.size);

  std::vector<int32_t> nextMissing(graph.size + 1, graph.size), lastMissing(graph.size + 1, -1);
  for (int32_t step = graph.size - 1; step >= 0; --step)
    nextMissing[step] = missingAt[step] > 0 ? step : nextMissing[step + 1];
  for (int32_t step = 0; step < graph.size; ++step)
    lastMissing[step + 1] = missingAt[step] > 0 ? step : lastMissing[step];
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t from = node;
    for (int32_t to : graph.readers(node)) {
      int32_t first = nextMissing[std::min(from + 1, graph.size)];
      if (graph.bytes[node] > 0 && first < to) {
        gaps.push_back({node, from, to});
        reach.push_back({first, lastMissing[to]});
      }
      from = to;
    }
  }
}

bool Programme::isImpossible() const {
  std::vector<int64_t> relief(graph.size + 1, 0);
  for (const Gap &gap : gaps) {
    relief[gap.from + 1] += graph.bytes[gap.node];
    relief[gap.to] -= graph.bytes[gap.node];
  }
  std::partial_sum(relief.begin(), relief.end(), relief.begin());
  for (int32_t step = 0; step < graph.size; ++step)
    if (missingAt[step] > 0 && missingAt[step] > relief[step])
      return true;
  return false;
}

Row Programme::stepRow(int32_t step) const {
  Row row{{}, missingAt[step]};
  for (int32_t column = 0; column < columns(); ++column)
    if (gaps[column].from < step && step < gaps[column].to)
      row.terms.push_back({column, std::min(bytes(column), row.least)});
  return row;
}

bool Programme::dominates(int32_t better, int32_t worse) const {
  return reach[better].first <= reach[worse].first && reach[better].second >= reach[worse].second &&
         bytes(better) >= bytes(worse) && cost(better) <= cost(worse);
}

} // namespace zero::planning::checkpoint
