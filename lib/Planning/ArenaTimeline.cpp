//===- ArenaTimeline.cpp - buffers in sections ---------------------------===//
#include "ArenaTimeline.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace zero::planning::arena {

Timeline::Timeline(const Problem &problem) : items(problem.buffers.size()) {
  compress(problem);
  measure(problem);
}

/// A new section begins only where a lifetime begins after another ended.
void Timeline::compress(const Problem &problem) {
  struct Event {
    int64_t time;
    uint32_t stretch : 31, begins : 1;
  };
  std::vector<Event> events;
  events.reserve(2 * items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer &buffer = problem.buffers[i];
    items[i].firstStretch = int32_t(stretchList.size());
    auto add = [&](int64_t lower, int64_t upper) {
      if (lower >= upper)
        return;
      events.push_back({lower, uint32_t(stretchList.size()), true});
      events.push_back({upper, uint32_t(stretchList.size()), false});
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
    items[i].stretchCount = int32_t(stretchList.size()) - items[i].firstStretch;
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  bool grown = false;
  for (const Event &event : events) {
    if (event.begins) {
      stretchList[event.stretch].first = int32_t(sections);
      grown = true;
      continue;
    }
    sections += grown;
    grown = false;
    stretchList[event.stretch].last = int32_t(sections);
  }
}

void Timeline::measure(const Problem &problem) {
  unit = 0;
  for (const Buffer &buffer : problem.buffers)
    unit = std::gcd(unit, buffer.alignmentBytes);
  unit = std::max<int64_t>(unit, 1);
  std::vector<int64_t> load(sections + 1, 0);
  for (size_t i = 0; i < items.size(); ++i) {
    Item &item = items[i];
    item.size = (problem.buffers[i].sizeBytes + unit - 1) / unit * unit;
    for (const Stretch &stretch : stretches(i)) {
      item.length += stretch.last - stretch.first;
      load[stretch.first] += item.size;
      load[stretch.last] -= item.size;
    }
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  load.resize(sections);

  // The maxima over 2^k sections, k growing: two overlapping ones cover any stretch.
  std::vector<std::vector<int32_t>> ofRow(std::bit_width(uint64_t(sections)) + 1);
  for (size_t i = 0; i < stretchList.size(); ++i)
    ofRow[std::bit_width(uint32_t(stretchList[i].last - stretchList[i].first)) - 1].push_back(i);
  std::vector<int32_t> owner(stretchList.size());
  for (size_t i = 0; i < items.size(); ++i)
    for (int32_t k = 0; k < items[i].stretchCount; ++k)
      owner[items[i].firstStretch + k] = int32_t(i);
  int64_t peak = std::max_element(load.begin(), load.end()) - load.begin();
  std::vector<int64_t> maxima = load;
  for (size_t row = 0; row < ofRow.size(); ++row) {
    int64_t width = int64_t(1) << row;
    for (int32_t i : ofRow[row]) {
      const Stretch &stretch = stretchList[i];
      Item &item = items[owner[i]];
      item.peakLoad =
          std::max({item.peakLoad, maxima[stretch.first], maxima[stretch.last - width]});
      item.atPeak |= stretch.first <= peak && peak < stretch.last;
    }
    for (int64_t i = 0; i + width < sections; ++i)
      maxima[i] = std::max(maxima[i], maxima[i + width]);
  }
}

} // namespace zero::planning::arena
