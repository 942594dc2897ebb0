//===- CheckpointCheck.cpp - the rules of recomputation, apart from the planner ==//
//
// One walk over a sequence gives every instance its last use, and so its lifetime;
// a difference array gives the bytes live at each computation. The planner keeps
// the same figures up to date in its own way.
//
//===----------------------------------------------------------------------===//
#include "zero/Planning/Checkpoint.h"

#include <algorithm>
#include <unordered_set>

namespace zero::planning::checkpoint {
namespace {

std::string describe(const Problem &problem, int64_t node) {
  return "node " + std::to_string(problem.nodes[node].id);
}

/// The position of each instance's last use: its own where nothing reads it. Or the first
/// computation that misses an input.
struct Lifetimes {
  std::vector<int64_t> lastUse;
  std::optional<std::string> problem;
};

Lifetimes lifetimesOf(const Problem &problem, const std::vector<int64_t> &computations) {
  Lifetimes result;
  std::vector<int64_t> latest(problem.nodes.size(), -1);
  result.lastUse.resize(computations.size());
  for (size_t at = 0; at < computations.size(); ++at) {
    int64_t node = computations[at];
    result.lastUse[at] = int64_t(at);
    for (int64_t input : problem.nodes[node].inputs) {
      if (latest[input] < 0) {
        result.problem = "computation " + std::to_string(at) + ": expects " +
                         describe(problem, input) + " to be computed before " +
                         describe(problem, node) + ", which reads it";
        return result;
      }
      result.lastUse[latest[input]] = int64_t(at);
    }
    latest[node] = int64_t(at);
  }
  return result;
}

std::vector<int64_t> liveBytes(const Problem &problem, const std::vector<int64_t> &computations,
                               const std::vector<int64_t> &lastUse) {
  std::vector<int64_t> live(computations.size() + 1, 0);
  for (size_t at = 0; at < computations.size(); ++at) {
    int64_t bytes = problem.nodes[computations[at]].bytes;
    live[at] += bytes;
    live[lastUse[at] + 1] -= bytes;
  }
  for (size_t at = 1; at < live.size(); ++at)
    live[at] += live[at - 1];
  live.pop_back();
  return live;
}

int64_t largest(const std::vector<int64_t> &values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::vector<int64_t> everyNodeOnce(const Problem &problem) {
  std::vector<int64_t> computations(problem.nodes.size());
  for (size_t node = 0; node < computations.size(); ++node)
    computations[node] = int64_t(node);
  return computations;
}

} // namespace

std::optional<std::string> check(const Problem &problem) {
  if (problem.nodes.empty())
    return "expects at least one node";
  if (problem.budgetBytes < 0)
    return "expects a budget of at least 0 bytes, got " + std::to_string(problem.budgetBytes);
  std::unordered_set<int64_t> ids;
  int64_t cost = 0, bytes = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const Node &node = problem.nodes[i];
    std::string who = describe(problem, int64_t(i)) + ": ";
    if (!ids.insert(node.id).second)
      return who + "expects an id of its own, and another node has it too";
    if (node.cost < 0 || node.cost > kMaxTotal)
      return who + "expects a cost between 0 and " + std::to_string(kMaxTotal) + ", got " +
             std::to_string(node.cost);
    if (node.bytes < 0 || node.bytes > kMaxTotal)
      return who + "expects bytes between 0 and " + std::to_string(kMaxTotal) + ", got " +
             std::to_string(node.bytes);
    if ((cost += node.cost) > kMaxTotal || (bytes += node.bytes) > kMaxTotal)
      return who + "expects the nodes up to here to cost and take at most " +
             std::to_string(kMaxTotal) + " together";
    std::vector<int64_t> inputs = node.inputs;
    std::sort(inputs.begin(), inputs.end());
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k] < 0 || inputs[k] >= int64_t(i))
        return who + "expects inputs that come before it";
      if (k > 0 && inputs[k] == inputs[k - 1])
        return who + "expects each input once, got " + describe(problem, inputs[k]) + " twice";
    }
  }
  return std::nullopt;
}

int64_t baseCost(const Problem &problem) {
  int64_t cost = 0;
  for (const Node &node : problem.nodes)
    cost += node.cost;
  return cost;
}

int64_t basePeakBytes(const Problem &problem) {
  return largest(liveBytes(problem, everyNodeOnce(problem)));
}

Floor floorOf(const Problem &problem) {
  Floor floor;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    int64_t bytes = problem.nodes[i].bytes;
    for (int64_t input : problem.nodes[i].inputs)
      bytes += problem.nodes[input].bytes;
    if (floor.node < 0 || bytes > floor.bytes)
      floor = {bytes, int64_t(i)};
  }
  return floor;
}

std::vector<int64_t> liveBytes(const Problem &problem, const std::vector<int64_t> &computations) {
  return liveBytes(problem, computations, lifetimesOf(problem, computations).lastUse);
}

std::optional<std::string> verify(const Problem &problem, const Plan &plan) {
  if (auto message = check(problem))
    return message;
  Floor floor = floorOf(problem);
  bool belowFloor = problem.budgetBytes < floor.bytes;
  if (belowFloor != (plan.floorNode >= 0) || (belowFloor && plan.floorNode != floor.node))
    return belowFloor ? "expects the budget to be refused for " + describe(problem, floor.node)
                      : "expects no node above the budget";
  bool found = plan.status == Status::Optimal || plan.status == Status::Feasible;
  if (belowFloor && plan.status != Status::Infeasible)
    return std::string("expects status infeasible below the floor, got ") + name(plan.status);
  if (!found)
    return plan.computations.empty() ? std::nullopt
                                     : std::optional<std::string>("expects no computations where "
                                                                  "no plan was found");

  for (int64_t node : plan.computations)
    if (node < 0 || node >= int64_t(problem.nodes.size()))
      return "expects nodes below " + std::to_string(problem.nodes.size()) + ", got " +
             std::to_string(node);
  int64_t next = 0, cost = 0;
  for (int64_t node : plan.computations) {
    if (node > next)
      return "expects " + describe(problem, next) + " to be computed before " +
             describe(problem, node);
    next += node == next;
    if (__builtin_add_overflow(cost, problem.nodes[node].cost, &cost))
      return "expects a cost below 2^63";
  }
  if (next != int64_t(problem.nodes.size()))
    return "expects every node, got none of " + describe(problem, next);
  Lifetimes lifetimes = lifetimesOf(problem, plan.computations);
  if (lifetimes.problem)
    return lifetimes.problem;
  int64_t peak = largest(liveBytes(problem, plan.computations, lifetimes.lastUse));
  if (plan.cost != cost)
    return "expects a cost of " + std::to_string(cost) + ", got " + std::to_string(plan.cost);
  if (plan.peakBytes != peak)
    return "expects a peak of " + std::to_string(peak) + " bytes, got " +
           std::to_string(plan.peakBytes);
  if (peak > problem.budgetBytes)
    return "expects a peak within " + std::to_string(problem.budgetBytes) + " bytes, got " +
           std::to_string(peak);
  if (plan.lowerBoundCost > cost || plan.lowerBoundCost < baseCost(problem))
    return "expects a lower bound between " + std::to_string(baseCost(problem)) + " and " +
           std::to_string(cost) + ", got " + std::to_string(plan.lowerBoundCost);
  Status expected = plan.lowerBoundCost == cost ? Status::Optimal : Status::Feasible;
  if (plan.status != expected)
    return std::string("expects status ") + name(expected) + ", got " + name(plan.status);
  return std::nullopt;
}

} // namespace zero::planning::checkpoint
