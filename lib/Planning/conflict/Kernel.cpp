//===- Kernel.cpp - one restart of the search, on vectors ----------------===//
//
// Clang's vector extensions in one source: 64-byte vectors are one register of
// AVX-512, two of AVX2 and four of SSE2. Lanes are signed, as SSE2 compares and
// takes minima of signed 16-bit numbers only; the greatest value marks a buffer
// that is placed.
//
// A state holds the lower bound of each buffer; for each section the room h =
// capacity − sizes still to be placed, the count of candidates (unplaced, lower
// bound ≤ h; the lowest of a section is one of them), and how many unplaced
// buffers cross from the section before. Copied whole from depth to depth.
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <cstring>

namespace zero::planning::arena::ZERO_ARENA_ISA {
namespace {

template <typename T> struct UnsignedOf;
template <> struct UnsignedOf<int16_t> {
  using Type = uint16_t;
};
template <> struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <> struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};

template <typename Lane> class Kernel {
  static constexpr int kLanes = 64 / sizeof(Lane);
  using Unsigned = typename UnsignedOf<Lane>::Type;
  static constexpr Lane kPlaced = Lane(Unsigned(~Unsigned(0)) >> 1);
  using V = Lane __attribute__((ext_vector_type(kLanes)));
  using U = Unsigned __attribute__((ext_vector_type(kLanes)));
  using Flags = bool __attribute__((ext_vector_type(kLanes)));
  using Hash = uint32_t __attribute__((ext_vector_type(16)));

  Context<Lane> &c;

  static V load(const Lane *lanes) { return *reinterpret_cast<const V *>(lanes); }
  static void store(Lane *lanes, V v) { *reinterpret_cast<V *>(lanes) = v; }
  static V splat(Lane value) { return V(value); }
  static V add(V a, V b) { return V(U(a) + U(b)); }
  static V min(V a, V b) { return __builtin_elementwise_min(a, b); }
  /// `v` where `mask`, else kPlaced: the neutral element of a minimum.
  static V keep(V mask, V v) { return mask ? v : splat(kPlaced); }
  static uint32_t bits(V mask) {
    Flags flags = __builtin_convertvector(mask, Flags);
    uint32_t result = 0;
    memcpy(&result, &flags, kLanes / 8);
    return result;
  }
  static V maskOf(uint32_t bits) {
    Flags flags;
    memcpy(&flags, &bits, kLanes / 8);
    return __builtin_convertvector(flags, V) != splat(0);
  }

  struct State {
    Lane *lowest;          // by item
    Lane *room;            // by section
    Lane *candidates;      // by section
    Lane *crossing;        // by section
    uint32_t *notLowest;   // a bit an item
    uint32_t *behindATwin; // a bit an item
  };
  State state(int64_t depth) const { return stateAt(c.states + depth * c.stateLanes); }
  State stateAt(Lane *lanes) const {
    State s;
    s.lowest = lanes;
    s.room = s.lowest + int64_t(c.groups) * kLanes;
    s.candidates = s.room + c.sectionLanes;
    s.crossing = s.candidates + c.sectionLanes;
    s.notLowest = reinterpret_cast<uint32_t *>(s.crossing + c.sectionLanes);
    s.behindATwin = s.notLowest + c.groups;
    return s;
  }
  uint32_t closed(const State &s, int group) const {
    return s.notLowest[group] | s.behindATwin[group];
  }

  V inSection(int group, Lane section) const {
    return (load(c.first + group * kLanes) <= splat(section)) &
           (load(c.last + group * kLanes) > splat(section));
  }
  V overlapping(int group, Lane first, Lane last) const {
    return (load(c.first + group * kLanes) < splat(last)) &
           (load(c.last + group * kLanes) > splat(first));
  }
  V startsIn(int group, Lane begin, Lane end) const {
    V first = load(c.first + group * kLanes);
    return (first >= splat(begin)) & (first < splat(end));
  }

  void markAll(int first, int last) {
    for (int word = first / 64; word * 64 < last; ++word) {
      uint64_t mask = ~uint64_t(0);
      if (word * 64 < first)
        mask &= ~uint64_t(0) << (first - word * 64);
      if (last < (word + 1) * 64)
        mask &= ~uint64_t(0) >> ((word + 1) * 64 - last);
      c.dirty[word] |= mask;
    }
  }
  void clearMarks() { memset(c.dirty, 0, (c.sections + 63) / 64 * 8); }

  /// A section changes only by a move of one of its candidates.
  void markWhereCandidate(const State &s, int item, Lane oldLowest) {
    int first = c.first[item], last = c.last[item];
    for (int lane = first / kLanes * kLanes; lane < last; lane += kLanes) {
      uint64_t mask = bits(load(s.room + lane) >= splat(oldLowest));
      if (lane < first)
        mask &= ~uint64_t(0) << (first - lane);
      if (last < lane + kLanes)
        mask &= (uint64_t(1) << (last - lane)) - 1;
      c.dirty[lane / 64] |= mask << (lane % 64);
    }
  }

  /// Raises the lanes of `raised` to `bound` and their alignment. False if one has no room.
  bool raise(const State &s, int group, V raised, V old, Lane bound, int *lowestWord) {
    V mask = load(c.alignmentMask + group * kLanes);
    V lifted = add(splat(bound), mask) & ~mask;
    store(s.lowest + group * kLanes, raised ? lifted : old);
    if (bits(raised & (lifted > load(c.highest + group * kLanes))))
      return false;
    Lane olds[kLanes];
    memcpy(olds, &old, sizeof old);
    for (uint32_t left = bits(raised); left; left &= left - 1) {
      int item = group * kLanes + __builtin_ctz(left);
      markWhereCandidate(s, item, olds[item % kLanes]);
      int word = c.first[item] / 64;
      *lowestWord = word < *lowestWord ? word : *lowestWord;
    }
    return true;
  }

  bool fail(int section) {
    ++c.weight[section];
    return false;
  }

  /// The lowest of a section is a candidate, so all others lie on the lowest top of the
  /// candidates or higher.
  bool propagate(const State &s) {
    uint32_t others[(2048 * 8) / 64];
    int words = (c.sections + 63) / 64;
    for (int word = 0; word < words;) {
      if (!c.dirty[word]) {
        ++word;
        continue;
      }
      int section = word * 64 + __builtin_ctzll(c.dirty[word]);
      c.dirty[word] &= c.dirty[word] - 1;
      Lane room = s.room[section];
      if (room == c.capacity)
        continue;
      int begin = c.sectionGroupsBegin[section], end = c.sectionGroupsBegin[section + 1];
      V tops = splat(kPlaced);
      int count = 0;
      uint32_t anyOthers = 0;
      for (int k = begin; k < end; ++k) {
        int group = c.sectionGroups[k];
        V lowest = load(s.lowest + group * kLanes);
        V inside = inSection(group, section) & (lowest != splat(kPlaced));
        V candidate = inside & (lowest <= splat(room));
        tops = min(tops, keep(candidate, add(lowest, load(c.size + group * kLanes))));
        uint32_t chosen = bits(candidate);
        count += __builtin_popcount(chosen);
        anyOthers |= others[k - begin] = bits(inside) & ~chosen;
      }
      if (count == 0)
        return fail(section);
      s.candidates[section] = Lane(count);
      if (!anyOthers)
        continue;
      Lane top = __builtin_reduce_min(tops);
      for (int k = begin; k < end; ++k) {
        if (!others[k - begin])
          continue;
        int group = c.sectionGroups[k];
        V lowest = load(s.lowest + group * kLanes);
        V raised = inSection(group, section) & (lowest > splat(room)) & (lowest < splat(top));
        if (bits(raised) && !raise(s, group, raised, lowest, top, &word))
          return fail(section);
      }
    }
    return true;
  }

  bool place(const State &s, int item) {
    Lane top = Lane(s.lowest[item] + c.size[item]), first = c.first[item], last = c.last[item];
    c.offset[item] = s.lowest[item];
    s.lowest[item] = kPlaced;
    for (int section = first; section < last; ++section)
      s.room[section] += c.size[item];
    for (int section = first + 1; section < last; ++section)
      --s.crossing[section];
    if (int twin = c.nextTwin[item]; twin >= 0)
      s.behindATwin[twin / kLanes] &= ~(1u << twin % kLanes);
    clearMarks();
    markAll(first, last);
    int word = 0;
    for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
      int group = c.itemGroups[k];
      V lowest = load(s.lowest + group * kLanes);
      V overlap = overlapping(group, first, last);
      s.notLowest[group] &= ~bits(overlap);
      V raised = overlap & (lowest < splat(top));
      if (bits(raised) && !raise(s, group, raised, lowest, top, &word))
        return fail(first);
    }
    return propagate(s);
  }

