//===- Propagation.cpp - lower bounds rise until nothing moves -----------===//
#include "Propagation.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {
namespace {

void markAll(Context &c, int first, int last) {
  for (int word = first / 64; word * 64 < last; ++word) {
    uint64_t mask = ~uint64_t(0);
    if (word * 64 < first)
      mask &= ~uint64_t(0) << (first - word * 64);
    if (last < (word + 1) * 64)
      mask &= ~uint64_t(0) >> ((word + 1) * 64 - last);
    c.dirty[word] |= mask;
  }
}

void clearMarks(Context &c) { memset(c.dirty, 0, (c.sections + 63) / 64 * 8); }

/// Counts candidates of the sections of `item`, and marks those sections where its move can move
/// others: it was the candidate with the lowest top, or it is none any more and lies below that
/// top.
void noteMove(Context &c, const State &s, int item, Lane old, Lane now) {
  int first = c.first[item], last = c.last[item];
  Lane oldTop = Lane(old + c.size[item]);
  for (int lane = first / kLanes * kLanes; lane < last; lane += kLanes) {
    V section = add(splat(Lane(lane)), kIota);
    V room = load(s.room + lane), top = load(s.lowestTop + lane);
    V was = (section >= splat(Lane(first))) & (section < splat(Lane(last))) & (room >= splat(old));
    V left = was & (room < splat(now));
    store(s.candidates + lane, add(load(s.candidates + lane), left)); // a true lane is −1
    uint64_t marks = bits((was & (top == splat(oldTop))) | (left & (top > splat(now))));
    c.dirty[lane / 64] |= marks << (lane % 64);
  }
}

/// Raises the lanes of `raised` to `bound` and their alignment. False if one has no room.
bool raise(Context &c, const State &s, int group, V raised, V old, Lane bound, int *lowestWord) {
  V mask = load(c.alignmentMask + group * kLanes);
  V lifted = add(splat(bound), mask) & ~mask;
  store(s.lowest + group * kLanes, raised ? lifted : old);
  if (bits(raised & (lifted > load(c.highest + group * kLanes))))
    return false;
  Lane olds[kLanes], news[kLanes];
  memcpy(olds, &old, sizeof old);
  memcpy(news, &lifted, sizeof lifted);
  for (uint32_t left = bits(raised); left; left &= left - 1) {
    int item = group * kLanes + __builtin_ctz(left);
    noteMove(c, s, item, olds[item % kLanes], news[item % kLanes]);
    int word = c.first[item] / 64;
    *lowestWord = word < *lowestWord ? word : *lowestWord;
  }
  return true;
}

bool fail(Context &c, int section) {
  ++c.weight[section];
  return false;
}

/// The lowest of a section is a candidate, so all others lie on the lowest top of the
/// candidates or higher.
bool propagate(Context &c, const State &s) {
  int words = (c.sections + 63) / 64;
  for (int word = 0; word < words;) {
    if (!c.dirty[word]) {
      ++word;
      continue;
    }
    int section = word * 64 + __builtin_ctzll(c.dirty[word]);
    c.dirty[word] &= c.dirty[word] - 1;
    if (isEmpty(c, s, section))
      continue;
    Lane room = s.room[section];
    int begin = c.sectionGroupsBegin[section], end = c.sectionGroupsBegin[section + 1];
    V tops = splat(kPlaced);
    int count = 0;
    for (int k = begin; k < end; ++k) {
      int group = c.sectionGroups[k];
      V candidate = candidatesIn(c, s, group, section);
      tops = min(tops, keep(candidate, topOf(c, s, group)));
      count += __builtin_popcount(bits(candidate));
    }
    if (count == 0)
      return fail(c, section);
    Lane top = least(tops);
    s.candidates[section] = Lane(count);
    s.lowestTop[section] = top;
    for (int k = begin; k < end; ++k) {
      int group = c.sectionGroups[k];
      V lowest = lowestOf(s, group);
      V raised = inSection(c, group, section) & (lowest > splat(room)) & (lowest < splat(top));
      if (bits(raised) && !raise(c, s, group, raised, lowest, top, &word))
        return fail(c, section);
    }
  }
  return true;
}

} // namespace

bool start(Context &c) {
  const State s = stateOfDepth(c, 0);
  for (int section = 0; section < c.sectionLanes; ++section) {
    s.room[section] = c.capacity;
    s.candidates[section] = 0;
    s.lowestTop[section] = 0;
    s.crossing[section] = 0;
  }
  memset(s.notLowest, 0, c.groups * sizeof(uint32_t));
  memset(s.behindATwin, 0, c.groups * sizeof(uint32_t));
  for (int item = 0; item < c.groups * kLanes; ++item) {
    if (s.lowest[item] == kPlaced)
      continue;
    if (int twin = c.nextTwin[item]; twin >= 0)
      s.behindATwin[twin / kLanes] |= 1u << twin % kLanes;
    for (int section = c.first[item]; section < c.last[item]; ++section) {
      if (__builtin_sub_overflow(s.room[section], c.size[item], &s.room[section]) ||
          s.room[section] < 0)
        return false;
      s.crossing[section] += section > c.first[item];
    }
  }
  clearMarks(c);
  markAll(c, 0, c.sections);
  return propagate(c, s);
}

bool place(Context &c, const State &s, int item) {
  Lane top = Lane(s.lowest[item] + c.size[item]), first = c.first[item], last = c.last[item];
  c.offset[item] = s.lowest[item];
  s.lowest[item] = kPlaced;
  for (int section = first; section < last; ++section)
    s.room[section] += c.size[item];
  for (int section = first + 1; section < last; ++section)
    --s.crossing[section];
  if (int twin = c.nextTwin[item]; twin >= 0)
    s.behindATwin[twin / kLanes] &= ~(1u << twin % kLanes);
  clearMarks(c);
  markAll(c, first, last);
  int word = 0;
  for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
    int group = c.itemGroups[k];
    V lowest = lowestOf(s, group);
    V overlap = overlapping(c, group, first, last);
    s.notLowest[group] &= ~bits(overlap);
    V raised = overlap & (lowest < splat(top));
    if (bits(raised) && !raise(c, s, group, raised, lowest, top, &word))
      return fail(c, first);
  }
  return propagate(c, s);
}

bool putOff(Context &c, const State &s, int item) {
  int group = item / kLanes;
  s.notLowest[group] |= 1u << item % kLanes;
  Lane first = c.first[item], last = c.last[item], old = s.lowest[item];
  s.lowest[item] = kPlaced; // it does not lie on itself
  V tops = splat(kPlaced);
  for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
    int other = c.itemGroups[k];
    V overlap = overlapping(c, other, first, last) & (lowestOf(s, other) != splat(kPlaced));
    tops = min(tops, keep(overlap, topOf(c, s, other)));
  }
  s.lowest[item] = old;
  Lane top = least(tops);
  if (top == kPlaced)
    return fail(c, first);
  if (top <= old)
    return true;
  clearMarks(c);
  int word = 0;
  V raised = maskOf(1u << item % kLanes);
  if (!raise(c, s, group, raised, lowestOf(s, group), top, &word))
    return fail(c, first);
  return propagate(c, s);
}

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL
