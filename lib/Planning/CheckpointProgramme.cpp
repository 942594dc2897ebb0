//===- CheckpointProgramme.cpp - what memory asks of any plan --------------===//
#include "CheckpointProgramme.h"

#include <algorithm>
#include <numeric>

namespace zero::planning::checkpoint {
namespace {
constexpr int32_t kMostNodes = 1'500;
constexpr int64_t kMostCrossings = 1'000'000;
} // namespace

Programme::Programme(const Graph &graph)
    : graph(graph), missingAt(graph.size + 1, 0), crossingBytes(graph.size + 1, 0),
      trailing(graph.size, -1), sourceOf(graph.size, -1), isFixed(graph.size, 0),
      roomOf(graph.size, -1), recomputed(graph.size, 0), parent(graph.size, -1),
      isSplit(graph.size, 0) {
  int64_t crossings = 0;
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t last = graph.readers(node).empty() ? node : graph.readers(node).back();
    lastUse.push_back(last);
    missingAt[node] += graph.bytes[node];
    missingAt[last + 1] -= graph.bytes[node];
    crossingBytes[node] += graph.bytes[node];
    crossingBytes[last] -= graph.bytes[node];
    crossings += last - node;
  }
  std::partial_sum(missingAt.begin(), missingAt.end(), missingAt.begin());
  std::partial_sum(crossingBytes.begin(), crossingBytes.end(), crossingBytes.begin());
  for (int64_t &bytes : missingAt)
    bytes -= graph.budget;
  missingAt.resize(graph.size);
  refinable = graph.size <= kMostNodes && crossings <= kMostCrossings;

  // Columns for gaps around a step that misses bytes; others, if a row wants them.
  std::vector<int32_t> nextMissing(graph.size + 1, graph.size), lastMissing(graph.size + 1, -1);
  for (int32_t step = graph.size - 1; step >= 0; --step)
    nextMissing[step] = missingAt[step] > 0 ? step : nextMissing[step + 1];
  for (int32_t step = 0; step < graph.size; ++step)
    lastMissing[step + 1] = missingAt[step] > 0 ? step : lastMissing[step];
  if (refinable)
    crossing.resize(graph.size);
  for (int32_t node = 0; node < graph.size; ++node) {
    int32_t from = node;
    for (int32_t to : graph.readers(node)) {
      int32_t first = nextMissing[std::min(from + 1, graph.size)];
      bool matters = first < to;
      if (graph.bytes[node] > 0 && (matters || refinable)) {
        spans.push_back({node, from, to, first, lastMissing[to], false, {}});
        if (matters)
          addColumn(int32_t(spans.size()) - 1, {node, from, to});
        for (int32_t step = from; refinable && step < to; ++step)
          crossing[step].push_back(int32_t(spans.size()) - 1);
      }
      from = to;
    }
  }
  if (refinable)
    addTrailing();
}

/// Windows behind the last use, of what an evicted value may be computed from.
void Programme::addTrailing() {
  std::vector<int32_t> latest(graph.size, -1); // step by which a path may still want the node
  for (const Span &span : spans)
    latest[span.node] = std::max(latest[span.node], span.to);
  for (int32_t node = graph.size - 1; node >= 0; --node)
    for (int32_t input : graph.inputs(node))
      if (lastUse[input] < latest[node])
        latest[input] = std::max(latest[input], latest[node]);
  for (int32_t node = 0; node < graph.size; ++node)
    if (graph.bytes[node] > 0 && latest[node] > lastUse[node]) {
      trailing[node] = int32_t(spans.size());
      spans.push_back({node, lastUse[node], graph.size, graph.size, -1, true, {}});
    }
}

int32_t Programme::addColumn(int32_t span, Gap gap) {
  auto column = int32_t(gaps.size());
  gaps.push_back(gap);
  spanOf.push_back(span);
  coefficient.push_back(0);
  auto &list = spans[span].columns;
  auto place = std::find_if(list.begin(), list.end(),
                            [&](int32_t other) { return gaps[other].from >= gap.to; });
  list.insert(place, column);
  return column;
}

bool Programme::isImpossible() const {
  std::vector<int64_t> relief(graph.size + 1, 0);
  for (const Span &span : spans)
    if (!span.isTrailing) {
      relief[span.from + 1] += graph.bytes[span.node];
      relief[span.to] -= graph.bytes[span.node];
    }
  std::partial_sum(relief.begin(), relief.end(), relief.begin());
  for (int32_t step = 0; step < graph.size; ++step)
    if (missingAt[step] > relief[step])
      return true;
  return false;
}

Row Programme::stepRow(int32_t step) const {
  Row row{{}, missingAt[step], -1, 2 * step};
  for (int32_t column = 0; column < columns(); ++column) {
    const Span &span = spans[spanOf[column]];
    if (!span.isTrailing && span.from < step && step < gaps[column].to)
      row.terms.push_back({column, std::min(graph.bytes[span.node], row.least)});
  }
  return row;
}

int64_t Programme::missingWhile(int32_t node, int32_t step) const {
  int64_t bytes = crossingBytes[step] - graph.budget;
  bytes += lastUse[node] <= step ? graph.bytes[node] : 0;
  for (int32_t input : graph.inputs(node))
    bytes += lastUse[input] <= step ? graph.bytes[input] : 0;
  return bytes;
}

bool Programme::isTight(int32_t column) const {
  const Gap &gap = gaps[column];
  return gap.to == gap.from + 1 && missingWhile(gap.node, gap.from) > 0;
}

int32_t Programme::split(int32_t column, int32_t at) {
  isSplit[gaps[column].node] = 1;
  Gap early = gaps[column];
  early.to = at;
  gaps[column].from = at;
  return addColumn(spanOf[column], early);
}

bool Programme::isLastOfGap(int32_t column) const {
  const Span &span = spans[spanOf[column]];
  return !span.isTrailing && span.columns.back() == column;
}

std::pair<int32_t, int32_t> Programme::reliefOf(int32_t column) const {
  const Span &span = spans[spanOf[column]];
  return {span.from, span.to};
}

bool Programme::dominates(int32_t better, int32_t worse) const {
  const Span &a = spans[spanOf[better]], &b = spans[spanOf[worse]];
  if (a.columns.size() > 1 || b.columns.size() > 1 || a.firstMissing > a.lastMissing ||
      b.firstMissing > b.lastMissing)
    return false;
  // A better one keeps its coefficient in all rows where no path goes on from it.
  for (int32_t input : graph.inputs(a.node))
    if (refinable && (isSplit[input] || (graph.bytes[input] > 0 && lastUse[input] < a.to)))
      return false;
  return a.firstMissing <= b.firstMissing && a.lastMissing >= b.lastMissing &&
         bytes(better) >= bytes(worse) && cost(better) <= cost(worse);
}

std::vector<Gap> Programme::evictionsOf(const std::vector<bool> &taken) const {
  std::vector<Gap> evicted;
  for (const Span &span : spans) {
    Gap gap{span.node, span.from, span.to};
    for (int32_t column : span.columns)
      if (taken[column]) {
        gap.to = gaps[column].to;
        evicted.push_back(gap);
        gap.from = gap.to;
      }
  }
  return evicted;
}

std::vector<std::pair<int32_t, int32_t>> Programme::takeWanted() {
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return std::move(wanted);
}

} // namespace zero::planning::checkpoint
