//===- PlotCheckpoint.cpp - the picture of a checkpoint plan ---------------===//

#include "zero/Planning/PlotPlans.h"

#include <algorithm>

namespace zero::planning {

namespace {

constexpr size_t kMaxBars = 2000;

std::string nameOf(const checkpoint::Problem &problem, const checkpoint::Plan &plan, size_t first,
                   size_t end) {
  auto id = [&](size_t i) {
    return std::to_string(problem.nodes[static_cast<size_t>(plan.computations[i])].id);
  };
  return id(first) + (end - first > 1 ? " to " + id(end - 1) : "");
}

} // namespace

plot::Picture pictureOf(const checkpoint::Problem &problem, const checkpoint::Plan &plan) {
  plot::Picture picture;
  picture.kinds = {{"first computation, forward", plot::kColours[0]},
                   {"first computation, backward", plot::kColours[2]},
                   {"computed again", plot::kColours[1]}};
  picture.drawsLive = false; // the bars say it
  std::vector<int64_t> live = checkpoint::liveBytes(problem, plan.computations);
  std::vector<bool> isComputed(problem.nodes.size());
  size_t perBar = (live.size() + kMaxBars - 1) / kMaxBars;
  for (size_t first = 0; first < live.size(); first += perBar) {
    size_t end = std::min(first + perBar, live.size());
    int64_t highest = *std::max_element(live.begin() + static_cast<ptrdiff_t>(first),
                                        live.begin() + static_cast<ptrdiff_t>(end));
    int64_t counts[3] = {0, 0, 0};
    for (size_t i = first; i < end; ++i) {
      auto node = static_cast<size_t>(plan.computations[i]);
      ++counts[isComputed[node] ? 2 : problem.nodes[node].backward ? 1 : 0];
      isComputed[node] = true;
    }
    auto time = static_cast<int64_t>(first);
    for (int64_t kind = 0; kind < 3; time += counts[kind++])
      if (counts[kind])
        picture.rectangles.push_back(
            {time, time + counts[kind], 0, highest, kind, nameOf(problem, plan, first, end)});
  }
  picture.timeLabel = "computations, in order";
  picture.timeEnd = static_cast<int64_t>(live.size());
  picture.lines = {{"peak", plan.peakBytes}};
  if (problem.budgetBytes < checkpoint::kMaxTotal)
    picture.lines.push_back({"budget", problem.budgetBytes});
  return picture;
}

} // namespace zero::planning
