//===- ArenaPlan.cpp - the portfolio, then the exact search --------------===//
//
// Orders first: they settle what training steps look like in milliseconds. What
// they leave open is the exact search's if it is small, and that of variants and
// repairs otherwise.
//
//===----------------------------------------------------------------------===//
#include "ArenaExact.h"
#include "ArenaGroups.h"
#include "ArenaPortfolio.h"
#include "ArenaWindow.h"

#include <algorithm>
#include <cassert>

namespace zero::planning::arena {
namespace {

constexpr size_t kWindowBuffers = 512; // fewer are the exact search's as a whole

/// At the goal, then at a quarter and at half of the way from there to the best plan. The least
/// height that is not ruled out.
int64_t runWindows(const Problem &problem, const Timeline &timeline, Portfolio &portfolio,
                   Incumbent &best, int64_t goal, int64_t work, const std::function<bool()> &stop) {
  if (problem.buffers.size() <= kWindowBuffers)
    return 0;
  WindowSearch windows(problem, timeline, portfolio, best);
  if (!windows.applies())
    return 0;
  const int64_t before = best.height, end = (portfolio.steps() + work) / 2;
  int64_t proved = 0;
  for (int64_t quarters : {0, 1, 2}) {
    int64_t height = (goal + (before - goal) / 4 * quarters) / timeline.unit * timeline.unit;
    if (best.height == before && !windows.run(best, height, end, stop))
      proved = height + timeline.unit;
  }
  return proved;
}

/// One space without groups.
Plan planPlain(const Problem &problem, const Options &options) {
  auto stop = [&] { return options.stop && options.stop(); };
  Plan plan;
  Timeline timeline(problem);
  plan.lowerBoundBytes = timeline.peakLoad;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (OptionalNumber offset = problem.buffers[i].fixedOffset)
      plan.lowerBoundBytes = std::max(plan.lowerBoundBytes, *offset + timeline.items[i].size);
  plan.provedBytes = plan.lowerBoundBytes;
  // Within a capacity any plan will do; without one only the bound is enough.
  int64_t goal = problem.capacityBytes ? std::max(plan.lowerBoundBytes, *problem.capacityBytes)
                                       : plan.lowerBoundBytes;
  Incumbent best;
  {
    Portfolio portfolio(problem, timeline, options.threads);
    portfolio.runFirst(best, goal, options.work, stop);
    if (best.height > goal && portfolio.steps() <= options.work)
      plan.provedBytes = std::max(plan.provedBytes, runWindows(problem, timeline, portfolio, best,
                                                               goal, options.work, stop));
    const bool isRefuted = problem.capacityBytes && plan.provedBytes > goal;
    if (!problem.capacityBytes)
      goal = plan.provedBytes;
    if (best.height > goal)
      portfolio.runFurther(best, goal, options.work, stop);
    int64_t left = isRefuted ? 0 : options.work - portfolio.steps();
    if (best.height > goal && left > 0 && options.iterations > 0) {
      ExactDescent exact(problem, timeline, best);
      if (exact.applies() && !problem.capacityBytes)
        exact.descend(best, plan.provedBytes, left, stop);
      else if (exact.applies() && *problem.capacityBytes == goal) {
        if (!exact.reach(goal, plan.lowerBoundBytes, best, left, stop))
          plan.provedBytes = std::min(best.height, goal + 1);
      } else
        portfolio.improve(best, goal, options.work, options.iterations, stop);
    }
  }
  plan.offsets = std::move(best.offsets);
  plan.heightBytes = best.height;
  if (problem.capacityBytes && best.height > *problem.capacityBytes)
    plan.status = plan.provedBytes > *problem.capacityBytes ? Status::Infeasible : Status::Unknown;
  else
    plan.status = best.height == plan.provedBytes ? Status::Optimal : Status::Feasible;
  return plan;
}

} // namespace

Plan plan(const Problem &problem, const Options &options) {
  assert(!check(problem) && "plan needs a problem that check accepts");
  if (isPlain(problem))
    return planPlain(problem, options);
  Plan plan;
  plan.offsets.assign(problem.buffers.size(), 0);
  plan.status = Status::Optimal;
  std::vector<Blocks> spaces = splitIntoBlocks(problem);
  // The worst of them, in this order.
  auto rank = [](Status status) {
    constexpr Status kOrder[] = {Status::Optimal, Status::Feasible, Status::Unknown,
                                 Status::Infeasible};
    return std::find(std::begin(kOrder), std::end(kOrder), status) - std::begin(kOrder);
  };
  for (const Blocks &blocks : spaces) {
    Options share = options;
    share.work /= int64_t(spaces.size());
    Plan part = planPlain(blocks.problem, share);
    for (size_t i = 0; i < blocks.buffers.size(); ++i)
      plan.offsets[blocks.buffers[i]] = part.offsets[blocks.blockOf[i]] + blocks.inBlock[i];
    plan.heightBytes += part.heightBytes;
    plan.lowerBoundBytes += part.lowerBoundBytes;
    plan.provedBytes += part.provedBytes;
    if (rank(part.status) > rank(plan.status))
      plan.status = part.status;
    if (spaces.size() > 1)
      plan.spaces.push_back(
          {blocks.space, part.heightBytes, part.lowerBoundBytes, part.provedBytes});
  }
  return plan;
}

} // namespace zero::planning::arena
