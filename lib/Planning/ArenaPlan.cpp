//===- ArenaPlan.cpp - the portfolio, then the exact search --------------===//
//
// Orders first: they settle what training steps look like in milliseconds. What
// they leave open is the exact search's if it is small, and that of variants and
// repairs otherwise.
//
//===----------------------------------------------------------------------===//
#include "ArenaExact.h"
#include "ArenaPortfolio.h"

#include <algorithm>
#include <cassert>

namespace zero::planning::arena {

Plan plan(const Problem &problem, const Options &options) {
  assert(!check(problem) && "plan needs a problem that check accepts");
  auto stop = [&] { return options.stop && options.stop(); };
  Plan plan;
  plan.lowerBoundBytes = plan.provedBytes = lowerBound(problem);
  // Within a capacity any plan will do; without one only the bound is enough.
  int64_t goal = problem.capacityBytes ? std::max(plan.lowerBoundBytes, *problem.capacityBytes)
                                       : plan.lowerBoundBytes;
  Incumbent best;
  {
    Timeline timeline(problem);
    Portfolio portfolio(problem, timeline, options.threads);
    portfolio.runOrders(best, goal, options.work, stop);
    int64_t left = options.work - portfolio.steps();
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

} // namespace zero::planning::arena
