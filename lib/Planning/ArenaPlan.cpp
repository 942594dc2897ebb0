//===- ArenaPlan.cpp - the portfolio of orders, and repairs --------------===//
//
// Buffers are placed one after another into the hole tree; only their order and
// the choice of hole matter. Best fit by size comes first and is the plan that
// always exists. Every later order is given up as soon as a buffer would reach
// the best height so far, so failing is cheap.
//
// The strongest orders are peak first: where the arena is fullest there is no
// room to err, so the buffers alive there are packed while everything is free,
// and the others flow around them. A repair takes an order that failed and moves
// the buffer that found no room nearer to the front.
//
//===----------------------------------------------------------------------===//
#include "HoleTree.h"
#include "zero/Planning/Arena.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <initializer_list>
#include <numeric>

namespace zero::planning::arena {
namespace {

using Fit = HoleTree::Fit;
using Order = std::vector<int64_t>;

/// The first order looks at all holes for this many steps, and after that at those
/// within kNearTop times the buffer's size below the top: where thousands are
/// alive at once, all holes take minutes. As larger buffers come first, only so
/// many of them can lie in that window.
constexpr int64_t kFullSteps = 120'000'000;
constexpr int64_t kNearTop = 64;

/// A buffer as the planner sees it: time in sections, size in whole units.
struct Item {
  std::vector<Stretch> stretches;
  int64_t size = 0;
  int64_t length = 0;   // sections alive
  int64_t peakLoad = 0; // bytes alive at the fullest section of its life
  bool atPeak = false;  // alive at the fullest section of all
};

class Planner {
public:
  Planner(const Problem &problem, const Options &options)
      : problem(problem), options(options), items(problem.buffers.size()),
        bound(lowerBound(problem)), tree(compressTime()) {
    measure();
    splitOrders();
    // Within a capacity any plan will do; without one only the bound is enough.
    goal = problem.capacityBytes ? std::max(bound, *problem.capacityBytes) : bound;
  }

  Plan run();

private:
  int64_t compressTime();
  void measure();
  void splitOrders();
  bool done() const { return bestHeight <= goal || tree.steps() > options.work; }
  int64_t attempt(const Order &order, Fit fit, int64_t limit);
  void improve(const Order &order, Fit fit);
  template <typename Compare> Order sorted(const Compare &before) const;
  void portfolio();
  void repair();

