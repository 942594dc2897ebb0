//===- ArenaPortfolio.cpp - packing by orders ----------------------------===//
//
// Buffers are placed one after another into the hole tree; only their order and
// the choice of hole matter. Every order but the first is given up as soon as a
// buffer would reach the best height so far, so failing is cheap.
//
// The strongest orders are peak first: where the arena is fullest there is no
// room to err, so the buffers alive there are packed while everything is free,
// longest first, and the others flow around them by classes of size. Where such
// an order misses, a variant with other ties or jittered keys often does not. A
// repair takes an order that failed and moves the buffer that found no room
// nearer to the front.
//
//===----------------------------------------------------------------------===//
#include "ArenaPortfolio.h"

#include "KeySort.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <thread>
#include <tuple>

namespace zero::planning::arena {
namespace {

using Fit = HoleTree::Fit;

constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();

/// Best fit by size looks at all holes for this many steps, and after that at those
/// within kNearTop times the buffer's size below the top: where thousands are
/// alive at once, all holes take minutes. As larger buffers come first, only so
/// many of them can lie in that window.
constexpr int64_t kFullSteps = 120'000'000;
constexpr int64_t kNearTop = 64;

/// Trees are a part in so many higher than the bound: what the first order needs beyond that takes
/// wider words.
constexpr int64_t kHeadroom = 8;

/// The tree of so many sections stays in the cache, and all tables are small. Of larger ones the
/// nodes, and lists, of buffers further on in the order are brought into it in advance.
constexpr int64_t kCachedSections = 16384;
constexpr size_t kNodesAhead = 8, kListsAhead = 4;

} // namespace

Portfolio::Key Portfolio::keyOf(int32_t i, const Recipe &recipe) const {
  return recipe.peakFirst && timeline.items[i].atPeak ? recipe.inPeak : recipe.rest;
}

int64_t Portfolio::firstKey(int32_t i, Key key) {
  const Timeline::Item &item = timeline.items[i];
  switch (key) {
  case Key::Length:
  case Key::LengthSize:
    return item.length;
  case Key::Size:
    return item.size;
  case Key::SizeClass: // keeps small long-lived buffers from being scattered
    return std::bit_width(uint64_t(item.size));
  case Key::Area:
    return int64_t(std::min<__int128>(__int128(item.size) * item.length,
                                      std::numeric_limits<int64_t>::max() / 4));
  case Key::Load:
    if (peakLoads.empty())
      peakLoads = timeline.peakLoads();
    return peakLoads[i];
  case Key::Lower:
    break;
  }
  return 0;
}

int64_t Portfolio::secondKey(int32_t i, Key key) const {
  const Timeline::Item &item = timeline.items[i];
  switch (key) {
  case Key::LengthSize:
    return item.size;
  case Key::SizeClass:
  case Key::Load:
    return item.length;
  default:
    return 0;
  }
}

Portfolio::Portfolio(const Problem &problem, const Timeline &timeline, int64_t threads)
    : problem(problem), timeline(timeline) {
  // Offsets are sums of sizes rounded up to alignments, from 0 or a fixed offset.
  unit = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    unit = std::gcd(std::gcd(unit, timeline.items[i].size), buffer.fixedOffset.value_or(0));
    if (buffer.alignmentBytes != timeline.unit)
      oneAlignment = false;
  }
  unit = placingUnit(problem, std::max<int64_t>(unit, 1));
  trees.resize(std::max<int64_t>(threads, 1));
  int64_t peak = timeline.peakLoad / unit;
  makeTrees(peak + peak / kHeadroom);
  Order persistent;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    (buffer.fixedOffset ? pinned : buffer.isPersistent() ? persistent : transient).push_back(i);
  }
  pinned.insert(pinned.end(), persistent.begin(), persistent.end());
  auto isEarlier = [&](int32_t a, int32_t b) {
    const Buffer &left = problem.buffers[a], &right = problem.buffers[b];
    return left.lower != right.lower ? left.lower < right.lower : left.id < right.id;
  };
  if (!std::is_sorted(transient.begin(), transient.end(), isEarlier))
    std::sort(transient.begin(), transient.end(), isEarlier);
}

Portfolio::~Portfolio() = default;

void Portfolio::makeTrees(int64_t top) {
  for (std::unique_ptr<HoleTree> &tree : trees)
    tree = makeHoleTree(timeline.sections, timeline.stretchList, top);
}

