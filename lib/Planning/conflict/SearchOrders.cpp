//===- SearchOrders.cpp - in which order a restart tries the buffers -----===//
#include "SearchOrders.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

namespace zero::planning::arena {
namespace {

/// 64 log₂, straight between powers of two: the same on every machine.
int64_t logarithm(int64_t value) {
  int64_t whole = std::bit_width(uint64_t(value)) - 1;
  return 64 * whole + (whole > 6 ? (value >> (whole - 6)) - 64 : (value << (6 - whole)) - 64);
}

} // namespace

std::vector<int32_t> SearchOrders::sorted(const auto &key) const {
  std::vector<int32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return order;
}

SearchOrders::SearchOrders(const std::vector<SearchItem> &items, int32_t sections) : items(items) {
  int64_t count = items.size();
  std::vector<int64_t> load(sections, 0), fullest(count, 0);
  for (const SearchItem &item : items)
    for (int32_t section = item.first; section < item.last; ++section)
      load[section] += item.size;
  for (int64_t i = 0; i < count; ++i)
    for (int32_t section = items[i].first; section < items[i].last; ++section)
      fullest[i] = std::max(fullest[i], load[section]);
  auto add = [&](const auto &key) { orders.push_back(sorted(key)); };
  auto length = [&](int32_t i) { return int64_t(items[i].last - items[i].first); };
  auto bytes = [&](int32_t i) { return items[i].size; };
  auto area = [&](int32_t i) { return double(length(i)) * double(bytes(i)); };
  add([&](int32_t i) { return std::pair(-fullest[i], -area(i)); });
  add([&](int32_t i) { return std::tuple(-fullest[i], -length(i), -bytes(i)); });
  add([&](int32_t i) { return std::pair(-length(i), -bytes(i)); });
  add([&](int32_t i) { return -area(i); });
  add([&](int32_t i) { return -area(i) * double(length(i)); });
  add([&](int32_t i) { return -area(i) * double(bytes(i)); });
  add([&](int32_t i) { return std::pair(-fullest[i], -bytes(i)); });
  add([&](int32_t i) { return std::pair(-bytes(i), -length(i)); });
  add([&](int32_t i) { return i; });
  add([&](int32_t i) { return -i; });
  add([&](int32_t i) { return std::pair(length(i), bytes(i)); });
  add([&](int32_t i) { return std::pair(bytes(i), length(i)); });
  add([&](int32_t i) { return area(i); });
  add([&](int32_t i) { return items[i].last; });
  for (int64_t i = 0; i < count; ++i) {
    logLength.push_back(logarithm(length(i)));
    logSize.push_back(logarithm(bytes(i)));
    logLoad.push_back(logarithm(fullest[i]));
  }
}

SearchOrders::Choice SearchOrders::next(const std::vector<int32_t> &weight) {
  const int64_t orderCount = orders.size(), index = restart++;
  Choice choice;
  choice.rule = index % 2 ? Rule::FewestCandidates : Rule::BottomUp;
  choice.weighted = index / 2 % 8 == 7;
  if (index < 4 * orderCount) {
    choice.order = orders[index / 4];
    choice.firstBy = index % 4 < 2 ? First::Rank : First::LowestBottom;
    return choice;
  }
  if (index < 6 * orderCount) {
    choice.order = orders[(index - 4 * orderCount) / 2];
    choice.firstBy = First::LowestTop;
    return choice;
  }
  uint64_t draw = random();
  auto take = [&](uint64_t below) {
    uint64_t value = draw % below;
    draw /= below;
    return int64_t(value);
  };
  bool learned = take(4) == 0;
  int64_t byLength = take(4), bySize = take(4), byLoad = 8 * take(3), spread = 64 << take(4);
  choice.rule = take(2) ? Rule::FewestCandidates : Rule::BottomUp;
  choice.firstBy = std::array{First::Rank, First::LowestBottom, First::LowestTop}[take(3)];
  std::vector<int64_t> key(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const SearchItem &item = items[i];
    int32_t heaviest = *std::max_element(weight.begin() + item.first, weight.begin() + item.last);
    int64_t jitter = int64_t(random() % (2 * spread));
    key[i] = learned
                 ? -(heaviest * (512 + jitter))
                 : -(byLength * logLength[i] + bySize * logSize[i] + byLoad * logLoad[i] + jitter);
  }
  choice.order = sorted([&](int32_t i) { return key[i]; });
  return choice;
}

} // namespace zero::planning::arena
