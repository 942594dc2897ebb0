//===- KeySort.cpp - numbers sorted by whole keys ------------------------===//
//
// From the lowest byte to the highest, each pass keeping the order of the one
// before. Keys of lifetimes and sizes differ in two or three bytes, and the
// others cost nothing.
//
//===----------------------------------------------------------------------===//
#include "KeySort.h"

#include <algorithm>
#include <array>
#include <utility>

namespace zero::planning::arena {

template <typename Key>
void sortByKey(std::vector<Keyed<Key>> &entries, std::vector<Keyed<Key>> &spare) {
  constexpr size_t kFew = 512; // where counting takes longer than comparing
  auto isLower = [](const Keyed<Key> &a, const Keyed<Key> &b) { return a.key < b.key; };
  if (entries.size() < kFew) {
    std::stable_sort(entries.begin(), entries.end(), isLower);
    return;
  }
  Key differing = 0;
  bool isSorted = true;
  for (size_t i = 1; i < entries.size(); ++i) {
    differing |= entries[i].key ^ entries[0].key;
    isSorted &= entries[i - 1].key <= entries[i].key;
  }
  if (isSorted)
    return;
  spare.resize(entries.size());
  for (int shift = 0; shift < int(8 * sizeof(Key)); shift += 8) {
    if (!(differing >> shift & 0xff))
      continue;
    std::array<size_t, 256> place = {};
    for (const Keyed<Key> &entry : entries)
      ++place[entry.key >> shift & 0xff];
    size_t sum = 0;
    for (size_t &begin : place)
      sum += std::exchange(begin, sum);
    for (const Keyed<Key> &entry : entries)
      spare[place[entry.key >> shift & 0xff]++] = entry;
    entries.swap(spare);
  }
}

template void sortByKey(std::vector<Keyed<uint32_t>> &, std::vector<Keyed<uint32_t>> &);
template void sortByKey(std::vector<Keyed<uint64_t>> &, std::vector<Keyed<uint64_t>> &);

} // namespace zero::planning::arena
