//===- SearchTables.cpp - a problem as the kernels read it ---------------===//
#include "SearchTables.h"
#include "Dispatch.h"

#include <bit>
#include <numeric>
#include <tuple>

namespace zero::planning::arena {
namespace {

constexpr int64_t kTrail = 1 << 15; // failed states kept while their tree is open
constexpr int64_t kTableMin = 1 << 12, kTableMax = 1 << 22; // slots of 16 bytes

int64_t groupsOf(int64_t items, int64_t lanes) { return (items + lanes - 1) / lanes; }
int64_t sectionLanesOf(int64_t sections) { return (sections + 63) / 64 * 64; }

} // namespace

template <typename Lane>
SearchTables<Lane>::SearchTables(const SearchProblem &problem, SearchIsa isa)
    : kernel(kernelOf<Lane>(isa)), count(problem.items.size()),
      rank(groupsOf(count, kLanes) * kLanes), laneCount(groupsOf(count, kLanes) * kLanes),
      first(laneCount), last(laneCount), size(laneCount), highest(laneCount),
      alignmentMask(laneCount), offset(laneCount), lowest(laneCount),
      states(stateLanes<Lane>(laneCount / kLanes, sectionLanesOf(problem.sections)) * (count + 2),
             /*zeroed=*/false) {
  context.groups = int32_t(laneCount / kLanes);
  context.sections = problem.sections;
  context.sectionLanes = int32_t(sectionLanesOf(problem.sections));
  context.capacity = Lane(problem.capacity);
  context.stateLanes = stateLanes<Lane>(context.groups, context.sectionLanes);
  sortItems(problem);
  fillLanes();
  linkGroups();

  weight.assign(context.sectionLanes, 1);
  inverseWeight.assign(context.sectionLanes, 0);
  byRank.assign(count, 0);
  dirty.assign(context.sectionLanes / 64 + 1, 0);
  trail.resize(kTrail);
  ranges.assign(4 * context.sections + 4 * count + 4, 0);
  table.assign(kTableMin, {0, 0});

  context.first = first.get();
  context.last = last.get();
  context.size = size.get();
  context.highest = highest.get();
  context.alignmentMask = alignmentMask.get();
  context.sectionGroupsBegin = sectionGroupsBegin.data();
  context.sectionGroups = sectionGroups.data();
  context.itemGroupsBegin = itemGroupsBegin.data();
  context.itemGroups = itemGroups.data();
  context.nextTwin = nextTwin.data();
  context.rank = rank.get();
  context.byRank = byRank.data();
  context.inverseWeight = inverseWeight.data();
  context.states = states.get();
  context.weight = weight.data();
  context.offset = offset.get();
  context.dirty = dirty.data();
  context.trail = trail.data();
  context.trailCapacity = kTrail;
  context.ranges = ranges.data();
}

template <typename Lane> void SearchTables<Lane>::sortItems(const SearchProblem &problem) {
  inputIndex.resize(count);
  std::iota(inputIndex.begin(), inputIndex.end(), 0);
  auto key = [&](int32_t i) {
    const SearchItem &item = problem.items[i];
    bool isShort = item.last - item.first < problem.sections / 4;
    return std::tuple(isShort, item.first + item.last, item.first, -item.size, item.lowest,
                      item.highest, item.alignment, i);
  };
  std::sort(inputIndex.begin(), inputIndex.end(),
            [&](int32_t a, int32_t b) { return key(a) < key(b); });
  for (int32_t i : inputIndex)
    items.push_back(problem.items[i]);
}

template <typename Lane> void SearchTables<Lane>::fillLanes() {
  nextTwin.assign(laneCount, -1);
  std::fill_n(lowest.get(), laneCount, kPlaced);
  for (int64_t i = 0; i < count; ++i) {
    const SearchItem &item = items[i];
    first[i] = Lane(item.first);
    last[i] = Lane(item.last);
    size[i] = Lane(item.size);
    lowest[i] = Lane(item.lowest);
    highest[i] = Lane(item.highest);
    alignmentMask[i] = Lane(item.alignment - 1);
    if (i > 0 && item.lowest != item.highest) {
      const SearchItem &other = items[i - 1];
      if (std::tuple(item.first, item.last, item.size, item.lowest, item.highest, item.alignment) ==
          std::tuple(other.first, other.last, other.size, other.lowest, other.highest,
                     other.alignment))
        nextTwin[i - 1] = int32_t(i);
    }
  }
}

/// The groups that have a member in each section, and in each item's conflict set; bit sets first,
/// then lists.
template <typename Lane> void SearchTables<Lane>::linkGroups() {
  int64_t words = (context.groups + 63) / 64;
  std::vector<uint64_t> members(context.sections * words, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int32_t section = items[i].first; section < items[i].last; ++section)
      members[section * words + i / kLanes / 64] |= uint64_t(1) << i / kLanes % 64;
  auto list = [&](const uint64_t *set, std::vector<uint16_t> &into) {
    for (int64_t word = 0; word < words; ++word)
      for (uint64_t left = set[word]; left; left &= left - 1)
        into.push_back(uint16_t(word * 64 + std::countr_zero(left)));
  };
  for (int64_t section = 0; section < context.sections; ++section) {
    sectionGroupsBegin.push_back(int32_t(sectionGroups.size()));
    list(&members[section * words], sectionGroups);
  }
  sectionGroupsBegin.push_back(int32_t(sectionGroups.size()));
  for (const SearchItem &item : items) {
    std::vector<uint64_t> set(words, 0);
    for (int32_t section = item.first; section < item.last; ++section)
      for (int64_t word = 0; word < words; ++word)
        set[word] |= members[section * words + word];
    itemGroupsBegin.push_back(int32_t(itemGroups.size()));
    list(set.data(), itemGroups);
  }
  itemGroupsBegin.push_back(int32_t(itemGroups.size()));
}

template <typename Lane> void SearchTables<Lane>::growTable() {
  int64_t needed = 2 * (context.tableCount + context.nodeLimit);
  if (int64_t(table.size()) < needed) {
    if (int64_t(table.size()) < kTableMax) {
      std::vector<FailedState> old(std::min<int64_t>(std::bit_ceil(uint64_t(needed)), kTableMax),
                                   {0, 0});
      old.swap(table);
      for (const FailedState &entry : old)
        if (entry.low) {
          uint64_t slot = entry.high & (table.size() - 1);
          while (table[slot].low)
            slot = (slot + 1) & (table.size() - 1);
          table[slot] = entry;
        }
    } else if (context.tableCount * 3 > kTableMax * 2) {
      std::fill(table.begin(), table.end(), FailedState{0, 0});
      context.tableCount = 0;
    }
  }
  context.table = table.data();
  context.tableMask = table.size() - 1;
  context.tableLimit = int64_t(table.size()) / 4 * 3;
}

template <typename Lane> bool SearchTables<Lane>::start() {
  std::copy_n(lowest.get(), laneCount, states.get());
  return kernel.start(context);
}

template <typename Lane> std::vector<int64_t> SearchTables<Lane>::offsets() const {
  std::vector<int64_t> result(count);
  for (int64_t i = 0; i < count; ++i)
    result[inputIndex[i]] = offset[i];
  return result;
}

template class SearchTables<int16_t>;
template class SearchTables<int32_t>;
template class SearchTables<int64_t>;

} // namespace zero::planning::arena
