//===- CheckpointEvictions.cpp - from evicted gaps to a sequence -----------===//
#include "CheckpointBound.h"

#include <algorithm>

namespace zero::planning::checkpoint {

std::vector<int32_t> sequenceOf(const Graph &graph, const std::vector<Gap> &evicted) {
  std::vector<std::vector<int32_t>> due(graph.size), gapsOfNode(graph.size);
  for (size_t k = 0; k < evicted.size(); ++k) {
    if (evicted[k].to < graph.size)
      due[evicted[k].to].push_back(evicted[k].node);
    gapsOfNode[evicted[k].node].push_back(int32_t(k));
  }
  std::vector<int32_t> sequence, computedFor(graph.size, -1), stack;
  for (int32_t step = 0; step < graph.size; ++step) {
    std::sort(due[step].begin(), due[step].end());
    for (int32_t first : due[step]) {
      // A node stays on the stack until its inputs are there.
      stack.assign(1, first);
      while (!stack.empty()) {
        int32_t node = stack.back();
        if (computedFor[node] == step) {
          stack.pop_back();
          continue;
        }
        bool ready = true;
        for (int32_t input : graph.inputs(node)) {
          bool gone =
              std::any_of(gapsOfNode[input].begin(), gapsOfNode[input].end(), [&](int32_t k) {
                return evicted[k].from < step && step <= evicted[k].to;
              });
          if (gone && computedFor[input] != step) {
            stack.push_back(input);
            ready = false;
          }
        }
        if (!ready)
          continue;
        stack.pop_back();
        computedFor[node] = step;
        sequence.push_back(node);
      }
    }
    sequence.push_back(step);
  }
  return sequence;
}

} // namespace zero::planning::checkpoint