/// Places in `transient`, by the begin of life, its end, and the place; or mirrored.
const Portfolio::Order &Portfolio::tiesOf(bool mirrored) {
  Order &ties = tieOrders[mirrored];
  if (ties.size() == transient.size())
    return ties;
  std::vector<Keyed<uint32_t>> entries(transient.size()), spare;
  for (uint32_t place = 0; place < entries.size(); ++place)
    entries[place].value = place;
  for (bool byBegin : {mirrored, !mirrored}) { // the last one counts most
    for (Keyed<uint32_t> &entry : entries) {
      std::span<const Stretch> stretches = timeline.stretches(transient[entry.value]);
      uint32_t section = uint32_t(byBegin ? stretches.front().first : stretches.back().last);
      entry.key = mirrored ? ~section : section;
    }
    sortByKey(entries, spare);
  }
  ties.reserve(entries.size());
  for (const Keyed<uint32_t> &entry : entries)
    ties.push_back(int32_t(entry.value));
  return ties;
}

Portfolio::Order Portfolio::makeOrder(const Recipe &recipe) {
  struct Jitter {
    uint16_t first, second; // added to 1024
  };
  std::vector<Jitter> jitter;
  if (recipe.jitter)
    for (size_t place = 0; place < transient.size(); ++place) {
      uint16_t first = random() % uint64_t(recipe.jitter);
      jitter.push_back({first, uint16_t(random() % uint64_t(recipe.jitter))});
    }
  auto scaled = [](int64_t key, int64_t added) {
    return int64_t(__int128(key) * (1024 + added) / 1024);
  };
  auto firstOf = [&](int32_t place) {
    int64_t key = firstKey(transient[place], keyOf(transient[place], recipe));
    return jitter.empty() ? key : scaled(key, jitter[place].first);
  };
  auto secondOf = [&](int32_t place) {
    int64_t key = secondKey(transient[place], keyOf(transient[place], recipe));
    return jitter.empty() ? key : scaled(key, jitter[place].second);
  };
  int64_t largest = 0;
  for (int32_t place = 0; place < int32_t(transient.size()); ++place)
    largest = std::max({largest, firstOf(place), secondOf(place)});

  // By the second key, then by the first: largest ones first, and ties stay as they are.
  auto sorted = [&]<typename Key>(Key) {
    std::vector<Keyed<Key>> entries, spare;
    entries.reserve(transient.size());
    for (int32_t place : tiesOf(recipe.mirrored))
      entries.push_back({Key(~Key(secondOf(place))), uint32_t(place)});
    if (timeline.sections > kCachedSections) // soon made again, and beside the tree in the way
      tieOrders[recipe.mirrored] = {};
    sortByKey(entries, spare);
    for (Keyed<Key> &entry : entries)
      entry.key = ~Key(firstOf(int32_t(entry.value)));
    sortByKey(entries, spare);
    spare = {};
    Order order;
    order.reserve(entries.size());
    for (bool early : {true, false})
      for (const Keyed<Key> &entry : entries)
        if (int32_t i = transient[entry.value];
            early == (recipe.peakFirst && timeline.items[i].atPeak))
          order.push_back(i);
    return order;
  };
  return largest <= std::numeric_limits<uint32_t>::max() ? sorted(uint32_t()) : sorted(uint64_t());
}

