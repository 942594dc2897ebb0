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
/// Windows of what is too large for it may take so many times a later round: they find more than
/// variants and repairs do.
constexpr int64_t kWindowRounds = 8;

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

/// One space without groups, in rounds: each goes on from the best packing so far.
class SpaceSearch {
public:
  SpaceSearch(const Problem &problem, const Options &options)
      : problem(problem), options(options), timeline(problem),
        portfolio(problem, timeline, options.threads) {
    bound = timeline.peakLoad;
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      if (OptionalNumber offset = problem.buffers[i].fixedOffset)
        bound = std::max(bound, *offset + timeline.items[i].size);
    proved = bound;
  }

  /// Goes on until so many steps are spent in all, or there is nothing more to find.
  void run(int64_t work);
  bool isOver() const { return isRefuted || best.height <= goal(); }
  Plan takePlan();

private:
  /// Within a capacity any plan will do; without one only what is proved is enough.
  int64_t goal() const {
    return problem.capacityBytes ? std::max(bound, *problem.capacityBytes) : proved;
  }
  void runExact(int64_t work);

  const Problem &problem;
  const Options &options;
  std::function<bool()> stop = [this] { return options.stop && options.stop(); };
  Timeline timeline;
  Portfolio portfolio;
  std::optional<ExactDescent> exact;
  Incumbent best;
  int64_t bound = 0, proved = 0;
  bool isBegun = false, areWindowsOver = false;
  bool isRefuted = false; // nothing fits in the capacity
};

void SpaceSearch::run(int64_t work) {
  int64_t windowWork = work;
  if (!isBegun) {
    portfolio.runFirst(best, goal(), work, stop);
    windowWork = std::min(work, Options().work);
  } else if (problem.buffers.size() > kMaxSearchItems) {
    windowWork = work < options.work / kWindowRounds ? work * kWindowRounds : options.work;
  }
  isBegun = true;
  if (best.height > goal() && portfolio.steps() <= work && !areWindowsOver) {
    const int64_t least = runWindows(problem, timeline, portfolio, best, goal(), windowWork, stop);
    proved = std::max(proved, least);
    areWindowsOver = portfolio.steps() < windowWork / 2; // they looked everywhere
  }
  isRefuted = problem.capacityBytes && proved > goal();
  if (best.height > goal())
    portfolio.runFurther(best, goal(), work, stop);
  if (best.height <= goal() || isRefuted || portfolio.steps() >= work || options.iterations <= 0)
    return;
  if (!exact)
    exact.emplace(problem, timeline, best);
  if (exact->applies() && (!problem.capacityBytes || *problem.capacityBytes == goal()))
    runExact(work);
  else
    portfolio.improve(best, goal(), work, options.iterations, stop);
}

void SpaceSearch::runExact(int64_t work) {
  const int64_t left = work - portfolio.steps(), before = exact->steps();
  if (!problem.capacityBytes)
    exact->descend(best, proved, left, stop);
  else if (!exact->reach(goal(), bound, best, left, stop)) {
    proved = std::min(best.height, goal() + 1);
    isRefuted = best.height > goal();
  }
  portfolio.addSteps(exact->steps() - before);
}

Plan SpaceSearch::takePlan() {
  Plan plan;
  plan.lowerBoundBytes = bound;
  plan.provedBytes = proved;
  plan.offsets = std::move(best.offsets);
  plan.heightBytes = best.height;
  if (problem.capacityBytes && best.height > *problem.capacityBytes)
    plan.status = proved > *problem.capacityBytes ? Status::Infeasible : Status::Unknown;
  else
    plan.status = best.height == proved ? Status::Optimal : Status::Feasible;
  return plan;
}

/// A plan for each. All have their first round before one has its second: a space that stays above
/// its bound leaves the others what they would have without it.
std::vector<Plan> planSpaces(const std::vector<const Problem *> &problems, const Options &options) {
  const int64_t count = int64_t(problems.size()), whole = options.work / count;
  // What is left of a round decides how long each search in it takes its turn. Were that minutes,
  // the first one, at the bound, would have all of the time. Within a capacity the exact search is
  // one, of short turns.
  int64_t work = std::min(whole, Options().work / count);
  if (count == 1 && problems.front()->capacityBytes &&
      int64_t(problems.front()->buffers.size()) <= kMaxSearchItems)
    work = whole;
  std::vector<Plan> plans(problems.size());
  std::vector<std::unique_ptr<SpaceSearch>> searches(problems.size());
  for (size_t i = 0; i < problems.size(); ++i) {
    searches[i] = std::make_unique<SpaceSearch>(*problems[i], options);
    searches[i]->run(work);
    if (work == whole || searches[i]->isOver()) {
      plans[i] = searches[i]->takePlan();
      searches[i].reset();
    }
  }
  while (work < whole) {
    work = whole / 2 < work ? whole : 2 * work;
    for (size_t i = 0; i < problems.size(); ++i)
      if (searches[i] && !searches[i]->isOver() && !(options.stop && options.stop()))
        searches[i]->run(work);
  }
  for (size_t i = 0; i < problems.size(); ++i)
    if (searches[i])
      plans[i] = searches[i]->takePlan();
  return plans;
}

} // namespace

Plan plan(const Problem &problem, const Options &options) {
  assert(!check(problem) && "plan needs a problem that check accepts");
  if (isPlain(problem))
    return std::move(planSpaces({&problem}, options).front());
  Plan plan;
  plan.offsets.assign(problem.buffers.size(), 0);
  plan.status = Status::Optimal;
  std::vector<Blocks> spaces = splitIntoBlocks(problem);
  std::vector<const Problem *> problems;
  for (const Blocks &blocks : spaces)
    problems.push_back(&blocks.problem);
  std::vector<Plan> parts = planSpaces(problems, options);
  // The worst of them, in this order.
  auto rank = [](Status status) {
    constexpr Status kOrder[] = {Status::Optimal, Status::Feasible, Status::Unknown,
                                 Status::Infeasible};
    return std::find(std::begin(kOrder), std::end(kOrder), status) - std::begin(kOrder);
  };
  for (size_t k = 0; k < spaces.size(); ++k) {
    const Blocks &blocks = spaces[k];
    const Plan &part = parts[k];
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
