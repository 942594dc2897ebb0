//===- Policies.cpp - what to compute again, asked of the planners ---------===//

#include "zero/Passes/Recompute.h"

#include <algorithm>
#include <limits>

namespace zero {

namespace {

/// Launches of `again` run before the first launch of backward that reads them, or that reads what
/// one of them is needed for.
class LatePlacement {
public:
  LatePlacement(const JointGraph &graph, std::vector<bool> again)
      : graph(graph), again(std::move(again)) {}

  Sequence run() {
    for (int64_t i = 0; i < static_cast<int64_t>(graph.launches.size()); ++i) {
      if (i > graph.firstBackward)
        placeInputs(i);
      sequence.push_back(i);
    }
    return sequence;
  }

private:
  /// Depth first, inputs before what reads them.
  void placeInputs(int64_t reader) {
    std::vector<int64_t> stack(1, reader);
    while (!stack.empty()) {
      int64_t top = stack.back();
      bool isReady = true;
      for (int64_t input : graph.launches[top].inputs)
        if (again[input]) {
          stack.push_back(input);
          isReady = false;
        }
      if (!isReady)
        continue;
      stack.pop_back();
      if (top != reader && again[top]) {
        again[top] = false;
        sequence.push_back(top);
      }
    }
  }

  const JointGraph &graph;
  std::vector<bool> again;
  Sequence sequence;
};

/// The minimum cut between what cannot be computed in backward and what backward reads. A launch is
/// an edge of its bytes, from "can be computed" to "is there": cut, its value is kept.
class CheapCut {
public:
  explicit CheapCut(const JointGraph &graph)
      : graph(graph), source(2 * graph.firstBackward), sink(source + 1), edges(sink + 1) {
    std::vector<bool> isRead(graph.firstBackward);
    for (size_t i = graph.firstBackward + 1; i < graph.launches.size(); ++i)
      for (int64_t input : graph.launches[i].inputs)
        if (input < graph.firstBackward)
          isRead[input] = true;
    for (int64_t i = 0; i < graph.firstBackward; ++i) {
      const JointLaunch &launch = graph.launches[i];
      connect(2 * i, 2 * i + 1, launch.bytes);
      if (isRead[i])
        connect(2 * i + 1, sink, kEndless);
      if (!launch.isCheap || !launch.isRepeatable)
        connect(source, 2 * i, kEndless);
      else
        for (int64_t input : launch.inputs)
          connect(2 * input + 1, 2 * i, kEndless);
    }
    while (augment())
      ;
  }

  /// Launches that run again: of several minimum cuts, in the one that repeats least.
  std::vector<bool> repeated() {
    std::vector<bool> reaches = reachingSink(), again(graph.launches.size());
    for (int64_t i = 0; i < graph.firstBackward; ++i)
      again[i] = reaches[2 * i] && reaches[2 * i + 1];
    return again;
  }

private:
  static constexpr int64_t kEndless = std::numeric_limits<int64_t>::max() / 4;
  struct Edge {
    int64_t to, back, capacity; // `back`: the opposite edge's number at `to`
  };

  void connect(int64_t from, int64_t to, int64_t capacity) {
    edges[from].push_back({to, static_cast<int64_t>(edges[to].size()), capacity});
    edges[to].push_back({from, static_cast<int64_t>(edges[from].size()) - 1, 0});
  }

  /// One shortest path more (Edmonds and Karp, 1972), or false.
  bool augment() {
    std::vector<std::pair<int64_t, int64_t>> cameBy(edges.size(), {-1, -1}); // node, edge
    std::vector<int64_t> queue(1, source);
    for (size_t at = 0; at < queue.size() && cameBy[sink].first < 0; ++at)
      for (size_t e = 0; e < edges[queue[at]].size(); ++e) {
        const Edge &edge = edges[queue[at]][e];
        if (edge.capacity == 0 || edge.to == source || cameBy[edge.to].first >= 0)
          continue;
        cameBy[edge.to] = {queue[at], static_cast<int64_t>(e)};
        queue.push_back(edge.to);
      }
    if (cameBy[sink].first < 0)
      return false;
    int64_t flow = kEndless;
    for (int64_t node = sink; node != source; node = cameBy[node].first)
      flow = std::min(flow, edges[cameBy[node].first][cameBy[node].second].capacity);
    for (int64_t node = sink; node != source; node = cameBy[node].first) {
      Edge &edge = edges[cameBy[node].first][cameBy[node].second];
      edge.capacity -= flow;
      edges[node][edge.back].capacity += flow;
    }
    return true;
  }

  /// Nodes from which some way to the sink is left.
  std::vector<bool> reachingSink() {
    std::vector<bool> reaches(edges.size());
    std::vector<int64_t> queue(1, sink);
    reaches[sink] = true;
    for (size_t at = 0; at < queue.size(); ++at)
      for (const Edge &edge : edges[queue[at]])
        if (!reaches[edge.to] && edges[edge.to][edge.back].capacity > 0) {
          reaches[edge.to] = true;
          queue.push_back(edge.to);
        }
    return reaches;
  }

  const JointGraph &graph;
  int64_t source, sink;
  std::vector<std::vector<Edge>> edges;
};

} // namespace

std::vector<bool> repeatsOfCheap(const JointGraph &graph) { return CheapCut(graph).repeated(); }

Sequence placeLate(const JointGraph &graph, std::vector<bool> repeats) {
  return LatePlacement(graph, std::move(repeats)).run();
}

std::optional<Sequence> recomputeWithin(const JointGraph &graph, int64_t budgetBytes) {
  namespace cp = planning::checkpoint;
  cp::Problem problem = graph.problem(budgetBytes);
  if (cp::check(problem))
    return std::nullopt;
  cp::Plan plan = cp::plan(problem);
  if (plan.computations.empty() || cp::verify(problem, plan))
    return std::nullopt;
  std::vector<bool> met(graph.launches.size());
  for (int64_t number : plan.computations) {
    if (met[number] && (number >= graph.firstBackward || !graph.launches[number].isRepeatable))
      return std::nullopt;
    met[number] = true;
  }
  return plan.computations;
}

} // namespace zero
