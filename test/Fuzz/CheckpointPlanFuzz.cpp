//===- CheckpointPlanFuzz.cpp - any small graph, and its plan broken --------===//
//
// The plan of every problem that `check` accepts passes `verify`; where one computation is
// left out or two change places, `verify` refuses exactly what a simulation by the model's
// rules refuses.
//
//===----------------------------------------------------------------------===//
#include "Require.h"
#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <fuzzer/FuzzedDataProvider.h>

using namespace zero::fuzz;
using namespace zero::planning::checkpoint;

namespace {

struct Simulated {
  bool valid = false;
  int64_t cost = 0, peakBytes = 0;
};

/// By the text of the model: first computations in order, inputs there, every instance live from
/// its computation to its last use before the next one.
Simulated simulate(const Problem &problem, const std::vector<int64_t> &order) {
  const int64_t count = int64_t(problem.nodes.size()), steps = int64_t(order.size());
  std::vector<int64_t> current(count, -1), from(steps, 0), to(steps, 0);
  int64_t next = 0;
  Simulated result;
  for (int64_t at = 0; at < steps; ++at) {
    const int64_t node = order[at];
    if (current[node] < 0 && node != next++)
      return result;
    for (int64_t input : problem.nodes[node].inputs) {
      if (current[input] < 0)
        return result;
      to[current[input]] = at;
    }
    current[node] = from[at] = to[at] = at;
    result.cost += problem.nodes[node].cost;
  }
  for (int64_t at = 0; at < steps; ++at) {
    int64_t live = 0;
    for (int64_t instance = 0; instance < steps; ++instance)
      if (from[instance] <= at && at <= to[instance])
        live += problem.nodes[order[instance]].bytes;
    result.peakBytes = std::max(result.peakBytes, live);
  }
  result.valid = next == count;
  return result;
}

bool accepted(const Problem &problem, const Plan &plan) {
  const Simulated truth = simulate(problem, plan.computations);
  return truth.valid && truth.cost == plan.cost && truth.peakBytes == plan.peakBytes &&
         truth.peakBytes <= problem.budgetBytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider from(data, size);
  Problem problem;
  const int64_t share = from.ConsumeIntegralInRange<int64_t>(0, 64);
  const size_t which = from.ConsumeIntegral<uint8_t>(), other = from.ConsumeIntegral<uint8_t>();
  const bool swap = from.ConsumeBool();
  while (from.remaining_bytes() && problem.nodes.size() < 14) {
    Node node;
    const int64_t id = int64_t(problem.nodes.size());
    node.id = id;
    node.cost = from.ConsumeIntegralInRange<int64_t>(0, 9);
    node.bytes = from.ConsumeIntegralInRange<int64_t>(0, 15);
    if (from.ConsumeIntegralInRange<int>(0, 63) == 0)
      (swap ? node.cost : node.bytes) = from.ConsumeIntegral<int64_t>();
    const uint16_t readers = from.ConsumeIntegral<uint16_t>() & from.ConsumeIntegral<uint16_t>();
    for (int64_t input = 0; input < id; ++input)
      if (readers >> input & 1)
        node.inputs.push_back(input);
    problem.nodes.push_back(std::move(node));
  }
  if (problem.nodes.empty() || check(problem))
    return 0;
  const int64_t peak = basePeakBytes(problem), floor = floorOf(problem).bytes;
  // From a little below the floor to a little above the peak; in doubles, where a share of huge
  // sizes does not overflow.
  problem.budgetBytes =
      int64_t(double(floor) * 0.9 + (double(peak) - double(floor) * 0.8) * double(share) / 64);
  if (check(problem))
    return 0;
  Plan made = plan(problem, {.moves = 400, .branches = 20, .reachSteps = 500});
  if (auto wrong = verify(problem, made))
    require(false, "a plan that passes, got " + *wrong);
  require(made.status == Status::Infeasible || problem.budgetBytes >= floor,
          "an answer below the floor");
  if (made.computations.empty())
    return 0;
  require(made.lowerBoundCost <= made.cost && baseCost(problem) <= made.cost,
          "no cost below the bound");

  const size_t first = which % made.computations.size(), second = other % made.computations.size();
  if (swap)
    std::swap(made.computations[first], made.computations[second]);
  else
    made.computations.erase(made.computations.begin() + int64_t(first));
  require(accepted(problem, made) == !verify(problem, made),
          "verify to judge as the simulation does");
  return 0;
}