  const Problem &problem;
  const Options &options;
  std::vector<Item> items;
  int64_t bound, goal = 0;
  int64_t sectionCount = 0;
  HoleTree tree;
  Order pinned;    // fixed, then persistent ones: placed before all others
  Order transient; // by lower, then by id
  std::vector<int64_t> offsets, bestOffsets;
  int64_t bestHeight = kMaxTotalBytes + 1;
  Order bestOrder;
  Fit bestFit = Fit::Smallest;
};

/// Replaces times by sections: a new one begins only where a lifetime begins
/// after another ended, so that sections are the maximal sets alive together.
int64_t Planner::compressTime() {
  struct Event {
    int64_t time;
    bool begins;
    int64_t buffer;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    std::vector<Interval> gaps = buffer.gaps;
    std::sort(gaps.begin(), gaps.end(),
              [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
    gaps.push_back({buffer.upper, buffer.upper});
    int64_t from = buffer.lower;
    for (const Interval &gap : gaps) {
      if (gap.lower > from) {
        events.push_back({from, true, int64_t(i)});
        events.push_back({gap.lower, false, int64_t(i)});
      }
      from = gap.upper;
    }
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    if (a.time != b.time)
      return a.time < b.time;
    return a.begins != b.begins ? b.begins : a.buffer < b.buffer;
  });
  bool grown = false;
  for (const Event &event : events) {
    std::vector<Stretch> &stretches = items[event.buffer].stretches;
    if (event.begins) {
      stretches.push_back({sectionCount, sectionCount});
      grown = true;
      continue;
    }
    sectionCount += grown;
    grown = false;
    stretches.back().last = sectionCount;
  }
  return sectionCount;
}

void Planner::measure() {
  int64_t unit = 0;
  for (const Buffer &buffer : problem.buffers)
    unit = std::gcd(unit, buffer.alignmentBytes);
  std::vector<int64_t> load(sectionCount + 1, 0);
  for (size_t i = 0; i < items.size(); ++i) {
    Item &item = items[i];
    item.size = (problem.buffers[i].sizeBytes + unit - 1) / unit * unit;
    for (const Stretch &stretch : item.stretches) {
      item.length += stretch.last - stretch.first;
      load[stretch.first] += item.size;
      load[stretch.last] -= item.size;
    }
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  load.resize(sectionCount);

  // Row k holds the maxima over 2^k sections, so any stretch is two look-ups.
  std::vector<std::vector<int64_t>> maxima = {load};
  for (int64_t width = 1; 2 * width <= sectionCount; width *= 2) {
    const std::vector<int64_t> &row = maxima.back();
    std::vector<int64_t> next(row.size() - width);
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = std::max(row[i], row[i + width]);
    maxima.push_back(std::move(next));
  }
  int64_t peak = std::max_element(load.begin(), load.end()) - load.begin();
  for (Item &item : items)
    for (const Stretch &stretch : item.stretches) {
      int64_t row = std::bit_width(uint64_t(stretch.last - stretch.first)) - 1;
      item.peakLoad = std::max({item.peakLoad, maxima[row][stretch.first],
                                maxima[row][stretch.last - (int64_t(1) << row)]});
      item.atPeak |= stretch.first <= peak && peak < stretch.last;
    }
}

void Planner::splitOrders() {
  Order persistent;
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    (buffer.fixedOffset ? pinned : buffer.isPersistent() ? persistent : transient).push_back(i);
  }
  pinned.insert(pinned.end(), persistent.begin(), persistent.end());
  std::sort(transient.begin(), transient.end(), [&](int64_t a, int64_t b) {
    const Buffer &left = problem.buffers[a], &right = problem.buffers[b];
    return left.lower != right.lower ? left.lower < right.lower : left.id < right.id;
  });
}

/// Places all buffers, `order` after the pinned ones. Returns the position in
/// `order` at which a buffer would have gone above `limit`, or its length.
int64_t Planner::attempt(const Order &order, Fit fit, int64_t limit) {
  tree.clear();
  auto place = [&](int64_t i, Fit how) {
    const Buffer &buffer = problem.buffers[i];
    const Item &item = items[i];
    std::optional<int64_t> offset = buffer.fixedOffset;
    int64_t depth = HoleTree::kAllHoles;
    if (tree.steps() > kFullSteps && item.size < HoleTree::kAllHoles / kNearTop)
      depth = kNearTop * item.size;
    if (!offset)
      offset = tree.find(item.stretches, item.size, buffer.alignmentBytes, limit, how, depth);
    if (!offset)
      return false;
    offsets[i] = *offset;
    tree.take(item.stretches, *offset, *offset + item.size);
    return true;
  };
  for (int64_t i : pinned)
    if (!place(i, Fit::Lowest))
      return 0;
  for (size_t position = 0; position < order.size(); ++position)
    if (!place(order[position], fit))
      return position;
  return order.size();
}

/// Keeps the packing of a whole attempt.
void Planner::improve(const Order &order, Fit fit) {
  bestHeight = 0;
  for (size_t i = 0; i < items.size(); ++i)
    bestHeight = std::max(bestHeight, offsets[i] + items[i].size);
  bestOffsets = offsets;
  bestOrder = order;
  bestFit = fit;
}

template <typename Compare> Order Planner::sorted(const Compare &before) const {
  Order order = transient;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return before(items[a], items[b]); });
  return order;
}

void Planner::portfolio() {
  using Compare = bool (*)(const Item &, const Item &);
  auto bySize = [](const Item &a, const Item &b) { return a.size > b.size; };
  auto byLength = [](const Item &a, const Item &b) {
    return a.length != b.length ? a.length > b.length : a.size > b.size;
  };
  auto byArea = [](const Item &a, const Item &b) {
    return double(a.size) * a.length > double(b.size) * b.length;
  };
  auto byLower = [](const Item &, const Item &) { return false; };
  // The classes of size keep small long-lived buffers from being scattered.
  auto bySizeClass = [](const Item &a, const Item &b) {
    auto left = std::bit_width(uint64_t(a.size)), right = std::bit_width(uint64_t(b.size));
    if (left != right)
      return left > right;
    return a.length != b.length ? a.length > b.length : a.size > b.size;
  };

  Order order = sorted(bySize);
  attempt(order, Fit::Smallest, kMaxTotalBytes);
  improve(order, Fit::Smallest);

  auto consider = [&](const auto &before, std::initializer_list<Fit> fits) {
    if (done())
      return;
    order = sorted(before);
    for (Fit fit : fits)
      if (!done() && attempt(order, fit, bestHeight - 1) == int64_t(order.size()))
        improve(order, fit);
  };
  for (Compare inPeak : {Compare(byLength), Compare(bySize), Compare(byArea)})
    for (Compare outside : {Compare(bySizeClass), Compare(bySize), Compare(byArea)}) {
      auto peakFirst = [=](const Item &a, const Item &b) {
        if (a.atPeak != b.atPeak)
          return a.atPeak;
        return a.atPeak ? inPeak(a, b) : outside(a, b);
      };
      consider(peakFirst, {Fit::Lowest});
    }
  for (Compare within : {Compare(byLength), Compare(bySize), Compare(byArea)}) {
    auto fullestFirst = [=](const Item &a, const Item &b) {
      return a.peakLoad != b.peakLoad ? a.peakLoad > b.peakLoad : within(a, b);
    };
    consider(fullestFirst, {Fit::Lowest, Fit::Smallest});
  }
  for (Compare whole : {Compare(bySize), Compare(bySizeClass), Compare(byArea), Compare(byLength),
                        Compare(byLower)})
    consider(whole, {Fit::Lowest, Fit::Smallest});
}

void Planner::repair() {
  Order order = bestOrder;
  uint64_t state = 0x9E3779B97F4A7C15;
  for (int64_t i = 0, sinceBest = 0; i < options.iterations && !done(); ++i, ++sinceBest) {
    int64_t failed = attempt(order, bestFit, bestHeight - 1);
    if (failed == int64_t(order.size())) {
      improve(order, bestFit);
      sinceBest = 0;
      continue;
    }
    // The pinned buffers or one buffer alone are as high as the best plan.
    if (failed == 0)
      return;
    // A long series without success has lost its way: back to the best order.
    if (sinceBest > 0 && sinceBest % 64 == 0)
      order = bestOrder;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    int64_t target = int64_t(state % uint64_t(failed));
    std::rotate(order.begin() + target, order.begin() + failed, order.begin() + failed + 1);
  }
}

Plan Planner::run() {
  offsets.assign(items.size(), 0);
  portfolio();
  repair();
  Plan plan;
  plan.offsets = bestOffsets;
  plan.heightBytes = bestHeight;
  plan.lowerBoundBytes = bound;
  if (problem.capacityBytes && bestHeight > *problem.capacityBytes)
    plan.status = bound > *problem.capacityBytes ? Status::Infeasible : Status::Unknown;
  else
    plan.status = bestHeight == bound ? Status::Optimal : Status::Feasible;
  return plan;
}

} // namespace

Plan plan(const Problem &problem, const Options &options) {
  assert(!check(problem) && "plan needs a problem that check accepts");
  return Planner(problem, options).run();
}

} // namespace zero::planning::arena
