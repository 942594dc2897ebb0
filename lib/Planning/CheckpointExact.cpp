//===- CheckpointExact.cpp - the cheapest plan of a small problem ----------===//
#include "CheckpointExact.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace zero::planning::checkpoint {

Found exact(const Graph &graph) {
  int32_t size = graph.size;
  auto stateOf = [&](int32_t done, uint32_t live) { return (uint32_t(done) << size) | live; };
  std::vector<int64_t> bytesOf(size_t(1) << size, 0);
  for (size_t set = 1; set < bytesOf.size(); ++set)
    bytesOf[set] = bytesOf[set & (set - 1)] + graph.bytes[__builtin_ctzll(set)];
  std::vector<uint32_t> inputs(size, 0);
  for (int32_t node = 0; node < size; ++node)
    for (int32_t input : graph.inputs(node))
      inputs[node] |= 1u << input;

  struct Step {
    int64_t cost = kMaxTotal;
    uint32_t from = 0;
    int32_t computed = -1; // or a value dropped
  };
  std::vector<Step> steps(size_t(size + 1) << size);
  std::priority_queue<std::pair<int64_t, uint32_t>, std::vector<std::pair<int64_t, uint32_t>>,
                      std::greater<>>
      open;
  auto offer = [&](uint32_t from, uint32_t to, int64_t cost, int32_t computed) {
    if (cost >= steps[to].cost)
      return;
    steps[to] = {cost, from, computed};
    open.push({cost, to});
  };
  steps[0].cost = 0;
  open.push({0, 0});
  while (!open.empty()) {
    auto [cost, state] = open.top();
    open.pop();
    if (cost > steps[state].cost)
      continue;
    auto done = int32_t(state >> size);
    uint32_t live = state & ((1u << size) - 1);
    if (done == size) {
      Found found;
      found.cost = cost;
      for (; state != 0; state = steps[state].from)
        if (steps[state].computed >= 0)
          found.computations.push_back(steps[state].computed);
      std::reverse(found.computations.begin(), found.computations.end());
      return found;
    }
    for (int32_t node = 0; node <= done; ++node) {
      uint32_t with = live | (1u << node);
      if (with != live && (inputs[node] & ~live) == 0 && bytesOf[with] <= graph.budget)
        offer(state, stateOf(done + (node == done), with), cost + graph.cost[node], node);
    }
    for (int32_t node = 0; node < done; ++node)
      if (live & (1u << node))
        offer(state, stateOf(done, live & ~(1u << node)), cost, -1);
  }
  return {};
}

} // namespace zero::planning::checkpoint
