//===- ArenaWindow.cpp - the fullest sections first ----------------------===//
#include "ArenaWindow.h"

#include "ArenaExact.h"

#include <algorithm>

namespace zero::planning::arena {
namespace {

/// What sections of a window may lack of the fullest one's load, in thousandths. The first window
/// is that section alone, or what is exactly as full.
constexpr int64_t kLacks[] = {0, 2, 5, 10, 20, 30, 50, 100, 150, 200};

constexpr size_t kMaxWindows = 16; // of one packing

/// For the packing of one window: of the work that is left, and in steps.
constexpr int64_t kPackingShare = 4;
constexpr int64_t kFirstSteps = 20'000'000, kFurtherSteps = 1'000'000;

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
    oneAlignment &= buffer.alignmentBytes == timeline.unit;
    if (buffer.isPersistent())
      pinnedTop = std::max(pinnedTop, packing.offsets[i] + timeline.items[i].size);
  }
  usable = timeline.sections > 0;
}

int64_t WindowSearch::fullest(const Stretch &life) const {
  auto begin = timeline.load.begin();
  return std::max_element(begin + life.first, begin + life.last) - begin;
}

WindowSearch::Window WindowSearch::makeWindow(int64_t section, int64_t lack) const {
  Window window;
  int64_t leastLoad = int64_t(__int128(timeline.load[section]) * (1000 - lack) / 1000);
  int64_t first = section, last = section + 1;
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

/// What ends last, or began first, lies lowest, so that room comes free, or is taken, from the top
/// on.
void WindowSearch::arrange(std::vector<int32_t> &buffers, Arrangement arrangement) const {
  auto life = [&](int32_t i) { return timeline.stretches(i).front(); };
  std::stable_sort(buffers.begin(), buffers.end(), [&](int32_t a, int32_t b) {
    switch (arrangement) {
    case Arrangement::Length:
      return timeline.items[a].length > timeline.items[b].length;
    case Arrangement::End:
      return life(a).last > life(b).last;
    case Arrangement::Begin:
      break;
    }
    return life(a).first < life(b).first;
  });
}

/// Where the buffers that begin or end in a window lie above `floor`, and around what is `before`
/// them; nothing where no packing was found.
std::optional<std::vector<Placed>> WindowSearch::pack(std::span<const int32_t> buffers,
                                                      std::span<const Placed> before,
                                                      const Stretch &sections, int64_t floor,
                                                      int64_t limit, int64_t work,
                                                      const std::function<bool()> &stop) {
  Problem inside;
  auto add = [&](int32_t i, std::optional<int64_t> offset) {
    const Stretch &life = timeline.stretches(i).front();
    Buffer buffer;
    buffer.id = i;
    buffer.lower = std::max(life.first, sections.first);
    buffer.upper = std::min(life.last, sections.last);
    buffer.sizeBytes = timeline.items[i].size;
    buffer.alignmentBytes = problem.buffers[i].alignmentBytes;
    buffer.fixedOffset = offset;
    inside.buffers.push_back(buffer);
  };
  for (int32_t i : buffers)
    add(i, std::nullopt);
  for (const Placed &placed : before)
    add(placed.buffer, placed.offset - floor);
  isExhausted = false;
  Timeline line(inside);
  int64_t room = limit - floor;
  if (line.peakLoad > room)
    return std::nullopt;
  Incumbent best;
  Portfolio orders(inside, line, /*threads=*/1);
  orders.runFirst(best, room, work, stop);
  portfolio.addSteps(orders.steps());
  if (best.height > room) {
    ExactDescent exact(inside, line, best);
    isExhausted = exact.applies() && !exact.reach(room, line.peakLoad, best, work, stop);
    portfolio.addSteps(exact.steps());
  }
  if (best.height > room)
    return std::nullopt;
  std::vector<Placed> result;
  for (size_t k = 0; k < buffers.size(); ++k)
    result.push_back({buffers[k], floor + best.offsets[k]});
  return result;
}

/// Where what is alive all through the window lies, on the bottom.
std::vector<Placed> WindowSearch::sink(std::vector<int32_t> through,
                                       Arrangement arrangement) const {
  arrange(through, arrangement);
  std::vector<Placed> result;
  int64_t top = pinnedTop;
  for (int32_t i : through) {
    top = roundUp(top, problem.buffers[i].alignmentBytes);
    result.push_back({i, top});
    top += timeline.items[i].size;
  }
  return result;
}

bool WindowSearch::extend(std::vector<Placed> &core, const Window &window, int64_t limit,
                          int64_t work, const std::function<bool()> &stop) {
  std::vector<bool> isPlaced(problem.buffers.size());
  for (const Placed &placed : core)
    isPlaced[placed.buffer] = true;
  std::vector<int32_t> buffers;
  Stretch reach = window.sections;
  for (const std::vector<int32_t> &part : {window.through, window.inside})
    for (int32_t i : part) {
      if (isPlaced[i])
        continue;
      buffers.push_back(i);
      const Stretch &life = timeline.stretches(i).front();
      reach = {std::min(reach.first, life.first), std::max(reach.last, life.last)};
    }
  // What was placed may meet these outside of both windows.
  std::vector<Placed> before;
  for (const Placed &placed : core) {
    const Stretch &life = timeline.stretches(placed.buffer).front();
    if (life.first < reach.last && reach.first < life.last)
      before.push_back(placed);
  }
  std::optional<std::vector<Placed>> packed =
      pack(buffers, before, reach, pinnedTop, limit, work, stop);
  if (!packed)
    return false;
  core.insert(core.end(), packed->begin(), packed->end());
  return true;
}

bool WindowSearch::run(Incumbent &best, int64_t goal, int64_t work,
                       const std::function<bool()> &stop) {
  auto isOver = [&] { return best.height <= goal || portfolio.steps() > work || stop(); };
  auto share = [&](int64_t most) {
    return std::min((work - portfolio.steps()) / kPackingShare, most);
  };
  const int64_t peak = fullest({0, int32_t(timeline.sections)});
  Stretch narrower;
  for (int64_t lack : kLacks) {
    if (isOver())
      return true;
    Window window = makeWindow(peak, lack);
    if (window.sections.first == narrower.first && window.sections.last == narrower.last)
      continue;
    narrower = window.sections;
    int64_t floor = pinnedTop, widest = 1;
    for (const Placed &placed : sink(window.through, Arrangement::Length))
      floor = placed.offset + timeline.items[placed.buffer].size;
    for (int32_t i : window.inside)
      widest = std::max(widest, problem.buffers[i].alignmentBytes);
    floor = roundUp(floor, widest);
    std::optional<std::vector<Placed>> inside =
        pack(window.inside, {}, window.sections, floor, goal, share(kFirstSteps), stop);
    if (!inside && isExhausted && oneAlignment)
      return false;
    if (!inside)
      continue;
    for (Arrangement arrangement : {Arrangement::Length, Arrangement::End, Arrangement::Begin}) {
      std::vector<Placed> bottom = sink(window.through, arrangement);
      if (!bottom.empty() &&
          bottom.back().offset + timeline.items[bottom.back().buffer].size > floor)
        continue; // alignments cost more in this order
      for (bool bySize : {false, true}) {
        std::vector<Placed> core = bottom;
        core.insert(core.end(), inside->begin(), inside->end());
        std::vector<Stretch> windows = {window.sections};
        for (;;) {
          if (isOver())
            return true;
          std::optional<int32_t> failed = portfolio.runAround(core, bySize, goal, best);
          if (!failed)
            return true;
          int64_t section = fullest(timeline.stretches(*failed).front());
          auto covers = [&](const Stretch &other) {
            return other.first <= section && section < other.last;
          };
          if (windows.size() == kMaxWindows || std::any_of(windows.begin(), windows.end(), covers))
            break;
          Window next = makeWindow(section, lack);
          windows.push_back(next.sections);
          if (!extend(core, next, goal, share(kFurtherSteps), stop))
            break;
        }
      }
    }
  }
  return true;
}

} // namespace zero::planning::arena
