//===- ArenaWindow.cpp - the peak's surroundings first -------------------===//
#include "ArenaWindow.h"

#include "ArenaExact.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace zero::planning::arena {
namespace {

/// What sections of a window may lack of the peak's load, in thousandths. The first window is the
/// peak alone, or what is exactly as full.
constexpr int64_t kLacks[] = {0, 2, 5, 10, 20, 30, 50, 100};

/// For the packing of one window: of the work that is left, and in steps.
constexpr int64_t kPackingShare = 4;
constexpr int64_t kPackingSteps = 20'000'000;

int64_t roundUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace

WindowSearch::WindowSearch(const Problem &problem, const Timeline &timeline, Portfolio &portfolio,
                           const Incumbent &packing)
    : problem(problem), timeline(timeline), portfolio(portfolio) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    if (buffer.fixedOffset || timeline.stretches(int64_t(i)).size() != 1)
      return;
    if (buffer.isPersistent())
      pinnedTop = std::max(pinnedTop, packing.offsets[i] + timeline.items[i].size);
  }
  peak = std::max_element(timeline.load.begin(), timeline.load.end()) - timeline.load.begin();
  usable = timeline.sections > 0;
}

WindowSearch::Window WindowSearch::makeWindow(int64_t leastLoad) const {
  Window window;
  int64_t first = peak, last = peak + 1;
  while (first > 0 && timeline.load[first - 1] >= leastLoad)
    --first;
  while (last < timeline.sections && timeline.load[last] >= leastLoad)
    ++last;
  window.sections = {int32_t(first), int32_t(last)};
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Stretch &life = timeline.stretches(int64_t(i)).front();
    if (problem.buffers[i].isPersistent() || life.last <= first || life.first >= last)
      continue;
    (life.first <= first && life.last >= last ? window.through : window.inside)
        .push_back(int32_t(i));
  }
  return window;
}

std::vector<Placed> WindowSearch::pack(const Window &window, int64_t floor, int64_t limit,
                                       int64_t work, const std::function<bool()> &stop) {
  Problem inside;
  for (int32_t i : window.inside) {
    const Stretch &life = timeline.stretches(i).front();
    Buffer buffer;
    buffer.id = i;
    buffer.lower = std::max(life.first, window.sections.first);
    buffer.upper = std::min(life.last, window.sections.last);
    buffer.sizeBytes = timeline.items[i].size;
    buffer.alignmentBytes = problem.buffers[i].alignmentBytes;
    inside.buffers.push_back(buffer);
  }
  Timeline sections(inside);
  int64_t room = limit - floor;
  if (sections.peakLoad > room)
    return {};
  Incumbent best;
  Portfolio orders(inside, sections, /*threads=*/1);
  orders.runFirst(best, room, work, stop);
  portfolio.addSteps(orders.steps());
  if (best.height > room) {
    ExactDescent exact(inside, sections, best);
    if (exact.applies())
      exact.reach(room, sections.peakLoad, best, work, stop);
    portfolio.addSteps(exact.steps());
  }
  std::vector<Placed> result;
  if (best.height <= room)
    for (size_t k = 0; k < window.inside.size(); ++k)
      result.push_back({window.inside[k], floor + best.offsets[k]});
  return result;
}

void WindowSearch::run(Incumbent &best, int64_t goal, int64_t work,
                       const std::function<bool()> &stop) {
  auto life = [&](int32_t i) { return timeline.stretches(i).front(); };
  using IsLower = std::function<bool(int32_t, int32_t)>;
  // How what is alive all through lies: by length, by its end or by its begin. What ends last, or
  // began first, lies lowest, so that room comes free, or is taken, from the top on.
  const IsLower arrangements[] = {
      [&](int32_t a, int32_t b) { return timeline.items[a].length > timeline.items[b].length; },
      [&](int32_t a, int32_t b) { return life(a).last > life(b).last; },
      [&](int32_t a, int32_t b) { return life(a).first < life(b).first; },
  };
  auto isOver = [&] { return best.height <= goal || portfolio.steps() > work || stop(); };
  Stretch before;
  for (int64_t lack : kLacks) {
    if (isOver())
      return;
    int64_t leastLoad = int64_t(__int128(timeline.peakLoad) * (1000 - lack) / 1000);
    Window window = makeWindow(leastLoad);
    if (window.sections.first == before.first && window.sections.last == before.last)
      continue;
    before = window.sections;

    int64_t floor = pinnedTop;
    int64_t widest = 1;              // alignment
    for (int32_t i : window.through) // the sum of what each may take, in any arrangement
      floor = roundUp(floor, problem.buffers[i].alignmentBytes) + timeline.items[i].size;
    for (int32_t i : window.inside)
      widest = std::max(widest, problem.buffers[i].alignmentBytes);
    floor = roundUp(floor, widest);
    int64_t share = std::min((work - portfolio.steps()) / kPackingShare, kPackingSteps);
    std::vector<Placed> inside = pack(window, floor, goal, share, stop);
    if (inside.size() < window.inside.size())
      continue;
    for (const IsLower &isLower : arrangements) {
      if (isOver())
        return;
      std::stable_sort(window.through.begin(), window.through.end(), isLower);
      std::vector<Placed> core;
      int64_t top = pinnedTop;
      for (int32_t i : window.through) {
        top = roundUp(top, problem.buffers[i].alignmentBytes);
        core.push_back({i, top});
        top += timeline.items[i].size;
      }
      if (top > floor)
        continue;
      core.insert(core.end(), inside.begin(), inside.end());
      if (portfolio.runAround(core, goal, best))
        return;
    }
  }
}

} // namespace zero::planning::arena