  bool putOff(const State &s, int item) {
    int group = item / kLanes;
    s.notLowest[group] |= 1u << item % kLanes;
    Lane first = c.first[item], last = c.last[item], old = s.lowest[item];
    s.lowest[item] = kPlaced; // it does not lie on itself
    V tops = splat(kPlaced);
    for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
      int other = c.itemGroups[k];
      V lowest = load(s.lowest + other * kLanes);
      V overlap = overlapping(other, first, last) & (lowest != splat(kPlaced));
      tops = min(tops, keep(overlap, add(lowest, load(c.size + other * kLanes))));
    }
    s.lowest[item] = old;
    Lane top = __builtin_reduce_min(tops);
    if (top == kPlaced)
      return fail(first);
    if (top <= old)
      return true;
    clearMarks();
    int word = 0;
    V raised = maskOf(1u << item % kLanes);
    if (!raise(s, group, raised, load(s.lowest + group * kLanes), top, &word))
      return fail(first);
    return propagate(s);
  }

  /// Over the unplaced buffers of the sections [begin, end).
  FailedState hash(const State &s, Lane begin, Lane end) const {
    Hash a = Hash(uint32_t(begin) * 65537u + uint32_t(end)), b = a * 3u;
    uint64_t low = 0x243F6A8885A308D3, high = 0x13198A2E03707344;
    for (int group = 0; group < c.groups; ++group) {
      V lowest = load(s.lowest + group * kLanes);
      V inside = (lowest != splat(kPlaced)) & startsIn(group, begin, end);
      uint32_t alive = bits(inside);
      if (!alive)
        continue;
      Hash value = Hash(lowest & inside);
      a = (a ^ (value + uint32_t(group) * 0x9E3779B9u)) * 0x85EBCA6Bu;
      a ^= a >> 15;
      b = (b + value) * 0xC2B2AE35u ^ uint32_t(group);
      b ^= b >> 13;
      uint64_t sets = uint64_t(alive) << 32 | (s.notLowest[group] & alive);
      low = (low ^ sets) * 0x9E3779B97F4A7C15;
      low ^= low >> 29;
      high = (high + sets) * 0xD1342543DE82EF95;
      high ^= high >> 31;
    }
    uint64_t words[8];
    memcpy(words, &a, sizeof words);
    for (uint64_t word : words) {
      low = (low ^ word) * 0xBF58476D1CE4E5B9;
      low ^= low >> 31;
    }
    memcpy(words, &b, sizeof words);
    for (uint64_t word : words) {
      high = (high ^ word) * 0x94D049BB133111EB;
      high ^= high >> 30;
    }
    return {low | 1, high}; // never the free slot
  }
  bool knownToFail(const FailedState &key) const {
    for (uint64_t slot = key.high & c.tableMask;; slot = (slot + 1) & c.tableMask) {
      const FailedState &entry = c.table[slot];
      if (entry.low == key.low && entry.high == key.high)
        return true;
      if (!entry.low)
        return false;
    }
  }
  void remember(const FailedState &key) {
    if (c.tableCount >= c.tableLimit)
      return;
    uint64_t slot = key.high & c.tableMask;
    for (; c.table[slot].low; slot = (slot + 1) & c.tableMask)
      if (c.table[slot].low == key.low && c.table[slot].high == key.high)
        return;
    c.table[slot] = key;
    ++c.tableCount;
  }

  /// The first of the open buffers with `member` (of group) true, by the restart's order.
  template <typename Member>
  int pick(const State &s, const uint16_t *groups, int count, const Member &member) const {
    uint32_t open[(2048 * 8) / 64];
    V best = splat(kPlaced);
    for (int k = 0; k < count; ++k) {
      int group = groups ? groups[k] : k;
      V lowest = load(s.lowest + group * kLanes);
      open[k] = bits(member(group, lowest)) & ~closed(s, group);
      if (!open[k])
        continue;
      V value = c.firstBy == First::Rank           ? load(c.rank + group * kLanes)
                : c.firstBy == First::LowestBottom ? lowest
                                                   : add(lowest, load(c.size + group * kLanes));
      best = min(best, keep(maskOf(open[k]), value));
    }
    Lane value = __builtin_reduce_min(best);
    if (value == kPlaced)
      return -1;
    if (c.firstBy == First::Rank)
      return c.byRank[value];
    best = splat(kPlaced);
    for (int k = 0; k < count; ++k) {
      if (!open[k])
        continue;
      int group = groups ? groups[k] : k;
      V lowest = load(s.lowest + group * kLanes);
      V mine =
          c.firstBy == First::LowestBottom ? lowest : add(lowest, load(c.size + group * kLanes));
      best =
          min(best, keep(maskOf(open[k]) & (mine == splat(value)), load(c.rank + group * kLanes)));
    }
    return c.byRank[__builtin_reduce_min(best)];
  }

  /// The arena fills like a vessel: only those are tried that lie below the lowest top.
  int chooseBottomUp(const State &s, Lane begin, Lane end) const {
    V tops = splat(kPlaced);
    for (int group = 0; group < c.groups; ++group) {
      V lowest = load(s.lowest + group * kLanes);
      uint32_t open =
          bits((lowest != splat(kPlaced)) & startsIn(group, begin, end)) & ~closed(s, group);
      if (open)
        tops = min(tops, keep(maskOf(open), add(lowest, load(c.size + group * kLanes))));
    }
    Lane top = __builtin_reduce_min(tops);
    if (top == kPlaced)
      return -1;
    return pick(s, nullptr, c.groups, [&](int group, V lowest) {
      return (lowest < splat(top)) & startsIn(group, begin, end);
    });
  }

  bool hasOpenCandidate(const State &s, int section) const {
    for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
      int group = c.sectionGroups[k];
      V candidate =
          inSection(group, section) & (load(s.lowest + group * kLanes) <= splat(s.room[section]));
      if (bits(candidate) & ~closed(s, group))
        return true;
    }
    return false;
  }

  /// Few candidates make a narrow tree. Where there is slack, a candidate may leave
  /// room for another below it, and so on: that one goes first.
  int chooseInSection(const State &s, int begin, int end) const {
    int best = -1;
    int64_t bestKey = INT64_MAX;
    for (int section = begin; section < end; ++section) {
      if (s.room[section] == c.capacity)
        continue;
      int64_t key = c.weighted ? int64_t(s.candidates[section]) * c.inverseWeight[section]
                               : int64_t(s.candidates[section]) << 48 | int64_t(s.room[section]);
      if (key < bestKey && hasOpenCandidate(s, section)) {
        bestKey = key;
        best = section;
      }
    }
    if (best < 0)
      return -1;
    int groupsBegin = c.sectionGroupsBegin[best];
    Lane room = s.room[best];
    int item =
        pick(s, c.sectionGroups + groupsBegin, c.sectionGroupsBegin[best + 1] - groupsBegin,
             [&](int group, V lowest) { return inSection(group, best) & (lowest <= splat(room)); });
    for (int below; (below = lowestBelow(s, item)) >= 0;)
      item = below;
    return item;
  }

  /// The open buffer with the lowest top that fits under `item`, or −1.
  int lowestBelow(const State &s, int item) const {
    Lane first = c.first[item], last = c.last[item], limit = s.lowest[item];
    int best = -1;
    for (int k = c.itemGroupsBegin[item]; k < c.itemGroupsBegin[item + 1]; ++k) {
      int group = c.itemGroups[k];
      V lowest = load(s.lowest + group * kLanes);
      V top = add(lowest, load(c.size + group * kLanes));
      uint32_t open = bits(overlapping(group, first, last) & (lowest != splat(kPlaced)) &
                           (top <= splat(limit))) &
                      ~closed(s, group);
      for (; open; open &= open - 1) {
        int other = group * kLanes + __builtin_ctz(open);
        Lane itsTop = Lane(s.lowest[other] + c.size[other]);
        if (best < 0 || itsTop < Lane(s.lowest[best] + c.size[best]))
          best = other;
      }
    }
    return best;
  }

  /// Searches independent parts one by one, those that failed most first.
  RunResult searchParts(int64_t depth, int begin, int end, int parts) {
    const State s = state(depth);
    int32_t *ranges = c.ranges + 2 * c.rangeCount;
    int count = 0;
    for (int from = begin; from < end;) {
      while (from < end && s.room[from] == c.capacity)
        ++from;
      int to = from;
      while (to < end && s.room[to] != c.capacity && (to == from || s.crossing[to] > 0))
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
      result = searchPart(depth, from, to);
    }
    c.rangeCount -= count;
    return result;
  }

  RunResult searchBelow(int64_t depth, int begin, int end) {
    const State s = state(depth);
    while (begin < end && s.room[begin] == c.capacity)
      ++begin;
    while (begin < end && s.room[end - 1] == c.capacity)
      --end;
    if (begin == end)
      return RunResult::Packed;
    for (int section = begin + 1; section < end; ++section)
      if (s.crossing[section] == 0)
        return searchParts(depth, begin, end, 0);
    return searchPart(depth, begin, end);
  }

  /// One independent part. Putting a buffer off changes the state in place; when the last
  /// of such a series fails, all of it has failed.
  RunResult searchPart(int64_t depth, int begin, int end) {
    const State s = state(depth);
    int64_t trailBegin = c.trailSize;
    for (;;) {
      FailedState key = hash(s, Lane(begin), Lane(end));
      if (knownToFail(key))
        break;
      if (++c.nodes > c.nodeLimit)
        return RunResult::OutOfNodes;
      if (c.trailSize < c.trailCapacity)
        c.trail[c.trailSize++] = key;
      int item = c.rule == Rule::BottomUp ? chooseBottomUp(s, Lane(begin), Lane(end))
                                          : chooseInSection(s, begin, end);
      if (item < 0)
        break;
      const State next = state(depth + 1);
      memcpy(next.lowest, s.lowest, c.stateLanes * sizeof(Lane));
      if (place(next, item)) {
        RunResult result = searchBelow(depth + 1, begin, end);
        if (result != RunResult::Failed)
          return result;
      }
      if (!putOff(s, item))
        break;
    }
    while (c.trailSize > trailBegin)
      remember(c.trail[--c.trailSize]);
    return RunResult::Failed;
  }

