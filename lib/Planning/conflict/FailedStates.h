//===- FailedStates.h - states from which there is no packing ------------===//
//
// A table with open addressing of 128-bit keys: two states of one key are taken
// for the same. It holds from restart to restart.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_LIB_PLANNING_CONFLICT_FAILEDSTATES_H
#define ZERO_LIB_PLANNING_CONFLICT_FAILEDSTATES_H

#include "State.h"

namespace zero::planning::arena::ZERO_ARENA_KERNEL {

/// Of the unplaced buffers of the sections [begin, end), their lower bounds, and which are known
/// not to be the lowest.
inline FailedState hash(const Context &c, const State &s, Lane begin, Lane end) {
  using Hash = uint32_t __attribute__((ext_vector_type(16)));
  Hash a = Hash(uint32_t(begin) * 65537u + uint32_t(end)), b = a * 3u;
  uint64_t low = 0x243F6A8885A308D3, high = 0x13198A2E03707344;
  for (int group = 0; group < c.groups; ++group) {
    V lowest = lowestOf(s, group);
    V inside = (lowest != splat(kPlaced)) & startsIn(c, group, begin, end);
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

inline bool knownToFail(const Context &c, const FailedState &key) {
  for (uint64_t slot = key.high & c.tableMask;; slot = (slot + 1) & c.tableMask) {
    const FailedState &entry = c.table[slot];
    if (entry.low == key.low && entry.high == key.high)
      return true;
    if (!entry.low)
      return false;
  }
}

inline void remember(Context &c, const FailedState &key) {
  if (c.tableCount >= c.tableLimit)
    return;
  uint64_t slot = key.high & c.tableMask;
  for (; c.table[slot].low; slot = (slot + 1) & c.tableMask)
    if (c.table[slot].low == key.low && c.table[slot].high == key.high)
      return;
  c.table[slot] = key;
  ++c.tableCount;
}

} // namespace zero::planning::arena::ZERO_ARENA_KERNEL

#endif // ZERO_LIB_PLANNING_CONFLICT_FAILEDSTATES_H
