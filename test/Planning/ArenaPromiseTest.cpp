//===- ArenaPromiseTest.cpp - what holds for every arena plan ------------===//
//
// No plan is above what any order of the portfolio reaches by itself, best fit by size
// among them; and a plan that is broken in any one place is refused. Both are judged
// by comparing all pairs, on random problems with alignments, fixed offsets, persistent
// buffers and gaps.
//
//===----------------------------------------------------------------------===//
#include "ArenaTimeline.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace zero::planning::arena;

namespace {

/// The parts of its life in which the buffer holds its bytes.
std::vector<Interval> alive(const Buffer &buffer) {
  std::vector<Interval> gaps = buffer.gaps, parts;
  std::sort(gaps.begin(), gaps.end(),
            [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
  int64_t from = buffer.lower;
  for (const Interval &gap : gaps) {
    parts.push_back({from, gap.lower});
    from = gap.upper;
  }
  parts.push_back({from, buffer.upper});
  return parts;
}

bool meet(const Buffer &a, const Buffer &b) {
  for (const Interval &x : alive(a))
    for (const Interval &y : alive(b))
      if (std::max(x.lower, y.lower) < std::min(x.upper, y.upper))
        return true;
  return false;
}

/// Of `size` bytes each, one beside the other.
bool overlap(int64_t a, int64_t sizeOfA, int64_t b, int64_t sizeOfB) {
  return a < b + sizeOfB && b < a + sizeOfA;
}

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Problem randomProblem(std::mt19937 &random, int count) {
  const bool oneAlignment = random() % 2;
  const int64_t alignment = 1 << random() % 4;
  for (;;) {
    Problem problem;
    for (int64_t i = 0; i < count; ++i) {
      Buffer buffer;
      buffer.id = i;
      buffer.lower = random() % 40;
      buffer.upper = buffer.lower + 1 + int64_t(random() % 20);
      buffer.sizeBytes = 1 + int64_t(random() % 200);
      buffer.alignmentBytes = oneAlignment ? alignment : int64_t(1) << random() % 4;
      if (random() % 20 == 0)
        buffer.fixedOffset = buffer.alignmentBytes * int64_t(random() % 80);
      else if (random() % 30 == 0)
        buffer.lower = kTimeBegin, buffer.upper = kTimeEnd;
      else if (buffer.upper - buffer.lower > 4 && random() % 3 == 0)
        buffer.gaps = {{buffer.lower + 1, buffer.lower + 3}};
      problem.buffers.push_back(buffer);
    }
    if (!check(problem)) // fixed offsets may collide
      return problem;
  }
}

enum class Key { Length, LengthSize, Size, SizeClass, Area, Load, Lower };

/// An order: buffers at the peak by the first key, if there is one, the others by the second.
struct Order {
  std::optional<Key> inPeak;
  Key rest;
  bool mirrored, smallestHole;
};

std::vector<Order> portfolio() {
  std::vector<Order> orders;
  for (bool mirrored : {false, true})
    for (Key rest : {Key::SizeClass, Key::Size})
      orders.push_back({Key::Length, rest, mirrored, false});
  for (Key inPeak : {Key::LengthSize, Key::Size, Key::Area})
    for (Key rest : {Key::SizeClass, Key::Size, Key::Area})
      orders.push_back({inPeak, rest, false, false});
  orders.push_back({{}, Key::Load, false, false});
  orders.push_back({{}, Key::Load, true, true});
  for (Key key : {Key::Size, Key::SizeClass, Key::Area, Key::LengthSize, Key::Lower})
    for (bool smallestHole : {false, true})
      orders.push_back({{}, key, false, smallestHole});
  return orders;
}

constexpr Order kBestFitBySize = {{}, Key::Size, false, true};

std::pair<int64_t, int64_t> valueOf(const Timeline::Item &item, int64_t peakLoad, Key key) {
  switch (key) {
  case Key::Length:
    return {item.length, 0};
  case Key::LengthSize:
    return {item.length, item.size};
  case Key::Size:
    return {item.size, 0};
  case Key::SizeClass:
    return {std::bit_width(uint64_t(item.size)), item.length};
  case Key::Area:
    return {item.size * item.length, 0};
  case Key::Load:
    return {peakLoad, item.length};
  case Key::Lower:
    break;
  }
  return {0, 0};
}

/// The height that one order reaches: all pairs, all holes.
int64_t heightByHand(const Problem &problem, const Timeline &timeline, const Order &order) {
  const std::vector<int64_t> peakLoads = timeline.peakLoads();
  auto key = [&](size_t i) {
    const Buffer &buffer = problem.buffers[i];
    const Timeline::Item &item = timeline.items[i];
    int64_t begin = timeline.stretches(int64_t(i)).front().first;
    int64_t end = timeline.stretches(int64_t(i)).back().last;
    if (order.mirrored)
      std::tie(begin, end) = std::pair(-end, -begin);
    bool early = order.inPeak && item.atPeak;
    auto [first, second] = valueOf(item, peakLoads[i], early ? *order.inPeak : order.rest);
    // Fixed ones, persistent ones in the order given, those at the peak, the rest.
    int64_t turn = buffer.fixedOffset ? 0 : buffer.isPersistent() ? 1 : early ? 2 : 3;
    if (turn < 2)
      return std::tuple(turn, int64_t(i), int64_t(0), int64_t(0), int64_t(0), int64_t(0),
                        int64_t(0));
    return std::tuple(turn, -first, -second, begin, end, buffer.lower, buffer.id);
  };
  std::vector<size_t> sorted(problem.buffers.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return key(a) < key(b); });

  std::vector<int64_t> offsets(problem.buffers.size(), -1);
  int64_t height = 0;
  for (size_t i : sorted) {
    const Buffer &buffer = problem.buffers[i];
    const int64_t size = timeline.items[i].size;
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j = 0; j < offsets.size(); ++j)
      if (offsets[j] >= 0 && meet(buffer, problem.buffers[j]))
        taken.emplace_back(offsets[j], offsets[j] + timeline.items[j].size);
    std::sort(taken.begin(), taken.end());
    int64_t position = 0, smallest = INT64_MAX;
    for (auto [begin, end] : taken) {
      int64_t aligned = roundUp(position, buffer.alignmentBytes);
      bool fits = begin - aligned >= size;
      if (fits && (order.smallestHole ? begin - position < smallest : smallest == INT64_MAX)) {
        smallest = begin - position;
        offsets[i] = aligned;
      }
      position = std::max(position, end);
    }
    if (offsets[i] < 0)
      offsets[i] = roundUp(position, buffer.alignmentBytes);
    if (buffer.fixedOffset)
      offsets[i] = *buffer.fixedOffset;
    height = std::max(height, offsets[i] + size);
  }
  return height;
}

TEST(ArenaPromise, NoPlanIsAboveAnyOrderOfThePortfolio) {
  std::mt19937 random(21);
  int lowered = 0;
  for (int round = 0; round < 120; ++round) {
    Problem problem = randomProblem(random, 10 + round % 50);
    Timeline timeline(problem);
    int64_t best = INT64_MAX;
    for (const Order &order : portfolio())
      best = std::min(best, heightByHand(problem, timeline, order));

    // The orders alone reach exactly the best of them, whatever they share to give up early.
    EXPECT_EQ(plan(problem, {.iterations = 0}).heightBytes, best) << "round " << round;
    // Best fit by size holds however little work is granted.
    EXPECT_LE(plan(problem, {.work = 0}).heightBytes,
              heightByHand(problem, timeline, kBestFitBySize))
        << "round " << round;
    Plan whole = plan(problem, {.iterations = 50, .work = 2'000'000});
    EXPECT_LE(whole.heightBytes, best) << "round " << round;
    lowered += whole.heightBytes < best;
  }
  EXPECT_GT(lowered, 10); // or the last of the three would say nothing new
}

/// What `verify` has to say about overlaps, alignments, fixed offsets and height; by all pairs.
bool isSound(const Problem &problem, const Plan &plan) {
  int64_t height = 0;
  Timeline timeline(problem);
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    const int64_t offset = plan.offsets[i];
    if (offset < 0 || offset % buffer.alignmentBytes ||
        offset != buffer.fixedOffset.value_or(offset))
      return false;
    height = std::max(height, offset + timeline.items[i].size);
    for (size_t j = 0; j < i; ++j)
      if (overlap(offset, buffer.sizeBytes, plan.offsets[j], problem.buffers[j].sizeBytes) &&
          meet(buffer, problem.buffers[j]))
        return false;
  }
  return height == plan.heightBytes && lowerBound(problem) == plan.lowerBoundBytes;
}