public:
  explicit Kernel(Context<Lane> &context) : c(context) {}

  bool start() {
    const State s = state(0);
    for (int section = 0; section < c.sectionLanes; ++section) {
      s.room[section] = c.capacity;
      s.candidates[section] = 0;
      s.crossing[section] = 0;
    }
    memset(s.notLowest, 0, c.groups * sizeof(uint32_t));
    memset(s.behindATwin, 0, c.groups * sizeof(uint32_t));
    int64_t used = 0;
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
        used = 1;
      }
    }
    if (!used)
      return true;
    clearMarks();
    markAll(0, c.sections);
    return propagate(s);
  }

  /// The lowest unplaced buffer's lower bound.
  Lane floorOf(const State &s, int section) const {
    V floor = splat(kPlaced);
    for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
      int group = c.sectionGroups[k];
      floor = min(floor, keep(inSection(group, section), load(s.lowest + group * kLanes)));
    }
    return __builtin_reduce_min(floor);
  }

  /// Of each section what is still to be placed, over the bytes that may still be lost there.
  double waste(const State &s, double margin) const {
    double sum = 0;
    for (int section = 0; section < c.sections; ++section)
      if (s.room[section] != c.capacity)
        sum += (double(c.capacity) - double(s.room[section])) /
               (double(s.room[section]) - double(floorOf(s, section)) + margin);
    return sum;
  }

  int beamSection(const State &s, BeamRule rule) const {
    int best = -1;
    Lane first = 0, second = 0;
    for (int section = 0; section < c.sections; ++section) {
      if (s.room[section] == c.capacity)
        continue;
      Lane candidates = s.candidates[section];
      Lane a = rule == BeamRule::LowestFloor ? floorOf(s, section) : candidates;
      Lane b = rule == BeamRule::LowestFloor ? candidates : s.room[section];
      if (best < 0 || a < first || (a == first && b < second)) {
        best = section;
        first = a;
        second = b;
      }
    }
    return best;
  }

  int32_t expand(Lane *lanes, BeamRule rule, double margin, Child *children) {
    const State s = stateAt(lanes), child = state(1);
    int section = beamSection(s, rule);
    if (section < 0)
      return -1;
    int32_t count = 0;
    for (int k = c.sectionGroupsBegin[section]; k < c.sectionGroupsBegin[section + 1]; ++k) {
      int group = c.sectionGroups[k];
      V candidate =
          inSection(group, section) & (load(s.lowest + group * kLanes) <= splat(s.room[section]));
      for (uint32_t open = bits(candidate) & ~closed(s, group); open; open &= open - 1) {
        int item = group * kLanes + __builtin_ctz(open);
        for (int below; (below = lowestBelow(s, item)) >= 0;)
          item = below;
        bool known = false;
        for (int32_t i = 0; i < count; ++i)
          known |= children[i].item == item;
        if (known)
          continue;
        ++c.nodes;
        memcpy(child.lowest, s.lowest, c.stateLanes * sizeof(Lane));
        children[count].item = item;
        children[count].waste = -1;
        if (place(child, item)) {
          FailedState key = hash(child, 0, Lane(c.sections));
          children[count].waste = waste(child, margin);
          children[count].low = key.low;
          children[count].high = key.high;
        }
        ++count;
      }
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < count; ++i)
      if (children[i].waste >= 0)
        children[kept++] = children[i];
    return kept;
  }

  void advance(Lane *lanes, int32_t item) { place(stateAt(lanes), item); }

  RunResult search() {
    c.trailSize = 0;
    c.rangeCount = 0;
    return searchBelow(0, 0, c.sections);
  }
};

} // namespace

