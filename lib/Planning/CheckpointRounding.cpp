//===- CheckpointRounding.cpp - whole solutions from fractions -------------===//
#include "CheckpointRounding.h"

#include <algorithm>

namespace zero::planning::checkpoint {
namespace {
constexpr int64_t kMostToRound = 20'000'000;
} // namespace

std::vector<bool> rounded(const Programme &programme, const std::vector<double> &values) {
  const std::vector<int64_t> &missing = programme.missing();
  std::vector<std::pair<double, int32_t>> order;
  int64_t lengths = 0;
  for (int32_t k = 0; k < programme.columns(); ++k)
    if (programme.isLastOfGap(k)) {
      order.push_back({-values[k], k});
      lengths += programme.gap(k).to - programme.gap(k).from;
    }
  if (lengths > kMostToRound)
    return {};
  std::sort(order.begin(), order.end());
  std::vector<int64_t> lacking = missing;
  std::vector<bool> taken(programme.columns(), false);
  for (auto [value, k] : order) {
    auto [from, to] = programme.reliefOf(k);
    bool needed = false;
    for (int32_t step = from + 1; step < to && !needed; ++step)
      needed = lacking[step] > 0;
    if (!needed)
      continue;
    taken[k] = true;
    for (int32_t step = from + 1; step < to; ++step)
      lacking[step] -= programme.bytes(k);
  }
  std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
    int64_t costA = programme.cost(a.second), costB = programme.cost(b.second);
    return costA != costB ? costA > costB : a < b;
  });
  for (auto [value, k] : order) {
    if (!taken[k])
      continue;
    auto [from, to] = programme.reliefOf(k);
    int64_t bytes = programme.bytes(k);
    bool idle = true;
    for (int32_t step = from + 1; step < to && idle; ++step)
      idle = missing[step] <= 0 || lacking[step] + bytes <= 0;
    if (!idle)
      continue;
    taken[k] = false;
    for (int32_t step = from + 1; step < to; ++step)
      lacking[step] += bytes;
  }
  if (*std::max_element(lacking.begin(), lacking.end()) > 0)
    return {};
  return taken;
}

} // namespace zero::planning::checkpoint
