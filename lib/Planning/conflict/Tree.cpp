//===- Tree.cpp - one restart of the search ------------------------------===//
//
// Depth first: a buffer is placed, and all below is searched; then it is put off,
// in the same state, and the next is chosen. Where no unplaced buffer crosses from
// one section to the next, the two sides are searched one by one.
//
//===----------------------------------------------------------------------===//
#include "BeamStates.h"
#include "Choice.h"
#include "FailedStates.h"
#include "Propagation.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {
namespace {

RunResult searchPart(Context &c, int64_t depth, int begin, int end);

/// Searches independent parts one by one, those that failed most first.
RunResult searchParts(Context &c, int64_t depth, int begin, int end) {
  const State s = stateOfDepth(c, depth);
  int32_t *ranges = c.ranges + 2 * c.rangeCount;
  int count = 0;
  for (int from = begin; from < end;) {
    while (from < end && isEmpty(c, s, from))
      ++from;
    int to = from;
    while (to < end && !isEmpty(c, s, to) && (to == from || s.crossing[to] > 0))
      ++to;
    if (from < to) {
      ranges[2 * count] = from;
      ranges[2 * count + 1] = to;
      ++count;
    }
    from = to;
  }
  c.rangeCount += count;
  RunResult result = RunResult::Packed;
  for (int done = 0; done < count && result == RunResult::Packed; ++done) {
    int heaviest = done, most = -1;
    for (int i = done; i < count; ++i) {
      int weight = 0;
      for (int section = ranges[2 * i]; section < ranges[2 * i + 1]; ++section)
        weight = c.weight[section] > weight ? c.weight[section] : weight;
      if (weight > most) {
        most = weight;
        heaviest = i;
      }
    }
    int from = ranges[2 * heaviest], to = ranges[2 * heaviest + 1];
    ranges[2 * heaviest] = ranges[2 * done];
    ranges[2 * heaviest + 1] = ranges[2 * done + 1];
    result = searchPart(c, depth, from, to);
  }
  c.rangeCount -= count;
  return result;
}

RunResult searchBelow(Context &c, int64_t depth, int begin, int end) {
  const State s = stateOfDepth(c, depth);
  while (begin < end && isEmpty(c, s, begin))
    ++begin;
  while (begin < end && isEmpty(c, s, end - 1))
    --end;
  if (begin == end)
    return RunResult::Packed;
  for (int section = begin + 1; section < end; ++section)
    if (s.crossing[section] == 0)
      return searchParts(c, depth, begin, end);
  return searchPart(c, depth, begin, end);
}

/// One independent part. Putting a buffer off changes the state in place; when the last
/// of such a series fails, all of it has failed.
RunResult searchPart(Context &c, int64_t depth, int begin, int end) {
  const State s = stateOfDepth(c, depth);
  int64_t trailBegin = c.trailSize;
  for (;;) {
    FailedState key = hash(c, s, Lane(begin), Lane(end));
    if (knownToFail(c, key))
      break;
    if (++c.nodes > c.nodeLimit)
      return RunResult::OutOfNodes;
    if (c.trailSize < c.trailCapacity)
      c.trail[c.trailSize++] = key;
    int item = choose(c, s, begin, end);
    if (item < 0)
      break;
    const State next = stateOfDepth(c, depth + 1);
    copy(c, s, next);
    if (place(c, next, item)) {
      RunResult result = searchBelow(c, depth + 1, begin, end);
      if (result != RunResult::Failed) {
        c.trailSize = trailBegin; // packed: a part beside it that fails says nothing of these
        return result;
      }
    }
    if (!putOff(c, s, item))
      break;
  }
  while (c.trailSize > trailBegin)
    remember(c, c.trail[--c.trailSize]);
  return RunResult::Failed;
}

RunResult search(Context &c) {
  c.trailSize = 0;
  c.rangeCount = 0;
  return searchBelow(c, 0, 0, c.sections);
}

} // namespace

const Kernel<Lane> kernel = {start, search, expand, advance};

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL
