//===- KeySort.h - numbers sorted by whole keys --------------------------===//
#ifndef ZERO_LIB_PLANNING_KEYSORT_H
#define ZERO_LIB_PLANNING_KEYSORT_H

#include <cstdint>
#include <vector>

namespace zero::planning::arena {

/// Keys are of 32 or 64 bits.
template <typename Key> struct Keyed {
  Key key;
  uint32_t value;
};

/// Sorts by rising keys; equal keys stay in their order. O(n) a byte in which keys differ. `spare`
/// is room for as many.
template <typename Key>
void sortByKey(std::vector<Keyed<Key>> &entries, std::vector<Keyed<Key>> &spare);

/// A key that rises as `value` does.
inline uint64_t risingKey(int64_t value) { return uint64_t(value) ^ (uint64_t(1) << 63); }

} // namespace zero::planning::arena

#endif // ZERO_LIB_PLANNING_KEYSORT_H