bool start(Context<int16_t> &c) { return Kernel<int16_t>(c).start(); }
bool start(Context<int32_t> &c) { return Kernel<int32_t>(c).start(); }
bool start(Context<int64_t> &c) { return Kernel<int64_t>(c).start(); }
RunResult search(Context<int16_t> &c) { return Kernel<int16_t>(c).search(); }
RunResult search(Context<int32_t> &c) { return Kernel<int32_t>(c).search(); }
RunResult search(Context<int64_t> &c) { return Kernel<int64_t>(c).search(); }
int32_t expand(Context<int16_t> &c, int16_t *state, BeamRule rule, double margin, Child *children) {
  return Kernel<int16_t>(c).expand(state, rule, margin, children);
}
void advance(Context<int16_t> &c, int16_t *state, int32_t item) {
  Kernel<int16_t>(c).advance(state, item);
}
int32_t expand(Context<int32_t> &c, int32_t *state, BeamRule rule, double margin, Child *children) {
  return Kernel<int32_t>(c).expand(state, rule, margin, children);
}
void advance(Context<int32_t> &c, int32_t *state, int32_t item) {
  Kernel<int32_t>(c).advance(state, item);
}
int32_t expand(Context<int64_t> &c, int64_t *state, BeamRule rule, double margin, Child *children) {
  return Kernel<int64_t>(c).expand(state, rule, margin, children);
}
void advance(Context<int64_t> &c, int64_t *state, int32_t item) {
  Kernel<int64_t>(c).advance(state, item);
}

} // namespace zero::planning::arena::ZERO_ARENA_ISA