/// Places all buffers below `limit`: the pinned ones, `core`, then `order`.
void Portfolio::attempt(HoleTree &tree, std::span<const Placed> core, const Order &order, Fit fit,
                        int64_t limit, Attempt &result) const {
  int64_t before = tree.steps();
  result.offsets.resize(problem.buffers.size());
  result.placed = 0;
  result.height = 0;
  int64_t top = std::min(limit / unit, tree.top());
  auto place = [&](int32_t i, std::optional<int64_t> offset, Fit how) {
    int64_t size = timeline.items[i].size / unit;
    std::span<const Stretch> stretches = timeline.stretches(i);
    int64_t depth = HoleTree::kAllHoles;
    if (tree.steps() - before > kFullSteps && size < HoleTree::kAllHoles / kNearTop)
      depth = kNearTop * size;
    if (!offset) {
      int64_t alignment = oneAlignment ? timeline.unit : problem.buffers[i].alignmentBytes;
      offset = tree.find(stretches, size, std::max<int64_t>(alignment / unit, 1), top, how, depth);
    }
    if (!offset || *offset > top - size)
      return false;
    result.offsets[i] = *offset * unit;
    result.height = std::max(result.height, (*offset + size) * unit);
    tree.take(stretches, *offset, *offset + size);
    return true;
  };
  bool fits = true;
  for (size_t i = 0; i < pinned.size() && fits; ++i) {
    std::optional<int64_t> offset = problem.buffers[pinned[i]].fixedOffset;
    fits = place(pinned[i], offset ? std::optional(*offset / unit) : std::nullopt, Fit::Lowest);
  }
  for (size_t i = 0; i < core.size() && fits; ++i)
    fits = place(core[i].buffer, core[i].offset / unit, Fit::Lowest);
  bool isLarge = timeline.sections > kCachedSections;
  for (size_t i = 0; i < order.size() && fits; ++i) {
    if (isLarge && i + kNodesAhead < order.size()) {
      tree.prefetchNodes(timeline.stretches(order[i + kNodesAhead]).front());
      tree.prefetchLists(timeline.stretches(order[i + kListsAhead]).front());
    }
    fits = place(order[i], std::nullopt, fit);
    result.placed += fits;
  }
  if (!fits)
    result.height = kNoHeight;
  result.steps = tree.steps() - before;
  tree.clear(); // before the next order needs room for its keys
}

size_t Portfolio::runAll(std::span<const Recipe> recipes, Incumbent &best, int64_t goal,
                         int64_t work, const std::function<bool()> &stop) {
  // Members run together under the limit that holds when they start. They are judged in their
  // order, and one whose limit has changed meanwhile runs again: the packing, and the steps
  // counted, are those of one thread.
  struct Member {
    Order order;
    Attempt attempt;
  };
  std::vector<Member> members(trees.size());
  auto isOver = [&] {
    return !best.offsets.empty() && (best.height <= goal || stepCount > work || stop());
  };
  size_t next = 0;
  while (next < recipes.size() && !isOver()) {
    size_t together = best.offsets.empty() ? 1 : std::min(trees.size(), recipes.size() - next);
    int64_t limit = best.height - 1;
    for (size_t k = 0; k < together; ++k)
      members[k].order = makeOrder(recipes[next + k]);
    std::vector<std::thread> helpers;
    for (size_t k = 1; k < together; ++k)
      helpers.emplace_back([&, k] {
        attempt(*trees[k], {}, members[k].order, recipes[next + k].fit, limit, members[k].attempt);
      });
    attempt(*trees[0], {}, members[0].order, recipes[next].fit, limit, members[0].attempt);
    if (best.offsets.empty() && members[0].attempt.height == kNoHeight &&
        trees.front()->top() < HoleTree::kAllHoles) {
      // Much higher than the bound: there is always a first packing.
      makeTrees(trees.front()->top() + 1);
      continue;
    }
    for (std::thread &helper : helpers)
      helper.join();
    for (size_t k = 0; k < together; ++k, ++next) {
      if (k > 0 && isOver())
        return next;
      Member &member = members[k];
      if (best.height - 1 != limit)
        attempt(*trees[0], {}, member.order, recipes[next].fit, best.height - 1, member.attempt);
      stepCount += member.attempt.steps;
      if (member.attempt.height >= best.height)
        continue;
      best.height = member.attempt.height;
      best.offsets.swap(member.attempt.offsets);
      bestRecipe = recipes[next];
      bestOrder.clear();
      if (bestRecipe.jitter) // what is by chance is not made twice
        bestOrder.swap(member.order);
    }
  }
  return next;
}

std::vector<Portfolio::Recipe> Portfolio::furtherRecipes(bool mirrored) {
  std::vector<Recipe> recipes;
  for (Key inPeak : {Key::LengthSize, Key::Size, Key::Area})
    for (Key rest : {Key::SizeClass, Key::Size, Key::Area})
      recipes.push_back({true, inPeak, rest, mirrored, Fit::Lowest});
  recipes.push_back({false, Key::Load, Key::Load, mirrored, Fit::Lowest});
  recipes.push_back({false, Key::Load, Key::Load, !mirrored, Fit::Smallest});
  for (Key rest : {Key::Size, Key::SizeClass, Key::Area, Key::LengthSize, Key::Lower})
    for (Fit fit : {Fit::Lowest, Fit::Smallest})
      if (rest != Key::Size || fit != Fit::Smallest)
        recipes.push_back({false, rest, rest, mirrored, fit});
  return recipes;
}

