//===- PlotArena.cpp - the picture of an arena's plan ----------------------===//

#include "zero/Planning/PlotPlans.h"

#include "ArenaGroups.h"

#include <algorithm>
#include <numeric>

namespace zero::planning {

namespace {

constexpr int64_t kPersistent = 4, kFixed = 5;
constexpr size_t kNamedSpaces = 8; // more labels would be all that there is beside the plot

int64_t kindOf(const arena::Buffer &buffer, int64_t height) {
  if (buffer.isPersistent())
    return kPersistent;
  if (buffer.fixedOffset)
    return kFixed;
  for (int64_t kind = 0, part = height / 16; kind < 3; ++kind, part /= 8)
    if (buffer.sizeBytes >= part)
      return kind;
  return 3;
}

/// Each space on top of those before it.
void stackSpaces(const arena::Problem &problem, const arena::Plan &plan, plot::Picture &picture) {
  int64_t offset = 0;
  for (const arena::SpacePlan &space : plan.spaces) {
    std::string name = "space " + std::to_string(space.space);
    int64_t top = offset + space.heightBytes;
    if (plan.spaces.size() <= kNamedSpaces && top < plan.heightBytes) // the last one has a line
      picture.lines.push_back({"top of " + name, top});
    if (problem.capacityBytes && space.heightBytes > *problem.capacityBytes)
      picture.lines.push_back({"capacity of " + name, offset + *problem.capacityBytes});
    picture.floors.push_back({std::move(name), offset});
    offset = top;
  }
}

} // namespace

plot::Picture pictureOf(const arena::Problem &problem, const arena::Plan &plan) {
  plot::Picture picture;
  picture.kinds = {{"1/16 of the height and up", plot::kColours[1]},
                   {"1/128 and up", plot::kColours[0]},
                   {"1/1024 and up", plot::kColours[2]},
                   {"smaller", plot::kColours[4]},
                   {"persistent", plot::kColours[7]},
                   {"fixed place", plot::kColours[3]}};
  picture.lines = {{"height", plan.heightBytes}, {"lower bound", plan.lowerBoundBytes}};
  stackSpaces(problem, plan, picture);
  if (problem.capacityBytes && plan.spaces.empty())
    picture.lines.push_back({"capacity", *problem.capacityBytes});
  std::vector<int64_t> floor(problem.buffers.size(), 0), sharing(problem.buffers.size(), -1);
  if (!isPlain(problem)) {
    std::vector<arena::Blocks> spaces = splitIntoBlocks(problem);
    for (size_t k = 0; k < spaces.size(); ++k)
      for (size_t i = 0; i < spaces[k].buffers.size(); ++i) {
        floor[spaces[k].buffers[i]] = picture.floors.empty() ? 0 : picture.floors[k].offset;
        sharing[spaces[k].buffers[i]] = spaces[k].places[i];
      }
  }
  int64_t unit = 0;
  bool isFirst = true;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const arena::Buffer &buffer = problem.buffers[i];
    unit = std::gcd(unit, buffer.alignmentBytes);
    if (!buffer.isPersistent()) {
      picture.timeBegin = isFirst ? buffer.lower : std::min(picture.timeBegin, buffer.lower);
      picture.timeEnd = isFirst ? buffer.upper : std::max(picture.timeEnd, buffer.upper);
      isFirst = false;
    }
    plot::Rectangle rectangle;
    rectangle.offset = floor[i] + plan.offsets[i];
    rectangle.sharing = sharing[i];
    rectangle.bytes = buffer.sizeBytes;
    rectangle.kind = kindOf(buffer, plan.heightBytes);
    rectangle.name = problem.idText(buffer.id) + (buffer.name.empty() ? "" : " " + *buffer.name);
    rectangle.lower = buffer.lower;
    std::vector<arena::Interval> gaps = buffer.gaps;
    std::sort(gaps.begin(), gaps.end(),
              [](const arena::Interval &a, const arena::Interval &b) { return a.lower < b.lower; });
    for (const arena::Interval &gap : gaps) {
      rectangle.upper = gap.lower;
      if (rectangle.lower < rectangle.upper)
        picture.rectangles.push_back(rectangle);
      rectangle.lower = std::max(rectangle.lower, gap.upper);
    }
    rectangle.upper = buffer.upper;
    if (rectangle.lower < rectangle.upper)
      picture.rectangles.push_back(rectangle);
  }
  picture.liveUnitBytes = std::max<int64_t>(unit, 1);
  return picture;
}

} // namespace zero::planning
