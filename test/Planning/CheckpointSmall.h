//===- CheckpointSmall.h - small problems, and what they cost at least -----===//
//
// Random graphs of a few nodes, and a brute force over all states: how many nodes
// were computed once, and which values are live. A state's cost is relaxed until no
// computation and no drop makes any cheaper, for all budgets at once. Nothing of the
// planner is used.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_PLANNING_CHECKPOINTSMALL_H
#define ZERO_TEST_PLANNING_CHECKPOINTSMALL_H

#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <random>

namespace zero::planning::checkpoint::small {

/// Costs and bytes from 0 to 5. Nodes read any before them, the last few, or, as in training,
/// values of forward in reverse.
inline Problem randomProblem(std::mt19937 &random, int64_t size) {
  Problem problem;
  uint32_t kind = random() % 3;
  for (int64_t i = 0; i < size; ++i) {
    Node node{7 * i + 3, int64_t(random() % 6), int64_t(random() % 6), 2 * i >= size, {}};
    for (int64_t input = 0; input < i; ++input) {
      bool isLast = input == i - 1, isMirror = input == size - 1 - i || input == size - i;
      bool reads = kind == 0   ? random() % 3 == 0 || (isLast && random() % 2)
                   : kind == 1 ? i - input <= 3 && random() % 2
                               : isLast || (isMirror && random() % 4) || random() % 10 == 0;
      if (reads)
        node.inputs.push_back(input);
    }
    problem.nodes.push_back(node);
  }
  return problem;
}

constexpr int64_t kNone = int64_t(1) << 40;

/// The cheapest cost at every budget from 0 to the base peak; kNone where no sequence fits.
inline std::vector<int64_t> cheapestByBudget(const Problem &problem) {
  auto size = int64_t(problem.nodes.size()), budgets = basePeakBytes(problem) + 1;
  uint32_t sets = 1u << size;
  std::vector<int64_t> bytes(sets, 0);
  for (uint32_t set = 0; set < sets; ++set)
    for (int64_t node = 0; node < size; ++node)
      bytes[set] += set >> node & 1 ? problem.nodes[node].bytes : 0;
  // costs[done][live][budget]
  std::vector<int64_t> costs((size + 1) * sets * budgets, kNone);
  auto at = [&](int64_t done, uint32_t live) { return &costs[(done * sets + live) * budgets]; };
  std::fill_n(at(0, 0), budgets, 0);
  bool changed = true;
  auto relax = [&](const int64_t *from, int64_t *to, int64_t least, int64_t cost) {
    for (int64_t budget = least; budget < budgets; ++budget)
      if (from[budget] < kNone && from[budget] + cost < to[budget]) {
        to[budget] = from[budget] + cost;
        changed = true;
      }
  };
  for (int64_t done = 0; done <= size; ++done) {
    for (changed = true; changed;) {
      changed = false;
      for (uint32_t live = 0; live < sets; ++live)
        for (int64_t node = 0; node < size; ++node) {
          uint32_t one = 1u << node;
          if (live & one) {
            relax(at(done, live), at(done, live & ~one), 0, 0);
            continue;
          }
          bool finds = node <= done;
          for (int64_t input : problem.nodes[node].inputs)
            finds &= live >> input & 1;
          if (finds)
            relax(at(done, live), at(done + (node == done), live | one), bytes[live | one],
                  problem.nodes[node].cost);
        }
    }
  }
  std::vector<int64_t> best(at(size, 0), at(size, 0) + budgets);
  return best;
}

} // namespace zero::planning::checkpoint::small

#endif // ZERO_TEST_PLANNING_CHECKPOINTSMALL_H
