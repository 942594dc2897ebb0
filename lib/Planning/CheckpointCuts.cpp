//===- CheckpointCuts.cpp - what follows for whole solutions only ----------===//
//
// The columns that the solution takes mostly are set aside, for growing shares of
// "mostly".
//
//===----------------------------------------------------------------------===//
#include "CheckpointCuts.h"

#include <algorithm>

#pragma STDC FP_CONTRACT OFF // the same bits with and without fused multiply-add

namespace zero::planning::checkpoint {
namespace {
constexpr double kWorthCutting = 1e-3;
constexpr size_t kMostDivisors = 24;
} // namespace

Row cutOf(const Row &row, const std::vector<double> &values) {
  double violation = kWorthCutting;
  Row cut;
  auto offer = [&](const Row &candidate) {
    double lacking = -candidate.surplus(values);
    if (lacking > violation) {
      violation = lacking;
      cut = candidate;
    }
  };
  for (double share : {2.0, 0.999, 0.8, 0.6, 0.4, 0.2}) {
    Row left = row;
    left.terms.clear();
    for (auto [column, bytes] : row.terms)
      if (values[column] < share)
        left.terms.push_back({column, bytes});
      else
        left.least -= bytes;
    if (left.least <= 0)
      break;
    if (share <= 1 && left.terms.size() == row.terms.size())
      continue;
    std::vector<int64_t> sizes;
    for (auto &term : left.terms)
      sizes.push_back(term.second = std::min(term.second, left.least));
    offer(left);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.size() < 2)
      continue;
    if (size_t step = sizes.size() / kMostDivisors; step > 1) { // evenly, a few
      for (size_t k = 0; k < kMostDivisors; ++k)
        sizes[k] = sizes[k * step];
      sizes.resize(kMostDivisors);
    }
    for (int64_t size : sizes) {
      Row divided = left;
      divided.least = (left.least + size - 1) / size;
      for (auto &term : divided.terms)
        term.second = std::min(divided.least, (term.second + size - 1) / size);
      offer(divided);
    }
  }
  return cut;
}

} // namespace zero::planning::checkpoint