TEST(ArenaPromise, EveryBrokenPlanIsRefused) {
  std::mt19937 random(22);
  int refused = 0, sound = 0;
  for (int round = 0; round < 150; ++round) {
    const Problem problem = randomProblem(random, 8 + round % 40);
    const Plan right = plan(problem, {.iterations = 0});
    ASSERT_EQ(verify(problem, right), std::nullopt) << "round " << round;
    auto judge = [&](const Problem &changed, const Plan &mutated) {
      if (check(changed))
        return; // no problem at all
      bool good = isSound(changed, mutated);
      std::optional<std::string> message = verify(changed, mutated);
      EXPECT_EQ(good, !message) << "round " << round << ": " << message.value_or("accepted");
      ++(good ? sound : refused);
    };
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const int64_t alignment = problem.buffers[i].alignmentBytes;
      for (int64_t shift : {-alignment, alignment, int64_t(1), 3 * alignment, int64_t(-1)}) {
        Plan mutated = right;
        mutated.offsets[i] += shift;
        judge(problem, mutated);
      }
      for (int64_t by : {1, 2, 7}) {
        if (problem.buffers[i].isPersistent())
          continue;
        Problem later = problem, earlier = problem;
        later.buffers[i].upper += by;
        earlier.buffers[i].lower -= by;
        judge(later, right);
        judge(earlier, right);
      }
      if (!problem.buffers[i].gaps.empty()) {
        Problem filled = problem;
        filled.buffers[i].gaps.clear();
        judge(filled, right);
      }
    }
  }
  // Some changes leave a plan as good as it was; most do not.
  EXPECT_GT(refused, 10'000);
  EXPECT_GT(sound, 1'000);
}

/// Where a change certainly breaks the plan, the message names both buffers.
TEST(ArenaPromise, NeighboursThatMeetAreNamed) {
  std::mt19937 random(23);
  int pushed = 0, stretched = 0;
  for (int round = 0; round < 60; ++round) {
    const Problem problem = randomProblem(random, 40);
    const Plan right = plan(problem, {.iterations = 0});
    auto expectOverlap = [&](const Problem &changed, const Plan &mutated) {
      std::string message = verify(changed, mutated).value_or("accepted");
      EXPECT_NE(message.find("overlap at time"), std::string::npos) << message;
    };
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      for (size_t j = 0; j < problem.buffers.size(); ++j) {
        const Buffer &a = problem.buffers[i], &b = problem.buffers[j];
        // b lies on a: a step down, and they share bytes.
        if (meet(a, b) && right.offsets[j] == right.offsets[i] + a.sizeBytes && !b.fixedOffset &&
            b.alignmentBytes <= right.offsets[j]) {
          Plan mutated = right;
          mutated.offsets[j] -= b.alignmentBytes;
          expectOverlap(problem, mutated);
          ++pushed;
        }
        // a's bytes are b's later: a lives on until then.
        if (a.upper <= b.lower &&
            overlap(right.offsets[i], a.sizeBytes, right.offsets[j], b.sizeBytes)) {
          Problem longer = problem;
          longer.buffers[i].upper = b.lower + 1;
          if (check(longer))
            continue; // two fixed ones
          expectOverlap(longer, right);
          ++stretched;
        }
      }
  }
  EXPECT_GT(pushed, 500);
  EXPECT_GT(stretched, 500);
}

} // namespace
