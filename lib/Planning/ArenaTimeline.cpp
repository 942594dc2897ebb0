//===- ArenaTimeline.cpp - buffers in sections ---------------------------===//
#include "ArenaTimeline.h"

#include "KeySort.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace zero::planning::arena {

Timeline::Timeline(const Problem &problem) : items(problem.buffers.size() + 1) {
  compress(problem);
  measure(problem);
}

/// A new section begins only where a lifetime begins after another ended.
void Timeline::compress(const Problem &problem) {
  const size_t count = problem.buffers.size();
  std::vector<Keyed<uint64_t>> begins, ends; // of stretches
  begins.reserve(count);
  ends.reserve(count);
  stretchList.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Buffer &buffer = problem.buffers[i];
    items[i].firstStretch = int32_t(stretchList.size());
    auto add = [&](int64_t lower, int64_t upper) {
      if (lower >= upper)
        return;
      begins.push_back({risingKey(lower), uint32_t(stretchList.size())});
      ends.push_back({risingKey(upper), uint32_t(stretchList.size())});
      stretchList.push_back({});
    };
    int64_t from = buffer.lower;
    if (!buffer.gaps.empty()) {
      std::vector<Interval> gaps = buffer.gaps;
      std::sort(gaps.begin(), gaps.end(),
                [](const Interval &a, const Interval &b) { return a.lower < b.lower; });
      for (const Interval &gap : gaps) {
        add(from, gap.lower);
        from = gap.upper;
      }
    }
    add(from, buffer.upper);
  }
  items[count].firstStretch = int32_t(stretchList.size());
  std::vector<Keyed<uint64_t>> spare;
  sortByKey(begins, spare);
  sortByKey(ends, spare);
  auto begin = begins.begin();
  for (const Keyed<uint64_t> &end : ends) { // before what begins at the same time
    bool grown = false;
    for (; begin != begins.end() && begin->key < end.key; ++begin, grown = true)
      stretchList[begin->value].first = int32_t(sections);
    sections += grown;
    stretchList[end.value].last = int32_t(sections);
  }
}

void Timeline::measure(const Problem &problem) {
  unit = 0;
  for (const Buffer &buffer : problem.buffers)
    unit = std::gcd(unit, buffer.alignmentBytes);
  unit = std::max<int64_t>(unit, 1);
  load.assign(sections + 1, 0);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    Item &item = items[i];
    item.size = (problem.buffers[i].sizeBytes + unit - 1) / unit * unit;
    for (const Stretch &stretch : stretches(i)) {
      item.length += uint32_t(stretch.last - stretch.first);
      load[stretch.first] += item.size;
      load[stretch.last] -= item.size;
    }
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  load.resize(sections);
  if (sections == 0)
    return;
  int64_t peak = std::max_element(load.begin(), load.end()) - load.begin();
  peakLoad = load[peak];
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    for (const Stretch &stretch : stretches(i))
      items[i].atPeak |= stretch.first <= peak && peak < stretch.last;
}

int64_t placingUnit(const Problem &problem, int64_t bytes) {
  // A smaller unit may fall out with an alignment that a larger one was a multiple of.
  for (bool changed = true; changed;) {
    changed = false;
    int64_t last = 0;
    for (const Buffer &buffer : problem.buffers) {
      int64_t alignment = buffer.alignmentBytes;
      if (alignment == last)
        continue;
      last = alignment;
      if (bytes % alignment == 0 || alignment % bytes == 0)
        continue;
      bytes = std::gcd(bytes, alignment);
      changed = true;
    }
  }
  return bytes;
}

std::vector<int64_t> Timeline::peakLoads() const {
  std::vector<int64_t> result(items.size() - 1, 0);
  // The maxima over 2^k sections, k growing: two overlapping ones cover any stretch.
  struct Part {
    int32_t item, stretch;
  };
  std::vector<std::vector<Part>> ofRow(std::bit_width(uint64_t(sections)) + 1);
  for (size_t i = 0; i < result.size(); ++i)
    for (int32_t k = items[i].firstStretch; k < items[i + 1].firstStretch; ++k)
      ofRow[std::bit_width(uint32_t(stretchList[k].last - stretchList[k].first)) - 1].push_back(
          {int32_t(i), k});
  std::vector<int64_t> maxima = load;
  for (size_t row = 0; row < ofRow.size(); ++row) {
    int64_t width = int64_t(1) << row;
    for (const Part &part : ofRow[row]) {
      const Stretch &stretch = stretchList[part.stretch];
      result[part.item] =
          std::max({result[part.item], maxima[stretch.first], maxima[stretch.last - width]});
    }
    for (int64_t i = 0; i + width < sections; ++i)
      maxima[i] = std::max(maxima[i], maxima[i + width]);
  }
  return result;
}

} // namespace zero::planning::arena
