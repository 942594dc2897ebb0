//===- CheckpointPaths.cpp - rows of one moment ----------------------------===//
//
// Paths are found one after another: first pairs of a value and its input, both live
// in base order, then from each value that is evicted, the most often first, to the
// value that is computed again the least often among those it needs.
//
//===----------------------------------------------------------------------===//
#include "CheckpointProgramme.h"

#include <algorithm>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {
constexpr double kGain = 1e-7; // of a unit of weight, to go on
/// Pairs that are less than half wrong are left: most come right with other rows.
constexpr double kWorthSplitting = 0.5;
} // namespace

double Row::surplus(const std::vector<double> &values) const {
  double sum = 0;
  for (auto [column, bytes] : terms)
    sum += double(bytes) * values[column];
  return sum / double(least) - (given < 0 ? 1 : values[given]);
}

/// How much of a span's value is computed again after the moment and before `until`.
double Programme::valueOf(int32_t span, Moment moment, int32_t until,
                          const std::vector<double> &values) {
  double sum = 0;
  for (int32_t column : spans[span].columns)
    if (2 * gaps[column].to > moment && gaps[column].to <= until)
      sum += column < int32_t(values.size()) ? values[column] : 0;
  return sum;
}

void Programme::addTerms(int32_t span, Moment moment, int32_t until, int64_t bytes) {
  if (bytes == 0)
    return;
  if (spans[span].columns.empty()) {
    const Span &whole = spans[span];
    addColumn(span, {whole.node, whole.from, whole.to});
  }
  for (int32_t column : spans[span].columns) {
    if (2 * gaps[column].to <= moment || gaps[column].to > until)
      continue;
    if (coefficient[column] == 0)
      touched.push_back(column);
    coefficient[column] += bytes;
  }
}

/// Whether a path may take `node`: its last use in base order lies before the moment.
bool Programme::goesOn(int32_t node, Moment moment) const {
  return trailing[node] >= 0 && 2 * lastUse[node] < moment && !isFixed[node];
}

/// Both a value and its input are evicted, and the input is used later: it must be computed again
/// before the value's use already, in a window of its own.
void Programme::pairSources(Moment moment, const std::vector<double> &values, Row &row) {
  for (Source &source : sources) {
    const int32_t until = spans[source.span].to;
    for (int32_t input : graph.inputs(spans[source.span].node)) {
      if (sourceOf[input] < 0)
        continue;
      Source &other = sources[sourceOf[input]];
      const Span &span = spans[other.span];
      int64_t both = std::min(source.left, other.left);
      if (span.to <= until || both == 0)
        continue;
      double gain = source.evicted + other.evicted - 1;
      bool isSplit = false;
      int32_t around = -1;
      for (int32_t column : span.columns) {
        isSplit |= gaps[column].to == until;
        if (gaps[column].from < until && until < gaps[column].to)
          around = column;
      }
      if (isSplit)
        gain -= valueOf(other.span, moment, until, values);
      if (gain < (isSplit ? kGain : kWorthSplitting))
        continue;
      if (!isSplit) {
        if (around >= 0)
          wanted.push_back({around, until});
        continue;
      }
      addTerms(other.span, moment, until, both);
      source.left -= both;
      other.left -= both;
      row.least -= both;
    }
  }
}

/// Sends a source's bytes on to the values that it would be computed from, as long as one of them
/// is less often computed again than the source. Where nothing in reach is, nothing is for later
/// sources either, which are evicted no more often: what was reached is a dead end.
void Programme::followInputs(Source &source, Moment moment, const std::vector<double> &values) {
  while (source.left > 0) {
    // The cheapest end within reach.
    double least = source.evicted - kGain;
    int32_t end = -1;
    reached.assign(1, spans[source.span].node);
    for (size_t k = 0; k < reached.size() && least > 0; ++k)
      for (int32_t input : graph.inputs(reached[k])) {
        if (parent[input] >= 0 || roomOf[input] == 0 || !goesOn(input, moment))
          continue;
        if (roomOf[input] < 0) {
          roomOf[input] = graph.bytes[input];
          recomputed[input] = valueOf(trailing[input], moment, graph.size, values);
          touchedNodes.push_back(input);
        }
        parent[input] = reached[k];
        reached.push_back(input);
        if (recomputed[input] < least) {
          least = recomputed[input];
          end = input;
          if (least <= 0)
            break;
        }
      }
    nodesReached += reached.size();
    int64_t bytes = source.left;
    for (int32_t node = end; node >= 0 && node != reached[0]; node = parent[node])
      bytes = std::min(bytes, roomOf[node]);
    for (int32_t node = end; node >= 0 && node != reached[0]; node = parent[node])
      roomOf[node] -= bytes;
    for (int32_t node : reached)
      parent[node] = -1;
    if (end < 0) {
      for (size_t k = 1; k < reached.size(); ++k)
        roomOf[reached[k]] = 0;
      return;
    }
    addTerms(trailing[end], moment, graph.size, bytes);
    source.left -= bytes;
  }
}

Row Programme::rowAt(Moment moment, int32_t given, const std::vector<double> &values) {
  Row row{{}, 0, given, moment};
  int32_t step = moment / 2;
  if (given < 0) {
    row.least = missingAt[step];
  } else {
    int32_t node = gaps[given].node;
    row.least = missingWhile(node, step);
    isFixed[node] = 1;
    for (int32_t input : graph.inputs(node))
      isFixed[input] = 1;
  }
  if (row.least > 0) {
    for (int32_t span : crossing[given < 0 ? step - 1 : step]) {
      int32_t node = spans[span].node;
      if (isFixed[node] || 2 * spans[span].to <= moment)
        continue;
      double evicted = valueOf(span, moment, graph.size, values);
      if (evicted > 1 + kGain) { // better without
        row.least -= graph.bytes[node];
        continue;
      }
      sourceOf[node] = int32_t(sources.size());
      sources.push_back({span, evicted, graph.bytes[node]});
    }
    pairSources(moment, values, row);
    for (Source &source : sources)
      sourceOf[spans[source.span].node] = -1;
    std::stable_sort(sources.begin(), sources.end(),
                     [](const Source &a, const Source &b) { return a.evicted > b.evicted; });
    for (Source &source : sources) {
      if (source.evicted > kGain)
        followInputs(source, moment, values);
      addTerms(source.span, moment, graph.size, source.left);
    }
  }
  constexpr int64_t kPerSpan = 48, kPerNode = 24;
  workOfRows += kPerSpan * int64_t(crossing[given < 0 ? step - 1 : step].size()) +
                kPerNode * int64_t(nodesReached);
  nodesReached = 0;
  std::sort(touched.begin(), touched.end());
  for (int32_t column : touched) {
    if (row.least > 0)
      row.terms.push_back({column, std::min(coefficient[column], row.least)});
    coefficient[column] = 0;
  }
  touched.clear();
  sources.clear();
  for (int32_t node : touchedNodes)
    roomOf[node] = -1;
  touchedNodes.clear();
  if (given >= 0) {
    isFixed[gaps[given].node] = 0;
    for (int32_t input : graph.inputs(gaps[given].node))
      isFixed[input] = 0;
  }
  return row;
}

} // namespace zero::planning::checkpoint