std::optional<int32_t> Portfolio::runAround(std::span<const Placed> core, bool bySize,
                                            int64_t limit, Incumbent &best) {
  Order &rest = restOrders[bySize];
  if (rest.empty()) {
    Key key = bySize ? Key::Size : Key::SizeClass;
    rest = makeOrder({false, key, key, false, Fit::Lowest});
  }
  std::vector<bool> isPlaced(problem.buffers.size());
  for (const Placed &placed : core)
    isPlaced[placed.buffer] = true;
  Order order;
  order.reserve(rest.size());
  std::copy_if(rest.begin(), rest.end(), std::back_inserter(order),
               [&](int32_t i) { return !isPlaced[i]; });
  attempt(*trees[0], core, order, Fit::Lowest, limit, scratch);
  stepCount += scratch.steps;
  if (scratch.height > limit)
    return order[scratch.placed];
  best.height = scratch.height;
  best.offsets.swap(scratch.offsets);
  return std::nullopt;
}

void Portfolio::runFirst(Incumbent &best, int64_t goal, int64_t work,
                         const std::function<bool()> &stop) {
  std::vector<Recipe> first;
  for (Key rest : {Key::SizeClass, Key::Size})
    for (bool mirrored : {false, true})
      first.push_back({true, Key::Length, rest, mirrored, Fit::Lowest});
  const Recipe bestFit = {false, Key::Size, Key::Size, false, Fit::Smallest};
  first.insert(first.begin() + 1, bestFit);

  // The promise to stay below best fit by size holds however little work is granted.
  runAll({&first[0], 1}, best, goal, work, stop);
  if (best.height > goal)
    runAll({&bestFit, 1}, best, goal, std::numeric_limits<int64_t>::max(), [] { return false; });
  first.erase(first.begin(), first.begin() + 2);
  runAll(first, best, goal, work, stop);
}

void Portfolio::runFurther(Incumbent &best, int64_t goal, int64_t work,
                           const std::function<bool()> &stop) {
  runRest(/*mirrored=*/false, best, goal, work, stop);
}

void Portfolio::runRest(bool mirrored, Incumbent &best, int64_t goal, int64_t work,
                        const std::function<bool()> &stop) {
  const std::vector<Recipe> recipes = furtherRecipes(mirrored);
  size_t &run = furtherRun[mirrored];
  run += runAll(std::span(recipes).subspan(run), best, goal, work, stop);
}

void Portfolio::improve(Incumbent &best, int64_t goal, int64_t work, int64_t iterations,
                        const std::function<bool()> &stop) {
  auto done = [&] { return best.height <= goal || stepCount > work || stop(); };
  runRest(/*mirrored=*/true, best, goal, work, stop);
  if (done())
    return;
  if (bestOrder.empty()) // the best one comes from no jittered order
    repaired = bestOrder = makeOrder(bestRecipe);
  Order &order = repaired;
  for (; iteration < iterations && !done(); ++iteration) {
    const int64_t i = iteration;
    if (i % 8 == 0) {
      int64_t jitter = int64_t(4) << (i / 8 % 4 * 2);
      std::vector<Recipe> recipes;
      for (Key rest : {Key::SizeClass, Key::Size})
        recipes.push_back({true, Key::Length, rest, i / 8 % 2 != 0, Fit::Lowest, jitter});
      recipes.push_back(bestRecipe);
      recipes.back().jitter = jitter;
      int64_t before = best.height;
      runAll(recipes, best, goal, work, stop);
      if (best.height < before) {
        order = bestOrder;
        sinceBest = 0;
      }
      continue;
    }
    attempt(*trees[0], {}, order, bestRecipe.fit, best.height - 1, scratch);
    stepCount += scratch.steps;
    if (scratch.placed == int64_t(order.size()) && scratch.height < best.height) {
      best.height = scratch.height;
      best.offsets = scratch.offsets;
      bestOrder = order;
      sinceBest = 0;
      continue;
    }
    // The pinned buffers or one buffer alone are as high as the best plan.
    int64_t failed = scratch.placed;
    if (failed == 0)
      return;
    // A long series without success has lost its way: back to the best order.
    if (++sinceBest % 64 == 0)
      order = bestOrder;
    int64_t target = int64_t(random() % uint64_t(failed));
    std::rotate(order.begin() + target, order.begin() + failed, order.begin() + failed + 1);
  }
}

} // namespace zero::planning::arena
